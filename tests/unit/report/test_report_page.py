"""The page as a document: whole, small, self-contained, escaped, and made for those who do not see it too."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from designs import plan_of
from reports import SVG, Page, page_for, page_of, parsed, skeleton, stable

from kvplan.render.report.svg import WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable

    Golden = Callable[[str, str], None]

SIZES = (4, 8, 16, 64, 256)
LARGEST = 300 * 1024
COLUMN = 348
"""Width of a chart on a screen of 380."""


def test_the_skeleton_of_the_page_of_the_published_system(golden: Golden) -> None:
    golden("report/published-system.html", stable(skeleton(page_of())))


@pytest.mark.slow
@pytest.mark.parametrize("nodes", SIZES)
def test_every_page_is_small_and_well_formed(nodes: int) -> None:
    page = page_of(nodes)
    assert len(page.encode()) < LARGEST
    read = Page(page)
    ids = [element.attributes["id"] for element in read.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    targets = {item.attributes["href"][1:] for item in read.of("a") if item.attributes["href"].startswith("#")}
    assert targets <= set(ids)


def test_equal_input_gives_equal_bytes() -> None:
    plan = plan_of(8)
    assert page_for(plan) == page_for(plan.model_copy())


@pytest.mark.parametrize("priced", [False, True])
def test_nothing_is_fetched_and_nothing_runs(*, priced: bool) -> None:
    page = page_of(priced=priced)
    read = Page(page)
    assert not list(read.of("script", "link", "iframe", "img", "object", "embed", "base"))
    places = {"src", "href", "xlink:href", "action", "data", "srcset", "poster"}
    named = [value for item in read.elements for name, value in item.attributes.items() if name in places]
    assert all(value.startswith("#") for value in named)
    assert not any(name.startswith("on") for item in read.elements for name in item.attributes)
    style = next(read.of("style")).text
    assert "@import" not in style
    assert re.findall(r"url\((?!#)", page) == []


def test_the_page_has_language_landmarks_and_a_way_past_the_head() -> None:
    read = Page(page_of())
    assert next(read.of("html")).attributes["lang"] == "en"
    assert [item.tag for item in read.of("header", "nav", "main", "footer")] == ["header", "nav", "main", "footer"]
    assert all("aria-label" in item.attributes for item in read.of("nav"))
    first_link = next(read.of("a"))
    assert (first_link.attributes["class"], first_link.attributes["href"]) == ("skip", "#decision")
    assert len(list(read.of("title"))) - len(SVG.findall(page_of())) == 1


def test_headings_go_down_one_level_at_a_time() -> None:
    levels = [int(item.tag[1]) for item in Page(page_of()).of("h1", "h2", "h3", "h4", "h5")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))


def test_sections_stand_in_the_order_in_which_a_buyer_asks() -> None:
    read = Page(page_of())
    assert [item.attributes["id"] for item in read.of("section")] == [
        "decision", "request", "candidates", "speed", "capacity", "network", "fabric", "racks", "bom", "caveats",
        "formulas",
    ]  # fmt: skip
    assert [item.text for item in read.of("a")][:3] == ["Skip to the decision", "Decision", "Request"]


@pytest.mark.parametrize("priced", [False, True])
def test_tables_have_captions_and_scopes(*, priced: bool) -> None:
    read = Page(page_of(priced=priced))
    for table in read.of("table"):
        assert table.children[0].tag == "caption"
        assert table.children[0].text.strip()
    headers = list(read.of("th"))
    assert {item.attributes["scope"] for item in headers} == {"col", "row"}
    assert all(item.text.strip() for item in headers)


def test_drawings_say_what_they_show() -> None:
    drawings = SVG.findall(page_of())
    assert len(drawings) == 9
    for drawing in drawings:
        root = parsed(drawing)
        name = {child.get("id"): child.text or "" for child in root if child.tag.endswith(("title", "desc"))}
        assert root.get("role") == "img"
        labels = (root.get("aria-labelledby") or "").split()
        assert set(labels) == set(name)
        assert all(name.values())


def test_what_can_be_scrolled_can_be_reached_and_has_a_name() -> None:
    regions = [item for item in Page(page_of()).elements if item.attributes.get("role") == "region"]
    assert regions
    assert all(item.attributes["tabindex"] == "0" and item.attributes["aria-label"] for item in regions)


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a & b", "{{ 7*7 }}"]
)
def test_names_stay_text(hostile: str) -> None:
    plan = plan_of(8)
    request = plan.request.model_copy(update={"model": hostile, "gpu": hostile})
    read = Page(page_for(plan.model_copy(update={"request": request, "reason": hostile})))
    assert not list(read.of("script", "img"))
    assert hostile in next(read.of("h1")).text
    assert "49" not in next(read.of("h1")).text


def test_a_hostile_name_of_a_stage_stays_text_in_drawings() -> None:
    plan = plan_of(8)
    stages = tuple(stage.model_copy(update={"name": "<b>&x"}) for stage in plan.network.stages)
    network = plan.network.model_copy(update={"stages": stages, "binding_stage": "<b>&x"})
    page = page_for(plan.model_copy(update={"network": network}))
    assert "<b>" not in page
    assert all(parsed(drawing) is not None for drawing in SVG.findall(page))


def test_on_paper_everything_folded_is_open_and_the_light_colours_hold() -> None:
    style = next(Page(page_of()).of("style")).text
    printed = style[style.index("@media print") :]
    assert "size: A4" in style
    assert "details-content" in printed
    assert "color-scheme: light;" in printed
    assert "break-before: page" not in printed  # or a page may hold one sentence


def test_what_is_folded_is_named_once() -> None:
    read = Page(page_of(priced=True))
    folds = list(read.of("details"))
    assert folds
    for fold in folds:
        assert fold.children[0].tag == "summary"
    inside = [item for item in read.of("caption") if "details" in item.above]
    assert inside
    assert all(item.children[0].attributes.get("class") == "unseen" for item in inside)


def test_charts_can_be_read_on_a_narrow_screen() -> None:
    style = next(Page(page_of()).of("style")).text
    rules = re.findall(r"\.chart[^{}]*\{([^}]*)\}", style)
    sizes = [float(size) for rule in rules for size in re.findall(r"font[^;]*?([\d.]+)px", rule)]
    assert sizes
    assert min(sizes) * COLUMN / WIDTH >= 9


def test_a_table_that_scrolls_has_a_shade_at_its_edge() -> None:
    style = next(Page(page_of()).of("style")).text
    scroll = style[style.index(".scroll {") :]
    assert "var(--shade)" in scroll[: scroll.index("}")]


def test_certainty_has_its_word_and_its_class() -> None:
    chips = [item for item in Page(page_of()).of("span") if item.attributes.get("class", "").startswith("chip ")]
    shown = {(item.attributes["class"].removeprefix("chip "), item.text) for item in chips}
    assert {("derived", "derived"), ("assumed", "derived, 1 assumed input"), ("vendor", "vendor")} <= shown
    assert {kind for kind, _ in shown} == {"measured", "vendor", "derived", "assumed"}
