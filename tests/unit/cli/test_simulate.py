"""`kvplan simulate` as people and programs use it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from generated_traces import generated_trace

from kvplan.__main__ import main
from kvplan.core.seal import sealed
from kvplan.reference import PLAN
from kvplan.render.data import record_json

if TYPE_CHECKING:
    from collections.abc import Callable

RATE = ("--rate", "2", "--prompt-tokens", "57k", "--hit-share", "0.95", "--duration", "120")
USAGE, INVALID = 2, 3


@pytest.fixture(autouse=True)
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay the reference Plan and a trace into an empty directory, and go there."""
    monkeypatch.chdir(tmp_path)
    Path("plan.json").write_text(record_json(sealed(PLAN)), encoding="utf-8")
    rows = (f"{json.dumps(row)}\n" for row in generated_trace(300, seed=6))
    Path("trace.jsonl").write_text("".join(rows), encoding="utf-8")
    Path("arrivals.csv").write_text(
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:00:00.0000000,5000,10\n2023-11-16 18:00:02.0,900,10\n",
        encoding="utf-8",
    )


@pytest.fixture
def simulate(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Give `simulate(*options)`, which returns what the JSON says."""

    def run(*options: str) -> Any:
        assert main(["simulate", "plan.json", *options, "--format", "json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Give `refused(*options)`, which returns what is said against them."""

    def run(*options: str) -> str:
        assert main(["simulate", "plan.json", *options]) == INVALID
        out, err = capsys.readouterr()
        assert not out
        return err

    return run


def test_tier_makes_long_prompts_faster(simulate: Callable[..., Any]) -> None:
    report = simulate(*RATE)
    assert report["with_tier"]["ttft"]["p50_s"] < report["without_tier"]["ttft"]["p50_s"] / 5
    assert report["with_tier"]["cached_share"] == pytest.approx(0.95, abs=0.001)
    assert sum(part["requests"] for part in report["timeline"]) == report["requests"]
    read = sum(part["read_bytes_per_s"] * (part["end_s"] - part["start_s"]) for part in report["timeline"])
    assert read == pytest.approx(report["fetches"]["bytes"], rel=0.02)


def test_short_prompts_are_faster_without_the_tier(simulate: Callable[..., Any]) -> None:
    report = simulate("--rate", "2", "--prompt-tokens", "1k", "--duration", "60")
    assert report["mean_speedup"] < 1
    assert any("recomputing is faster" in note for note in report["notes"])


def test_seed_decides(simulate: Callable[..., Any]) -> None:
    assert simulate(*RATE) == simulate(*RATE, "--seed", "0")
    assert simulate(*RATE)["with_tier"] != simulate(*RATE, "--seed", "1")["with_tier"]


def test_cold_start_fills_up(simulate: Callable[..., Any]) -> None:
    warm, cold = (simulate(*RATE, "--start", start, "--reuse-gap", "60") for start in ("warm", "cold"))
    assert cold["with_tier"]["cached_share"] < 0.8 * warm["with_tier"]["cached_share"]
    early, late = (
        sum(part["read_bytes_per_s"] for part in cold["timeline"][half]) for half in (slice(15), slice(45, 60))
    )
    assert early < 0.6 * late


def test_lost_leaf_of_a_single_port_tier_is_computed_instead(simulate: Callable[..., Any]) -> None:
    report = simulate(*RATE, "--fail", "leaf@60")
    before, after = report["timeline"][:29], report["timeline"][31:]
    assert report["fetches"]["lost"] > 0
    assert max(part["read_bytes_per_s"] for part in after) == 0
    assert max(part["with_p50_s"] or 0 for part in before) < min(part["with_p50_s"] or 99 for part in after)
    repaired = simulate(*RATE, "--fail", "leaf@60", "--fail", "nothing@61")
    assert 0 < repaired["fetches"]["lost"] < report["fetches"]["lost"]


def test_lost_node_leaves_less_to_share(simulate: Callable[..., Any]) -> None:
    busy = "--rate", "60", "--engines", "256", "--prompt-tokens", "57k", "--hit-share", "0.95", "--duration", "60"
    whole, less = simulate(*busy), simulate(*busy, "--fail", "node@0")
    assert less["fetches"]["mean_s"] > 5 * whole["fetches"]["mean_s"]


def test_burst_takes_as_long_as_a_storm(simulate: Callable[..., Any]) -> None:
    options = "--rate", "0.01", "--duration", "100", "--engines", "256", "--burst", "256@50", "--hit-share", "1"
    report = simulate(*options)
    bytes_each = 130_000 * report["fleet"]["loaded_bytes_per_token"]
    assert report["fetches"]["p99_s"] == pytest.approx(
        256 * bytes_each / report["fleet"]["shared_bytes_per_s"], rel=0.03
    )


def test_trace_is_replayed(simulate: Callable[..., Any]) -> None:
    report = simulate("--trace", "trace.jsonl", "--engines", "4", "--local-tokens", "50k", "--routing", "round-robin")
    assert report["requests"] == 300
    assert report["with_tier"]["cached_share"] > report["without_tier"]["cached_share"] > 0
    sticky = simulate("--trace", "trace.jsonl", "--engines", "4", "--local-tokens", "50k")
    assert sticky["fetches"]["bytes"] < report["fetches"]["bytes"]
    warm = simulate("--trace", "trace.jsonl", "--start", "warm")
    assert warm["with_tier"]["cached_share"] == pytest.approx(1, abs=0.01)
    assert simulate("--trace", "trace.jsonl", "--speed", "10")["duration_s"] < report["duration_s"] / 9


def test_trace_without_blocks_takes_shares(simulate: Callable[..., Any]) -> None:
    report = simulate("--trace", "arrivals.csv", "--hit-share", "0.5")
    assert report["with_tier"]["cached_share"] == pytest.approx(0.5, abs=0.01)
    assert report["notes"]


def test_workload_says_what_no_flag_says(simulate: Callable[..., Any]) -> None:
    report = simulate("--workload", "agent", "--duration", "5")
    asked = report["request"]
    assert (report["workload"], report["source"]) == ("agent", "requests at random")
    assert (asked["prompt_tokens"], asked["prompt_sigma"], asked["routing"]) == (66_000, 0.0, "sticky")
    assert asked["hit_share"] == pytest.approx(64 / 66)
    assert asked["tier_share"] == pytest.approx(0.1)
    assert asked["reuse_gap_s"] > 2
    assert report["requests"] == pytest.approx(5 * asked["requests_per_s"], rel=0.2)
    assert report["with_tier"]["engine_busy_share"] < 0.9


def test_flags_and_numbers_replace_those_of_a_workload(simulate: Callable[..., Any]) -> None:
    flags = ("--rate", "3", "--prompt-tokens", "20k", "--tier-share", "1", "--routing", "random", "--spread", "0.1")
    asked = simulate("--workload", "agent", "--duration", "20", *flags)["request"]
    assert (asked["requests_per_s"], asked["prompt_tokens"], asked["prompt_sigma"]) == (3, 20_000, 0.1)
    assert (asked["tier_share"], asked["routing"]) == (1, "random")
    assert asked["hit_share"] == pytest.approx(64 / 66)
    changed = simulate("--workload", "agent", "--with", "hit_share=0.5", "--with", "requests_per_s=2")["request"]
    assert (changed["requests_per_s"], changed["hit_share"]) == (2, 0.5)
    alone = simulate("--with", "requests_per_s=2", "--with", "prompt_tokens=9000", "--with", "hit_share=0.5")
    assert (alone["workload"], alone["request"]["prompt_tokens"]) == ("as given", 9_000)


def test_workload_may_be_a_file(simulate: Callable[..., Any]) -> None:
    text = (
        "requests_per_s: 4\nprompt_tokens: {p50: 8000, p99: 32000}\nhit_share: 0.6\ng4_share: 0.25\nrouting: random\n"
    )
    Path("mine.yaml").write_text(text, encoding="utf-8")
    report = simulate("--workload", "./mine.yaml", "--duration", "200")
    share = report["fetches"]["count"] / report["requests"]
    assert share == pytest.approx(0.25, abs=0.05), "what is left with its routing is not divided by it again"
    assert report["mean_prompt_tokens"] == pytest.approx(report["request"]["prompt_tokens"], rel=0.1)


def test_plan_sized_for_a_workload_is_simulated_with_it(
    simulate: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    tables = ("--model", "gpt-oss-120b", "--context", "64k", "--gpus", "16", "--gpu", "h200")
    assert main(["size", *tables, "--workload", "agent", "-o", "plan.json", "--format", "json"]) == 0
    capsys.readouterr()
    load = json.loads(Path("plan.json").read_text(encoding="utf-8"))["workload"]["load"]
    report = simulate("--duration", "5")
    assert report["workload"] == "agent"
    assert report["request"]["requests_per_s"] == pytest.approx(load["requests_per_s"])
    assert report["request"]["hit_share"] == pytest.approx(load["hit_share"])
    assert report["request"]["tier_share"] == pytest.approx(load["g4_share"])
    assert simulate("--duration", "5", "--rate", "2")["request"]["requests_per_s"] == 2
    changed = simulate("--duration", "5", "--with", "local_hit_share=0.5")
    assert (changed["workload"], changed["request"]["tier_share"]) == ("agent, changed", 0.5)
    other = simulate("--duration", "5", "--workload", "chat")
    assert (other["workload"], other["request"]["hit_share"]) == ("chat", 0.5)


def test_trace_says_more_than_a_workload(simulate: Callable[..., Any]) -> None:
    lengths = simulate("--trace", "arrivals.csv", "--workload", "rag")
    assert lengths["requests"] == 2
    assert lengths["with_tier"]["cached_share"] == pytest.approx(0.8, abs=0.01)
    blocks = simulate("--trace", "trace.jsonl", "--workload", "batch")
    assert (blocks["requests"], blocks["request"]["routing"], blocks["request"]["hit_share"]) == (300, "random", None)


def test_table_says_what_the_workload_became(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "plan.json", "--workload", "agent", "--rate", "9", "--duration", "5"]) == 0
    out = capsys.readouterr().out
    assert "workload agent: 9 requests/s, 97.0 % of a prompt cached, 10.0 % of that in the" in out


def test_prompts_on_one_node_each_are_slower(simulate: Callable[..., Any]) -> None:
    busy = "--rate", "55", "--engines", "256", "--prompt-tokens", "57k", "--hit-share", "0.95", "--duration", "20"
    striped, single = simulate(*busy), simulate(*busy, "--placement", "node")
    assert single["fetches"]["mean_s"] > 1.3 * striped["fetches"]["mean_s"]


def test_own_prefill_and_rate(simulate: Callable[..., Any]) -> None:
    slow = simulate(*RATE, "--prefill", "0,1000,0", "--derate", "1", "--stream-gb-per-s", "5")
    assert slow["fleet"]["cold_tokens_per_s"] == pytest.approx(1000)
    assert slow["fleet"]["stream_bytes_per_s"] == 5e9


def test_drawing_shows_what_happened(golden: Callable[[str, str], None]) -> None:
    options = *RATE, "--fail", "node@60", "--burst", "64@90", "-o", "ttft.svg"
    assert main(["simulate", "plan.json", *options]) == 0
    drawn = Path("ttft.svg").read_text(encoding="utf-8")
    assert ET.fromstring(drawn).tag.endswith("svg")  # noqa: S314 - our own
    golden("simulate/ttft.svg", drawn)


def test_json_is_saved_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "plan.json", *RATE, "-o", "all.json", "--format", "json"]) == 0
    assert json.loads(Path("all.json").read_text(encoding="utf-8")) == json.loads(capsys.readouterr().out)


