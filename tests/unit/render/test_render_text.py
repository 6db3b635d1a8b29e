"""Views as text and Markdown: nothing is too wide, nothing is taken for markup, the mark needs no colour."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvplan.render.markdown import view_markdown
from kvplan.render.text import view_text
from kvplan.render.view import Grid, Section, View

GRID = Grid(("Profile", "Nodes"), (("compact-4", "4"), ("standard-8", "8")), "lr", marked=1)
VIEW: View = (
    Section("Candidates", ("two of them",), GRID, ("compact-4 rejected: too small",)),
    Section("Next", ("kvplan explain plan.json",)),
)
WORDS = st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S")), max_size=60)


@st.composite
def views(draw: st.DrawFn) -> View:
    """Draw a section with prose and a grid."""
    columns = draw(st.integers(1, 6))
    rows = draw(st.lists(st.tuples(*[WORDS] * columns), min_size=1, max_size=3))
    headers = draw(st.tuples(*[WORDS] * columns))
    marked = draw(st.none() | st.just(0))
    grid = Grid(headers, tuple(rows), "lr" * 3, marked)
    return (Section(draw(WORDS), tuple(draw(st.lists(WORDS, max_size=2))), Grid(*_cut(grid, columns))),)


def _cut(grid: Grid, columns: int) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], str, int | None]:
    """Align as many columns as there are."""
    return grid.headers, grid.rows, grid.align[:columns], grid.marked


def test_sections_stand_apart_and_the_marked_row_carries_a_sign() -> None:
    assert view_text(VIEW) == (
        "Candidates\n"
        "  two of them\n"
        "   Profile     Nodes\n"
        "────────────────────\n"
        "   compact-4       4\n"
        ">  standard-8      8\n"
        "  compact-4 rejected: too small\n"
        "\n"
        "Next\n"
        "  kvplan explain plan.json\n"
    )


def test_colour_changes_nothing_but_colour() -> None:
    coloured = view_text(VIEW, color=True)
    assert "\x1b[1m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == view_text(VIEW)


@given(views(), st.integers(40, 120))
def test_no_line_is_wider_than_asked_for(view: View, width: int) -> None:
    text = view_text(view, width=width)
    assert [line for line in text.splitlines() if len(line) > width] == []
    assert text.endswith("\n")


@pytest.mark.parametrize("text", ["[bold]no[/bold]", "[/]", "constants[0]", ":smile:", "stages[drives]", "\\[x]"])
def test_texts_are_no_markup(text: str) -> None:
    view = (Section(text, (text,), Grid((text,), ((text,),), "l"), (text,)),)
    assert view_text(view).count(text) == 5


def test_long_words_are_broken_and_not_lost() -> None:
    word = "https://example.org/" + "x" * 200
    text = view_text((Section("Source", (word,), Grid(("Link",), ((word,),), "l")),), width=60)
    assert re.sub(r"[\s─]", "", text) == f"Source{word}Link{word}"


def test_markdown_is_a_document() -> None:
    assert view_markdown(VIEW, title="Plan") == (
        "# Plan\n\n## Candidates\n\n- two of them\n\n"
        "| Profile | Nodes |\n| :-- | --: |\n| compact-4 | 4 |\n| **standard-8** | **8** |\n\n"
        "- compact-4 rejected: too small\n\n## Next\n\n- kvplan explain plan.json\n"
    )
    assert view_markdown(VIEW).startswith("## Candidates")


def test_markdown_cells_stay_cells() -> None:
    grid = Grid(("a|b",), (("c|d\ne<f",), ("",)), "l", marked=1)
    lines = view_markdown((Section("x", grid=grid),)).splitlines()
    assert "| c\\|d e&lt;f |" in lines
    assert "|  |" in lines
