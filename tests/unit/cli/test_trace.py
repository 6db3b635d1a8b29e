"""`kvplan trace` as people and programs meet it: fields, screens, files saved, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from generated_traces import generated_trace

from kvplan.__main__ import main
from kvplan.cli.progress import PATIENCE_S, Bar, bar

if TYPE_CHECKING:
    from collections.abc import Callable

REAL = Path(__file__).parents[4] / "shared" / "data" / "traces"
GPT_OSS = 73_728
"""Bytes a token of gpt-oss-120b in the tier."""


@pytest.fixture(autouse=True)
def trace_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a generated trace into an empty directory, and go there."""
    monkeypatch.chdir(tmp_path)
    path = Path("trace.jsonl")
    rows = generated_trace(600, seed=6)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    """Run the verb."""
    found = main(["trace", *arguments])
    out, err = capsys.readouterr()
    assert found == code, err
    return out, err


def report(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Run the verb and read its JSON."""
    return dict(json.loads(run(capsys, *arguments, "--format", "json")[0]))


def test_fields_that_the_issue_names(capsys: pytest.CaptureFixture[str]) -> None:
    found = report(capsys, "trace.jsonl", "--model", "gpt-oss-120b")
    rows = generated_trace(600, seed=6)
    assert found["requests"] == 600
    assert found["block_accesses"] == sum(len(row["hash_ids"]) for row in rows)
    assert found["unique_blocks"] == len({block for row in rows for block in row["hash_ids"]})
    assert found["working_set_tokens"] == 512 * found["unique_blocks"]
    assert found["working_set_bytes"] == GPT_OSS * found["working_set_tokens"]
    assert set(found["capacity_for_target"]) == {"target", "tokens", "bytes"}
    assert all(set(point) == {"tokens", "bytes", "hit_ratio", "token_hit_ratio"} for point in found["curve"])
    assert all(set(point) == {"tokens", "bytes", "hit_ratio", "token_hit_ratio"} for point in found["belady"])
    for direction in ("read", "write"):
        assert set(found["rates"][f"{direction}_bytes_per_s"]) == {"mean", "peak"}


def test_curve_ends_where_an_endless_cache_is(capsys: pytest.CaptureFixture[str]) -> None:
    found = report(capsys, "trace.jsonl")
    curve = found["curve"]
    assert curve[-1]["tokens"] == found["working_set_tokens"]
    assert curve[-1]["token_hit_ratio"] == found["infinite_token_hit_ratio"]
    assert all(one["token_hit_ratio"] <= other["token_hit_ratio"] for one, other in pairwise(curve))
    lru = {point["tokens"]: point["hit_ratio"] for point in curve}
    assert all(lru[point["tokens"]] <= point["hit_ratio"] + 1e-12 for point in found["belady"])


def test_target_is_just_met(capsys: pytest.CaptureFixture[str]) -> None:
    low, high = (report(capsys, "trace.jsonl", "--target", share)["capacity_for_target"] for share in ("0.5", "1"))
    assert low["target"] == 0.5
    assert low["tokens"] < high["tokens"]


def test_no_bytes_without_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    found = report(capsys, "trace.jsonl")
    assert found["kv"] is None
    assert found["working_set_bytes"] is found["capacity_for_target"]["bytes"] is None
    assert found["rates"]["write_bytes_per_s"] is None
    assert found["rates"]["write_tokens_per_s"]["mean"] > 0


def test_tokens_are_written_or_read(capsys: pytest.CaptureFixture[str]) -> None:
    found = report(capsys, "trace.jsonl")
    rates, span_s = found["rates"], found["trace"]["span_s"]
    both = rates["write_tokens_per_s"]["mean"] + rates["read_tokens_per_s"]["mean"]
    assert both == pytest.approx(found["input_tokens"]["total"] / span_s)


def test_fleet_scale(capsys: pytest.CaptureFixture[str]) -> None:
    one, many = (report(capsys, "trace.jsonl", "--fleet-scale", scale) for scale in ("1", "4"))
    mean, peak = (one["rates"]["write_tokens_per_s"][key] for key in ("mean", "peak"))
    assert many["rates"]["write_tokens_per_s"]["mean"] == pytest.approx(4 * mean)
    assert many["rates"]["write_tokens_per_s"]["peak"] == pytest.approx(4 * mean + 2 * (peak - mean))
    assert many["ttl"][0]["mean_tokens"] == pytest.approx(4 * one["ttl"][0]["mean_tokens"], abs=4)
    assert many["ttl"][0]["hit_ratio"] == one["ttl"][0]["hit_ratio"]
    assert many["curve"] == one["curve"]


def test_tiers_share_all_hits(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("trace.jsonl", "--model", "gpt-oss-120b", "--tier-tb", "0.05", "--tier-tb", "0.1", "--instances", "4")
    found = report(capsys, *given)
    tiers = found["tiers"]
    assert [tier["name"] for tier in tiers] == ["tier 1", "tier 2", "shared"]
    for routing in ("sticky", "random"):
        total = sum(tier[f"{routing}_token_hit_ratio"] for tier in tiers)
        assert total == pytest.approx(found["infinite_token_hit_ratio"])
    assert tiers[-1]["random_token_hit_ratio"] > tiers[-1]["sticky_token_hit_ratio"]


def test_one_engine_needs_no_routing(capsys: pytest.CaptureFixture[str]) -> None:
    for tier in report(capsys, "trace.jsonl", "--model", "gpt-oss-120b", "--tier-tb", "0.05")["tiers"]:
        assert tier["sticky_token_hit_ratio"] == tier["random_token_hit_ratio"]


def test_tiers_need_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    _, err = run(capsys, "trace.jsonl", "--tier-tb", "1", code=3)
    assert err == "error: --tier-tb: needs a model, which says what a token takes; give --model\n"


@pytest.mark.parametrize("form", ["table", "md", "csv"])
def test_screens(
    capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None], trace_file: Path, form: str
) -> None:
    with trace_file.open("a", encoding="utf-8") as file:
        file.write('{"timestamp": 5, "input_length": 0, "hash_ids": []}\n{"timestamp"\n')
    given = ("trace.jsonl", "--model", "gpt-oss-120b", "--tier-tb", "0.1", "--instances", "4")
    out, err = run(capsys, *given, "--format", form)
    assert err == ""
    golden(f"trace/trace.{'txt' if form == 'table' else form}", out)


def test_screen_of_a_table_of_lengths(capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None]) -> None:
    rows = (f"2023-11-16 18:{minute:02d}:00.0000000,{100 * minute + 50},{minute}" for minute in range(50))
    lines = ("TIMESTAMP,ContextTokens,GeneratedTokens", *rows)
    Path("azure.csv").write_text("\n".join(lines), encoding="utf-8")
    golden("trace/azure.txt", run(capsys, "azure.csv", "--model", "gpt-oss-120b")[0])
    found = report(capsys, "azure.csv")
    assert found["curve"] == found["belady"] == found["ttl"] == []
    assert found["infinite_token_hit_ratio"] is found["rates"] is found["warm"] is None
    assert "no block ids" in found["unknown"][0]


@pytest.mark.parametrize("columns", [40, 60])
def test_narrow_terminals(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    out, _ = run(capsys, "trace.jsonl", "--model", "gpt-oss-120b")
    assert max(map(len, out.splitlines())) <= columns
    assert "counted" in out
    assert "derived" in out


def test_saved_svg(capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None]) -> None:
    run(capsys, "trace.jsonl", "--model", "gpt-oss-120b", "--save", "curve.svg")
    text = Path("curve.svg").read_text(encoding="utf-8")
    root = ET.fromstring(text)  # noqa: S314 - our own
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(root.findall(".//{http://www.w3.org/2000/svg}path[@class]")) == 6, "three lines and their swatches"
    golden("trace/curve.svg", text)


def test_saved_csv(capsys: pytest.CaptureFixture[str]) -> None:
    found = report(capsys, "trace.jsonl", "--save", "curve.csv")
    with Path("curve.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lru = [row for row in rows if (row["policy"], row["window"]) == ("lru", "whole")]
    assert [float(row["token_hit_ratio"]) for row in lru] == [point["token_hit_ratio"] for point in found["curve"]]
    assert {row["policy"] for row in rows} == {"lru", "belady", "fifo", "purge-80", "purge-50", "second-touch"}


def test_saved_json_is_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    found = report(capsys, "trace.jsonl", "--save", "curve.json")
    assert json.loads(Path("curve.json").read_text(encoding="utf-8")) == found


def test_nothing_comes_back_yet_there_is_a_curve(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"timestamp": 0, "input_length": 5, "output_length": 1, "hash_ids": [1]}
    Path("one.jsonl").write_text(json.dumps(row), encoding="utf-8")
    found = report(capsys, "one.jsonl", "--save", "curve.svg")
    assert (found["infinite_token_hit_ratio"], found["capacity_for_target"]["tokens"]) == (0.0, 0)
    assert ET.parse("curve.svg").getroot() is not None  # noqa: S314 - our own


@pytest.fixture
def few(tmp_path: Path) -> str:
    """Return a directory whose table has traces sampled from 1,000 look-ups on."""
    directory = tmp_path / "tables"
    directory.mkdir()
    row = {"id": "trace.sampled_accesses", "value": 1000, "unit": "count", "source": "a test", "confidence": "assumed"}
    (directory / "constants.yaml").write_text(json.dumps([row]), encoding="utf-8")
    return str(directory)


def test_a_long_trace_is_sampled(capsys: pytest.CaptureFixture[str], few: str) -> None:
    given = ("trace.jsonl", "--model", "gpt-oss-120b", "--tier-tb", "0.05")
    whole, part = report(capsys, *given), report(capsys, *given, "--catalogue", few)
    assert whole["sample"] is None
    sample = part["sample"]
    assert (sample["every"], sample["samples"]) == (7, 4)
    assert part["block_accesses"] == whole["block_accesses"] == 6_680
    assert part["unique_blocks"] == pytest.approx(whole["unique_blocks"], abs=4 * sample["unique_blocks"])
    hits, error = (found["infinite_token_hit_ratio"] for found in (part, sample["whole"]))
    assert 0 < error < 0.01
    assert hits == pytest.approx(whole["infinite_token_hit_ratio"], abs=4 * error)
    warm, warm_error = (found["warm"]["infinite_token_hit_ratio"] for found in (part, sample))
    assert warm == pytest.approx(whole["warm"]["infinite_token_hit_ratio"], abs=4 * warm_error)
    capacity = sample["whole"]["capacity_tokens"]
    assert part["capacity_for_target"]["tokens"] == pytest.approx(
        whole["capacity_for_target"]["tokens"], abs=4 * capacity
    )
    assert part["working_set_bytes"] == GPT_OSS * part["working_set_tokens"]


def test_every_point_of_a_sampled_curve_has_its_error(capsys: pytest.CaptureFixture[str], few: str) -> None:
    found = report(capsys, "trace.jsonl", "--catalogue", few, "--save", "curve.csv")
    for curve, errors in (
        (found["curve"], found["sample"]["whole"]["curve"]),
        (found["warm"]["curve"], found["sample"]["warm"]["curve"]),
    ):
        assert [point["tokens"] for point in curve] == [error["tokens"] for error in errors]
        assert all(0 <= error["token_hit_ratio"] < 0.02 for error in errors)
        assert any(error["hit_ratio"] for error in errors)
    with Path("curve.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    saved = [float(row["token_hit_ratio_error"]) for row in rows if row["window"] == "warm"]
    assert saved == [error["token_hit_ratio"] for error in found["sample"]["warm"]["curve"]]
    run(capsys, "trace.jsonl", "--catalogue", few, "--save", "curve.svg")
    assert ET.parse("curve.svg").getroot() is not None  # noqa: S314 - our own


def test_what_a_sample_cannot_tell_is_left_out(
    capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None], few: str
) -> None:
    given = ("trace.jsonl", "--model", "gpt-oss-120b", "--tier-tb", "0.05", "--catalogue", few)
    found = report(capsys, *given)
    assert found["rates"] is None
    assert found["belady"] == found["what_ifs"] == found["ttl"] == found["tiers"] == []
    assert any("left out" in note and "bound, other policies, rates" in note for note in found["notes"])
    golden("trace/sampled.txt", run(capsys, *given)[0])


def test_ids_that_are_no_prefixes_are_counted_whole(capsys: pytest.CaptureFixture[str], few: str) -> None:
    rows = ({"timestamp": at, "input_length": 1536, "output_length": 1, "hash_ids": [at, 7, 8]} for at in range(500))
    Path("loose.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    found = report(capsys, "loose.jsonl", "--catalogue", few)
    assert found["sample"] is None
    assert found["block_accesses"] == 1_500
    assert found["what_ifs"]


REFUSED = {
    "no such file": (("none.jsonl",), "error: none.jsonl: does not exist"),
    "ending": (
        ("trace.jsonl", "--save", "curve.png"),
        "--save: 'curve.png' says no format by its ending; endings: .json",
    ),
    "itself": (("trace.jsonl", "--save", "./trace.csv"), "--save: 'trace.csv' is the trace itself; another file"),
    "model": (("trace.jsonl", "--model", "gpt-os-120b"), "did you mean"),
    "target": (("trace.jsonl", "--target", "1.5"), "--target: must be at most 1, not 1.5"),
    "tier": (("trace.jsonl", "--tier-tb", "much"), "--tier-tb: 'much' is not a number"),
    "format": (("trace.jsonl", "--format", "jsn"), "--format: unknown format 'jsn'"),
    "block size": (("trace.jsonl", "--block-tokens", "16"), "they fit blocks of 512: --block-tokens 512"),
    "directory": (("trace.jsonl", "--save", "none/curve.svg"), "there is no directory 'none'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(capsys: pytest.CaptureFixture[str], trace_file: Path, case: str) -> None:
    arguments, said = REFUSED[case]
    if case == "itself":
        Path("trace.csv").symlink_to(trace_file)
    out, err = run(capsys, *arguments, code=3)
    assert said in err
    assert out == ""


def test_everything_wrong_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    _, err = run(
        capsys, "trace.jsonl", "--target", "0", "--fleet-scale", "x", "--save", "a.b", "--tier-tb", "-1", code=3
    )
    named = {line.split(":")[1].strip() for line in err.splitlines()}
    assert named == {"--fleet-scale", "--save", "--tier-tb", "--target"}


def test_strict(capsys: pytest.CaptureFixture[str], trace_file: Path) -> None:
    with trace_file.open("a", encoding="utf-8") as file:
        file.write("{\n" * 14)
    assert report(capsys, "trace.jsonl")["trace"]["malformed"] == 14
    out, err = run(capsys, "trace.jsonl", "--strict", "--save", "curve.svg", code=3)
    assert out == ""
    lines = err.splitlines()
    assert lines[0] == "error: trace.jsonl:601:2: ends in the middle"
    assert len([line for line in lines if line.startswith("error")]) == 10
    assert lines[-1] == "hint: 4 further lines cannot be used; without --strict they are left out and counted"
    assert not Path("curve.svg").exists()


def test_stdin(capsys: pytest.CaptureFixture[str], trace_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = report(capsys, "trace.jsonl")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(trace_file.read_bytes())))
    piped = report(capsys, "-")
    assert piped["trace"].pop("name") == "stdin"
    del whole["trace"]["name"]
    assert piped == whole


def test_interrupt_leaves_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kvplan.render.trace_curve.standing_chart", interrupted)
    Path("curve.svg").write_text("before", encoding="utf-8")
    _, err = run(capsys, "trace.jsonl", "--save", "curve.svg", code=130)
    assert err == "interrupted\n"
    assert Path("curve.svg").read_text(encoding="utf-8") == "before"
    assert sorted(path.name for path in Path().iterdir()) == ["curve.svg", "trace.jsonl"]


def test_no_bar_without_a_terminal() -> None:
    with bar() as phases:
        assert phases is None


def test_a_bar_takes_patience_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", screen)
    now_s = [0.0]
    shown = Bar(lambda: now_s[0])
    shown.tell("reading", 1, 10)
    shown.close()
    assert screen.getvalue() == ""
    now_s[0] = PATIENCE_S
    shown.tell("reading", 5, 10)
    shown.tell("finding reuse", 1, 10)
    shown.close()
    assert "finding reuse" in screen.getvalue()


@pytest.mark.skipif(not REAL.is_dir(), reason="the real traces are not here")
@pytest.mark.parametrize(("name", "hit_ratio", "millions"), [("conversation", 0.374, 16.1), ("synthetic", 0.651, 10.4)])
def test_published_figures(capsys: pytest.CaptureFixture[str], name: str, hit_ratio: float, millions: float) -> None:
    found = report(capsys, str(REAL / f"mooncake_{name}_trace.jsonl.xz"))
    assert found["infinite_token_hit_ratio"] == pytest.approx(hit_ratio, abs=0.0005)
    assert found["capacity_for_target"]["tokens"] / 1e6 == pytest.approx(millions, abs=0.06)
