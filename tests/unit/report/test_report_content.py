"""What the report says: the verdict, the numbers with unit and certainty, prices that nobody gave, what was found."""

from __future__ import annotations

import re

import pytest
from designs import design_for, plan_of
from quotes import bill_of, book_of
from reports import Page, page_for, page_of, source_of
from support import plan_for

from kvplan.render.notices import all_found
from kvplan.render.report.blocks import Facts, Notices, Table, Tiles, Verdict
from kvplan.render.report.sections.building import racks
from kvplan.render.report.sections.capacity import capacity
from kvplan.render.report.sections.caveats import caveats
from kvplan.render.report.sections.decision import decision
from kvplan.render.report.sections.purchase import purchase
from kvplan.render.report.sections.request import request
from kvplan.render.report.sections.speed import speed
from kvplan.render.report.source import Source, priced_words, sentence
from kvplan.render.report.typeset import typeset
from kvplan.schema.plan import PlanWarning

UNITS = re.compile(
    r"[\d.]+ ?(%|[kMGTP]?B(/s)?|[KMGT]iB|ms|s|min|h|d|W|kW|MW|kg|x|U|a second|a day|tokens?|contexts?|engines?|GPUs?|"
    r"racks?|drives?|nodes?|EUR)(?![a-z])"
)
KNOWN = re.compile(r"(measured|vendor|derived|assumed)(, \d+ assumed inputs?)?")
PLAIN = {
    "Contexts held",
    "Model",
    "vLLM",
    "Cache back end",
    "KV data type",
    "Software set",
    "Forced",
}
"""Facts whose value is a name or a version, or whose label names the unit."""


def _verdict(source: Source) -> Verdict:
    """Give the verdict."""
    return next(block for block in decision(source).blocks if isinstance(block, Verdict))


def _words(source: Source) -> str:
    """Give everything that the section on speed says."""
    return " ".join(line for block in speed(source).blocks for line in getattr(block, "lines", ()))


def test_the_verdict_names_what_to_buy_and_why_it_pays_off() -> None:
    verdict = _verdict(source_of())
    assert (verdict.tone, verdict.word) == ("good", "Fits, and pays off")
    assert verdict.headline == "Buy standard-8: 8 storage nodes with 8+2P, 744 TB usable, 315 GB/s of reads"
    assert any("3,700 tokens" in line for line in verdict.lines)


def test_the_verdict_doubts_where_the_plan_does() -> None:
    source = source_of()
    doubtful = plan_for(context_tokens=2_000, gpus=16)
    verdict = _verdict(Source(doubtful, source.design, source.bom))
    assert (verdict.tone, verdict.word) == ("doubtful", "May not pay off")
    assert any("3,700 tokens" in line for line in verdict.lines)


def test_an_error_comes_before_everything_else() -> None:
    source = source_of()
    error = PlanWarning(id="made-up", severity="error", text="an engine holds no context", source="test")
    broken = source.plan.model_copy(update={"warnings": (*source.plan.warnings, error)})
    verdict = _verdict(Source(broken, source.design, source.bom, source.measurements))
    assert (verdict.tone, verdict.word, verdict.lines[0]) == ("bad", "Not ready", "an engine holds no context")


def test_a_forced_tier_is_not_praised() -> None:
    source = source_of()
    forced = plan_for(profile="compact-4", gpus=512)
    verdict = _verdict(Source(forced, source.design, source.bom))
    assert (verdict.tone, verdict.word) == ("bad", "Forced past its limits")


@pytest.mark.parametrize("section", [decision, request, capacity, racks])
@pytest.mark.parametrize("nodes", [8, 16])
def test_facts_have_units_and_say_how_they_are_known(section: object, nodes: int) -> None:
    blocks = section(source_of(nodes)).blocks  # type: ignore[operator]
    facts = [fact for block in blocks if isinstance(block, Tiles | Facts) for fact in block.facts]
    assert facts
    for fact in facts:
        assert fact.label in PLAIN or not re.search(r"\d", fact.value) or UNITS.search(fact.value), fact
        assert not fact.known or KNOWN.fullmatch(fact.known), fact