def test_table_fits_the_screen(golden: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "plan.json", *RATE, "--fail", "leaf@60", "--burst", "64@90"]) == 0
    golden("simulate/table.txt", capsys.readouterr().out)


def test_all_that_is_wrong_is_said_at_once(golden: Callable[[str, str], None], refused: Callable[..., str]) -> None:
    wrong = (
        *("--rate", "many", "--hit-share", "2", "--fail", "rack@5", "--fail", "node", "--burst", "x@1"),
        *("--prefill", "1,2", "--routing", "stiky", "-o", "plan.json"),
    )
    golden("simulate/wrong.txt", refused(*wrong))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--rate: neither a trace nor a rate says how many requests come"),
        (("--rate", "1", "--speed", "2"), "--speed: is for a trace only"),
        (("--rate", "1", "--block-tokens", "16"), "--block-tokens: is for a trace only"),
        (("--trace", "trace.jsonl", "--rate", "1"), "--rate: contradicts the trace"),
        (("--trace", "trace.jsonl", "--hit-share", "0.5"), "--hit-share: contradicts the trace"),
        (("--rate", "0.001", "--duration", "1"), "--duration: no request comes within 1 s"),
        (("--rate", "100000", "--duration", "1000000"), "--rate: 100,000,000,000 requests come"),
        (("--rate", "1", "--fail", "node@5", "--fail", "leaf@5"), "two failures at the same moment"),
        (("--rate", "1", "-o", "ttft.png"), "says no format by its ending"),
        (("--trace", "none.jsonl"), "none.jsonl"),
        (("--workload", "agnt"), "did you mean 'agent'"),
        (("--workload", "none.yaml", "--rate", "x"), "none.yaml"),
        (("--workload", "none.yaml", "--rate", "x"), "--rate"),
        (("--with", "hit_share=2", "--workload", "chat"), "--with hit_share"),
        (("--with", "much"), "'much' is no number of a workload"),
        (("--with", "hit_share=0.5"), "--with prompt_tokens: is missing"),
        (("--workload", "chat", "--with", "requests_per_s=1e9"), "workload chat: requests_per_s"),
    ],
)
def test_what_cannot_be_simulated_is_said(refused: Callable[..., str], options: tuple[str, ...], said: str) -> None:
    assert said in refused(*options)
    assert not Path("ttft.png").exists()
