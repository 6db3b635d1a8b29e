"""The report as Markdown: the same blocks, without the drawings, whose words stand in their place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kvplan.render.markdown import view_markdown
from kvplan.render.report.blocks import Facts, Figure, Fold, Notices, Pair, Prose, Table, Tiles, Verdict
from kvplan.render.report.words import known_words
from kvplan.render.view import Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.render.report.blocks import Block, Fact, Notice, Part, Report
    from kvplan.render.view import Grid


def document(report: Report) -> str:
    """Write the report as Markdown.

    Parameters
    ----------
    report
        The report, arranged.

    Returns
    -------
    str
        The document, ending in a newline.
    """
    head = Section("Report", (report.subtitle, *map(_fact, report.facts)))
    last = Section("Provenance", tuple(map(_fact, report.provenance)))
    sections = (section for part in report.parts for section in _sections(part))
    return view_markdown((head, *sections, last), title=report.title)


def _sections(part: Part) -> Iterator[Section]:
    """Flatten a part: its lines under its own title, then what has a caption."""
    yield Section(part.title, tuple(line for block in part.blocks for line in _lines(block)))
    for block in part.blocks:
        yield from _captioned(block.block if isinstance(block, Fold) else block)


def _captioned(block: Block) -> Iterator[Section]:
    """Write what stands under a caption of its own: tables, findings, and prose that is folded."""
    if isinstance(block, Table):
        yield Section(block.caption, grid=_grid(block))
    elif isinstance(block, Notices):
        yield Section(block.title, tuple(map(_notice, block.notices)))
    elif isinstance(block, Prose) and block.caption:
        yield Section(block.caption, block.lines)


def _lines(block: Block) -> Iterator[str]:
    """Write everything else as lines."""
    if isinstance(block, Verdict):
        yield from (f"{block.word}: {block.headline}", *block.lines)
    elif isinstance(block, Tiles | Facts):
        yield from map(_fact, block.facts)
    elif isinstance(block, Prose):
        yield from block.lines
    elif isinstance(block, Figure | Pair):
        yield from map(_figure, block.figures if isinstance(block, Pair) else (block,))


def _grid(table: Table) -> Grid:
    """Give the grid of a table, with its column of certainty."""
    if not table.known:
        return table.grid
    known = (known_words(known) if known else "" for known in table.known)
    rows = tuple((*cells, word) for cells, word in zip(table.grid.rows, known, strict=True))
    return replace(table.grid, headers=(*table.grid.headers, "Known"), rows=rows, align=f"{table.grid.align}l")


def _figure(figure: Figure) -> str:
    """Write what a drawing shows."""
    return f"{figure.title}: {' '.join(filter(None, (figure.words, figure.caption)))}"


def _fact(fact: Fact) -> str:
    """Write one fact."""
    note = f", {fact.note}" if fact.note else ""
    certainty = f" [{known_words(fact.known)}]" if fact.known else ""
    return f"{fact.label}: {fact.value}{note}{certainty}"


def _notice(notice: Notice) -> str:
    """Write one warning."""
    place = f"{notice.where}: " if notice.where else ""
    remedy = f" {notice.remedy}" if notice.remedy else ""
    return f"{place}{notice.text}{remedy} [{notice.id}]"
