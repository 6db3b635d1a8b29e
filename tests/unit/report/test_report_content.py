"""What the report says: the verdict, the numbers with unit and certainty, prices that nobody gave, what was found."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from designs import design_for, plan_of
from quotes import bill_of, book_of
from reports import Page, page_for, page_of, source_of
from support import plan_for

from kvplan.catalogue.loader import load_catalogue
from kvplan.core.certainty import Certainty
from kvplan.render.notices import all_found
from kvplan.render.report.blocks import Facts, Figure, Fold, Notices, Table, Tiles, Verdict
from kvplan.render.report.sections.building import racks
from kvplan.render.report.sections.candidates import candidates
from kvplan.render.report.sections.capacity import capacity
from kvplan.render.report.sections.caveats import caveats
from kvplan.render.report.sections.decision import decision
from kvplan.render.report.sections.purchase import purchase
from kvplan.render.report.sections.request import request
from kvplan.render.report.sections.speed import speed
from kvplan.render.report.source import Source, priced_words
from kvplan.render.report.typeset import typeset
from kvplan.render.report.words import known_words, sentence
from kvplan.schema.bom import UsedBook
from kvplan.schema.plan import PlanWarning
from kvplan.workloads import load_workload

if TYPE_CHECKING:
    from kvplan.schema.bom import Bom

UNITS = re.compile(
    r"[\d.]+ ?(%|[kMGTP]?B(/s)?|[KMGT]iB|ms|s|min|h|d|W|kW|MW|kg|x|U|a second|a day|tokens?|contexts?|engines?|GPUs?|"
    r"racks?|drives?|nodes?|EUR)(?![a-z])"
)
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
    assert any("2,032 tokens" in line for line in verdict.lines)


def test_the_verdict_rests_on_the_plan_and_not_on_what_was_published() -> None:
    source = source_of()
    assert _verdict(replace(source, measurements=())) == _verdict(source)
    plan = plan_for(model="llama-3.3-70b-instruct", gpu="h100", gpus=16)
    unknown = plan.performance.model_copy(update={"prefill": None, "break_even_tokens": None})
    other = Source(plan.model_copy(update={"performance": unknown}), source.design, source.bom)
    row = source.measurements[0].model_copy(update={"model": other.plan.model.id, "gpu": "h100"})
    for verdict in (_verdict(other), _verdict(replace(other, measurements=(row,)))):
        assert verdict.word == "Fits the request"
        assert any("Whether it pays off is not predicted: nothing is known" in line for line in verdict.lines)


def test_the_break_even_says_how_well_it_is_known() -> None:
    line = next(line for line in _verdict(source_of()).lines if "2,032 tokens" in line)
    assert "beats computing it anew (derived); the contexts asked for have 130,000 tokens." in line


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"gpus": 16}, ""),
        ({"gpus": 16, "profile": "standard-8"}, "it is the smallest candidate that holds every limit."),
        (
            {"gpus": 16, "profile": "large-16"},
            "the smallest candidate that holds every limit is standard-8 with 8",
        ),
        ({"gpus": 512, "profile": "compact-4"}, "(forced: profile=compact-4); the smallest"),
    ],
)
def test_a_forced_tier_is_said_to_be_one_with_what_would_be_chosen(changes: dict[str, object], said: str) -> None:
    source = source_of()
    line = _verdict(Source(plan_for(**changes), source.design, source.bom)).lines[0]
    assert said in line
    assert ("forced" in line) == ("profile" in changes)


def test_advice_that_bounds_from_above_says_so() -> None:
    figure = next(block for block in decision(source_of(256)).blocks if isinstance(block, Figure))
    assert "takes 256 nodes, at most 128 nodes" in figure.words


def test_candidates_have_a_column_for_each_main_limit() -> None:
    source = source_of()
    table = next(block for block in candidates(source).blocks if isinstance(block, Table))
    assert table.grid.headers[-4:] == ("GPUs", "Model parameters", "Read bandwidth", "Capacity")
    assert {len(row) for row in table.grid.rows} == {len(table.grid.headers)} == {len(table.grid.align)}


def test_the_verdict_doubts_where_the_plan_does() -> None:
    source = source_of()
    doubtful = plan_for(context_tokens=2_000, gpus=16)
    verdict = _verdict(Source(doubtful, source.design, source.bom))
    assert (verdict.tone, verdict.word) == ("doubtful", "May not pay off")
    assert any("2,032 tokens" in line for line in verdict.lines)


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
        assert fact.known is None or isinstance(fact.known, Certainty), fact


def test_assumptions_are_counted_behind_the_numbers_that_rest_on_them() -> None:
    tiles = next(block for block in decision(source_of()).blocks if isinstance(block, Tiles))
    known = {fact.label: fact.known for fact in tiles.facts}
    assert known["Whole-context hits"] == Certainty("derived", ("guidance.planned_read_share",))
    assert known["Usable capacity"] == Certainty("derived")
    assert known["Price"] is None
    power = known["Power at most"]
    assert power is not None
    assert set(power.assumed) == {item.model for item in design_for(8).devices if item.confidence == "assumed"}
    assert known_words(power) == f"derived, {len(power.assumed)} assumed inputs"


def test_a_number_that_is_an_assumption_is_no_derived_one() -> None:
    facts = [fact for block in request(source_of()).blocks if isinstance(block, Facts) for fact in block.facts]
    assert next(fact.known for fact in facts if fact.label == "In flight") == Certainty("assumed")


def test_published_points_are_shown_for_their_model_and_gpu_alone() -> None:
    measured, other = source_of(), plan_for(model="llama-3.3-70b-instruct", gpu="h100")
    assert "32.14 s without a cache and 0.57 s with one, 56 times sooner" in _words(measured)
    unmeasured = Source(other, measured.design, measured.bom)
    assert "Nothing was published for this model on this GPU." in _words(unmeasured)
    assert "32.14" not in repr(speed(unmeasured))


@pytest.mark.parametrize("prompt", ["cold", "cached"])
def test_half_a_comparison_is_none(prompt: str) -> None:
    source = source_of()
    half = replace(source, measurements=tuple(row for row in source.measurements if row.prompt == prompt))
    assert "The published points are of vLLM 0.14.1" in _words(half)
    assert "sooner" not in _words(half)


def test_only_prompts_of_one_length_are_compared() -> None:
    source = source_of()
    rows = [row for row in source.measurements if (row.prompt, row.context_tokens) != ("cached", 130_000)]
    assert "At 10,000 tokens they are 0.572 s without" in _words(replace(source, measurements=tuple(rows)))
    assert "sooner" not in _words(replace(source, measurements=(rows[1], rows[2])))


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


def _shown_prices(bom: Bom) -> set[str]:
    """Collect what tiles, facts and subtotals say of the price."""
    source = Source(plan_of(8), design_for(8), bom)
    blocks = (*decision(source).blocks, *purchase(source).blocks)
    facts = [fact for block in blocks if isinstance(block, Tiles | Facts) for fact in block.facts]
    table = next(block for block in purchase(source).blocks if isinstance(block, Table))
    return {fact.value for fact in facts if fact.label in {"Price", "Total, net"}} | {
        row[-1] for row in table.grid.rows
    }


def test_a_book_that_names_nothing_gives_no_price_anywhere() -> None:
    book = book_of(8)
    stray = book.model_copy(update={"items": (book.items[0].model_copy(update={"key": "no-such-part"}),)})
    assert _shown_prices(bill_of(8, stray)) == {"not priced"}


def test_a_part_that_is_free_has_a_price() -> None:
    book = book_of(8)
    free = book.model_copy(
        update={"items": tuple(item.model_copy(update={"list_price": Decimal(0)}) for item in book.items)}
    )
    assert _shown_prices(bill_of(8, free)) == {"EUR 0.00"}


def test_the_price_of_an_option_is_shown_though_it_is_in_no_total() -> None:
    option = next(line.key for line in bill_of(8).lines if line.optional)
    book = book_of(8)
    bom = bill_of(8, book.model_copy(update={"items": tuple(item for item in book.items if item.key == option)}))
    assert _shown_prices(bom) == {"not priced"}
    folds = [
        block.block for block in purchase(Source(plan_of(8), design_for(8), bom)).blocks if isinstance(block, Fold)
    ]
    cells = {cell for table in folds if isinstance(table, Table) for row in table.grid.rows for cell in row}
    assert {f"{line.extended:,.2f}" for line in bom.lines if line.extended is not None} <= cells


def test_a_book_without_a_date_has_those_of_its_prices() -> None:
    bom = bill_of(8, book_of(8))
    undated = UsedBook(name="sheet", currency="EUR", items=1, used=1)
    sheet = undated.model_copy(update={"first_date": date(2026, 9, 1), "last_date": date(2026, 10, 5)})
    one_day = sheet.model_copy(update={"first_date": date(2026, 10, 5)})
    source = Source(plan_of(8), design_for(8), bom.model_copy(update={"books": (*bom.books, sheet, one_day, undated)}))
    folds = [block.block for block in purchase(source).blocks if isinstance(block, Fold)]
    books = next(table for table in folds if isinstance(table, Table) and table.grid.headers[0] == "Price book")
    days = [row[2] for row in books.grid.rows]
    assert days == ["2026-10-01", "2026-09-01 to 2026-10-05", "2026-10-05", "undated"]


def test_a_total_with_gaps_says_so_and_a_whole_one_does_not() -> None:
    partly, fully = bill_of(8, book_of(8, every=3)), bill_of(8, book_of(8))
    assert priced_words(partly)[1].startswith(f"incomplete: {partly.missing} of ")
    assert "incomplete" in _total_row(partly)
    assert priced_words(fully) == (
        f"EUR {fully.total:,.2f}",
        f"all {sum(g.lines for g in fully.groups)} lines priced, net",
    )
    assert _total_row(fully) == f"EUR {fully.total:,.2f}"


def _total_row(bom: Bom) -> str:
    """Give the last cell of the table of groups."""
    source = Source(plan_of(8), design_for(8), bom)
    return next(block for block in purchase(source).blocks if isinstance(block, Table)).grid.rows[-1][-1]


def test_every_warning_finding_and_open_point_stands_on_the_page() -> None:
    source = source_of()
    shown = [notice.id for block in caveats(source).blocks if isinstance(block, Notices) for notice in block.notices]
    found = [entry.id for entry in all_found(source.plan, source.design, source.bom)]
    assert sorted(shown) == sorted([*found, *(point.id for point in source.plan.open_points)])


def test_what_was_found_is_grouped_by_how_grave_it_is() -> None:
    source = source_of()
    error = PlanWarning(id="made-up", severity="error", text="an engine holds no context", source="test")
    broken = source.plan.model_copy(update={"warnings": (*source.plan.warnings, error)})
    blocks = caveats(replace(source, plan=broken)).blocks
    assert [block.severity for block in blocks if isinstance(block, Notices)] == ["error", "warning", "info", None]
    assert [notice.id for notice in blocks[0].notices] == ["made-up"]  # type: ignore[union-attr]


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


@pytest.mark.parametrize(
    ("workload", "gpus", "word", "said"),
    [
        ("agent", 128, "Fits, and pays off", "For the workload agent it is worth it:"),
        ("chat", 8, "May not pay off", "For the workload chat it is not worth it:"),
    ],
)
def test_with_a_workload_the_verdict_is_that_of_its_advice(workload: str, gpus: int, word: str, said: str) -> None:
    source = source_of()
    served = load_workload(workload, load_catalogue())
    plan = plan_for(gpus=gpus, gpu="h200", workload=served, workload_name=workload)
    verdict = _verdict(Source(plan, source.design, source.bom))
    assert verdict.word == word
    assert said in verdict.lines
