"""Every published claim of the reference system, computed anew: values, verdicts, and what turns them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kvplan import load_catalogue
from kvplan.catalogue.tables import CLAIMS, FIGURES
from kvplan.claims import claims_report, facts_of
from kvplan.core.prediction.claims.facts import prefill_through
from kvplan.core.prediction.claims.finding import text
from kvplan.core.prediction.claims.settle import CHECKS, settled
from kvplan.core.prediction.prefill import cold_seconds
from kvplan.errors import InputError
from kvplan.render.claims_view import claims_rows, claims_view
from kvplan.render.text import view_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CATALOGUE = load_catalogue()
ROWS = {row.id: row for row in CATALOGUE.records(CLAIMS)}
FACTS = facts_of(CATALOGUE)
REPORT = claims_report(CATALOGUE)
FOUND = {claim.id: claim for claim in REPORT.claims}

EXPECTED: Mapping[str, tuple[str, float, float]] = {
    "cold-growth": ("agrees", 56.2, 0.05),
    "cold-130k": ("depends", 1.15 * 13.91, 0.02),
    "cached-10k": ("agrees", 0.162, 0.0005),
    "cached-130k": ("agrees", 0.606, 0.0005),
    "gain-56x": ("agrees", 56.4, 0.05),
    "press-78x": ("contradicts", 56.4, 0.05),
    "rates": ("agrees", 4.261, 0.0005),
    "gain-22x": ("depends", 22.3, 0.05),
    "time-95": ("agrees", 0.955, 0.0005),
    "empty-cache": ("contradicts", 1.9, 0.05),
    "volume-825gb": ("depends", 884.7e9, 0.05e9),
    "tokens-24m": ("depends", 12.0e6, 0.05e6),
    "prompts-240k": ("contradicts", 131_072, 0),
    "one-gpu": ("contradicts", 5.3, 0.05),
    "pool-tokens": ("depends", 285_440, 0),
    "request-80gb": ("contradicts", 9.58e9, 0.005e9),
    "client-network": ("contradicts", 37.7e9, 0.05e9),
    "concurrency-28": ("agrees", 6.57, 0.005),
    "noise-time": ("agrees", 0.184, 0.0005),
    "noise-rate": ("agrees", 0.155, 0.0005),
}
"""Verdict, value and its tolerance, worked out by hand from the published figures."""


def _with(**changes: float) -> dict[str, str]:
    """Settle all claims with other figures and return the verdicts."""
    figures = {**FACTS.figures, **{name.replace("__", "."): value for name, value in changes.items()}}
    return {claim.id: claim.verdict for claim in settled(ROWS.values(), replace(FACTS, figures=figures))}


def test_there_is_a_claim_for_each_check_and_a_check_for_each_claim() -> None:
    assert list(ROWS) == list(CHECKS)
    assert list(FOUND) == list(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_each_claim_comes_out_as_worked_out_by_hand(name: str) -> None:
    verdict, value, tolerance = EXPECTED[name]
    claim = FOUND[name]
    assert claim.verdict == verdict
    assert claim.computed_value == pytest.approx(value, abs=tolerance or 1e-9)
    assert claim.published
    assert claim.computed
    assert claim.why
    assert claim.source


def test_cached_times_are_predicted_out_of_sample_within_a_fifth() -> None:
    """llm-d's constants on the Redbook's points, the two values of facts that nobody fitted together."""
    for name, measured_s in (("cached-10k", 0.193), ("cached-130k", 0.57)):
        assert abs(FOUND[name].computed_value / measured_s - 1) < 0.20


def test_the_fit_passes_through_both_points() -> None:
    model = prefill_through((10_000, 0.572), (130_000, 32.14), "x")
    assert cold_seconds(model, 10_000) == pytest.approx(0.572)
    assert cold_seconds(model, 130_000) == pytest.approx(32.14)
    assert cold_seconds(model, 120_000) == pytest.approx(27.77, abs=0.005)


def test_what_follows_is_said_in_words() -> None:
    assert FOUND["volume-825gb"].computed == "884.7 GB = 824 GiB"
    assert FOUND["pool-tokens"].computed == "285,440 tokens on one GPU, 1,141,776 at TP 4"
    assert "1.91x if 50 % do" in FOUND["gain-22x"].computed
    assert "2,777 GPU-seconds" in FOUND["empty-cache"].why
    assert "5,553 GPU-seconds" in FOUND["one-gpu"].why
    assert "2.65 GPUs even if every repeat hit" in FOUND["one-gpu"].why
    assert "0.377 s is how much longer" in FOUND["press-78x"].why
    assert FOUND["concurrency-28"].computed == "147 s cold, 6.57 s cached"
    assert "10.8x at 95 %, 7.13x at 90 %, 4.24x at 80 %" in FOUND["gain-22x"].why


def test_a_check_takes_only_the_figures_that_its_row_names() -> None:
    class Watched(dict[str, float]):
        def __getitem__(self, name: str) -> float:
            taken.add(name)
            return super().__getitem__(name)

    found: dict[str, set[str]] = {}
    for name, check in CHECKS.items():
        taken = found[name] = set()
        check(replace(FACTS, figures=Watched(FACTS.figures)))
    assert found == {name: set(row.figures) for name, row in ROWS.items()}


def test_every_figure_is_used() -> None:
    used = {name for row in ROWS.values() for name in row.figures}
    assert {row.id for row in CATALOGUE.records(FIGURES)} == used


@pytest.mark.parametrize(
    ("changes", "name", "verdict"),
    [
        ({"ttft__gain": 78.0}, "gain-56x", "contradicts"),
        ({"press__cold_s": 32.14, "press__cached_s": 0.57}, "press-78x", "agrees"),
        ({"run__gain": 30.0}, "gain-22x", "contradicts"),
        ({"run__gain": 1.9}, "empty-cache", "agrees"),
        ({"run__gpus": 8.0}, "one-gpu", "agrees"),
        ({"run__gpus": 2.0}, "one-gpu", "contradicts"),
        ({"run__volume_bytes": 884.7e9}, "volume-825gb", "agrees"),
        ({"run__volume_bytes": 412e9}, "volume-825gb", "contradicts"),
        ({"run__tokens": 12e6}, "tokens-24m", "agrees"),
        ({"run__tokens": 48e6}, "tokens-24m", "contradicts"),
        ({"run__tokens": 12e6}, "prompts-240k", "agrees"),
        ({"pool__tokens": 285_000.0}, "pool-tokens", "agrees"),
        ({"pool__tokens": 570_000.0}, "pool-tokens", "contradicts"),
        ({"request__low_bytes": 5e9, "request__high_bytes": 10e9}, "request-80gb", "agrees"),
        ({"client__bytes_per_s": 30e9}, "client-network", "agrees"),
        ({"run__concurrency": 2.0}, "concurrency-28", "contradicts"),
        ({"run__cold_per_s": 0.25}, "rates", "contradicts"),
        ({"run__time_saved": 0.5}, "time-95", "contradicts"),
        ({"noise__slower": 0.155}, "noise-time", "contradicts"),
        ({"noise__per_s": 3.0}, "noise-rate", "contradicts"),
        ({"llmd__stream_bytes_per_s": 20e9}, "cached-130k", "contradicts"),
        ({"llmd__first_s": 0.3}, "cached-10k", "contradicts"),
        ({"tolerance__predicted": 0.6}, "cold-130k", "agrees"),
    ],
)
def test_other_figures_turn_the_verdict(changes: dict[str, float], name: str, verdict: str) -> None:
    assert FOUND[name].verdict != verdict or FOUND[name].verdict == "contradicts"
    assert _with(**changes)[name] == verdict


def test_a_prefill_that_grows_like_no_attention_is_contradicted() -> None:
    flat = replace(FACTS, ttft=replace(FACTS.ttft, cold_long_s=5.0))
    assert settled([ROWS["cold-growth"]], flat)[0].verdict == "contradicts"


@pytest.mark.parametrize(
    ("value", "unit", "written"),
    [(0.57, "s", "0.57 s"), (1048, "s", "1,048 s"), (1, "GPUs", "1 GPU"), (2.65, "GPUs", "2.65 GPUs"), (5, "m", "5 m")],
)
def test_numbers_are_written_with_their_unit(value: float, unit: str, written: str) -> None:
    assert text(value, unit) == written


def test_the_view_counts_the_verdicts_and_names_every_source_once() -> None:
    shown = view_text(claims_view(REPORT), width=120)
    assert "9 agree, 6 contradict, 5 depend" in shown
    assert shown.count("press release of the joint announcement, 5 November 2026: press-78x") == 1
    headers, rows = claims_rows(REPORT)
    assert (len(headers), len(rows)) == (8, 20)


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    directory = tmp_path / "tables"
    directory.mkdir()
    return directory


def test_a_users_figure_replaces_the_published_one(tables: Path) -> None:
    row = "- {id: run.gpus, value: 8, unit: GPUs, source: a correction, confidence: vendor}\n"
    (tables / "figures.yaml").write_text(row, encoding="utf-8")
    found = {claim.id: claim for claim in claims_report(load_catalogue([tables])).claims}
    assert (found["one-gpu"].published, found["one-gpu"].verdict) == ("8 GPUs", "agrees")


def test_a_prefill_row_that_is_not_used_leaves_physics(tables: Path) -> None:
    (tables / "prefill.yaml").write_text(
        "- {id: gpt-oss-120b-rtx-pro-6000-tp1-mxfp4, model: openai/gpt-oss-120b, gpu: rtx-pro-6000, tp: 1, "
        "weights: mxfp4, usable: false, reason: doubted, source: me, confidence: vendor}\n",
        encoding="utf-8",
    )
    found = {claim.id: claim for claim in claims_report(load_catalogue([tables])).claims}
    assert "physics" in found["cold-130k"].why
    assert 5 < found["cold-130k"].computed_value < 32.14


def test_rows_that_cannot_be_computed_with_are_all_named(tables: Path) -> None:
    (tables / "claims.yaml").write_text(
        "- {id: gain-57x, title: more, figures: [ttft.gains], source: me, confidence: assumed}\n", encoding="utf-8"
    )
    (tables / "figures.yaml").write_text(
        "- {id: run.cold_s, value: 0, unit: s, source: me, confidence: assumed}\n", encoding="utf-8"
    )
    (tables / "measurements.yaml").write_text(
        "- {id: redbook-cold-10k, model: openai/gpt-oss-120b, gpu: h200, prompt: cold, context_tokens: 10000, "
        "ttft_s: 1, setup: mine, source: me, confidence: assumed}\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError) as caught:
        claims_report(load_catalogue([tables]))
    said = "\n".join(str(problem) for problem in caught.value.problems)
    assert "'gain-57x' has no check" in said
    assert "'ttft.gains' is no published figure" in said
    assert "0 is no published figure" in said
    assert "does not fit the other three" in said
    assert len(caught.value.problems) == 4
