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
    ],
)
def test_what_cannot_be_simulated_is_said(refused: Callable[..., str], options: tuple[str, ...], said: str) -> None:
    assert said in refused(*options)
    assert not Path("ttft.png").exists()