def test_assumptions_are_counted_behind_the_numbers_that_rest_on_them() -> None:
    tiles = next(block for block in decision(source_of()).blocks if isinstance(block, Tiles))
    known = {fact.label: fact.known for fact in tiles.facts}
    assert known["Whole-context hits"] == "derived, 1 assumed input"
    assert known["Usable capacity"] == "derived"


def test_published_points_are_shown_for_their_model_and_gpu_alone() -> None:
    measured, other = source_of(), plan_for(model="llama-3.3-70b-instruct", gpu="h100")
    assert "32.14 s without a cache and 0.57 s with one, 56 times sooner" in _words(measured)
    unmeasured = Source(other, measured.design, measured.bom)
    assert "not predicted in this plan, and nothing was published for this model" in _words(unmeasured)
    assert "32.14" not in repr(speed(unmeasured))


def test_the_storm_is_the_larger_of_link_and_tier() -> None:
    plan = plan_for()
    whole = 128 * plan.kv.context_loaded_bytes / plan.buys.planned_read_bytes_per_s
    assert f"128 engines served in {whole:.3g} s" in page_for(plan)


def test_states_with_something_lost_come_from_the_design() -> None:
    text = Page(page_of()).elements[0].text
    told = [state.text for state in design_for(8).states if state.text]
    assert told
    assert all(typeset(sentence(words)) in text for words in told)


def test_a_missing_price_is_never_a_zero() -> None:
    source = source_of()
    assert priced_words(source.bom)[0] == "not priced"
    groups = next(block for block in purchase(source).blocks if isinstance(block, Table))
    assert groups.grid.rows[-1][-1] == "not priced"
    assert all(row[-1] == "not priced" for row in groups.grid.rows)
    assert "never counted as zero" in page_of()


def test_a_total_with_gaps_says_so_and_a_whole_one_does_not() -> None:
    partly, fully = bill_of(8, book_of(8, every=3)), bill_of(8, book_of(8))
    assert priced_words(partly)[1].startswith(f"incomplete: {partly.missing} of ")
    assert "incomplete" in _total_row(partly)
    assert priced_words(fully) == (
        f"{fully.total:,.2f} EUR",
        f"all {sum(g.lines for g in fully.groups)} lines priced, net",
    )
    assert _total_row(fully) == f"{fully.total:,.2f} EUR"


def _total_row(bom: object) -> str:
    """Give the last cell of the table of groups."""
    source = Source(plan_of(8), design_for(8), bom)  # type: ignore[arg-type]
    return next(block for block in purchase(source).blocks if isinstance(block, Table)).grid.rows[-1][-1]


def test_every_warning_finding_and_open_point_stands_on_the_page() -> None:
    source = source_of()
    shown = [notice.id for block in caveats(source).blocks if isinstance(block, Notices) for notice in block.notices]
    found = [entry.id for entry in all_found(source.plan, source.design, source.bom)]
    assert sorted(shown) == sorted([*found, *(point.id for point in source.plan.open_points)])


def test_racks_that_are_alike_share_a_row() -> None:
    source = source_of(64)
    table = next(block for block in racks(source).blocks if isinstance(block, Table))
    assert sum(int(row[1].replace(",", "")) for row in table.grid.rows) == len(source.design.racks)
    assert len(table.grid.rows) < len(source.design.racks) / 2


def test_every_explained_number_of_the_plan_has_its_formula_on_the_page() -> None:
    page = page_of()
    for path in ("profile.usable_bytes", "buys.load_s", "demand.write_bytes_per_s", "network.read_bytes_per_s"):
        assert f'<th scope="row">{path}</th>' in page
    assert all(f'<th scope="row">{name}</th>' in page for name in plan_of(8).constants)
