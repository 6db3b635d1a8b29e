"""The report as Markdown: the same blocks, without the drawings, whose words stand in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.markdown import view_markdown
from kvplan.render.report.blocks import Facts, Figure, Fold, Notices, Pair, Prose, Table, Tiles, Verdict
from kvplan.render.report.content import report
from kvplan.render.report.source import Source
from kvplan.render.view import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kvplan.render.report.blocks import Block, Fact, Notice, Part
    from kvplan.schema.bom import Bom
    from kvplan.schema.design import Design
    from kvplan.schema.measurement import Measurement
    from kvplan.schema.plan import Plan


def report_markdown(plan: Plan, design: Design, bom: Bom, *, measurements: Sequence[Measurement] = ()) -> str:
    """Write the report as Markdown.

    Parameters
    ----------
    plan
        The Plan.
    design
        How it is built.
    bom
        What it takes and costs.
    measurements
        What was published of the same model on the same GPU.

    Returns
    -------
    str
        The document, ending in a newline.
    """
    whole = report(Source(plan, design, bom, tuple(measurements)))
    head = Section("Report", (whole.subtitle, *map(_fact, whole.facts)))
    last = Section("Provenance", tuple(map(_fact, whole.provenance)))
    sections = (section for part in whole.parts for section in _sections(part))
    return view_markdown((head, *sections, last), title=whole.title)


def _sections(part: Part) -> Iterator[Section]:
    """Flatten a part: its lines under its own title, each table under its caption."""
    lines = tuple(line for block in part.blocks for line in _lines(block))
    yield Section(part.title, lines)
    for table in _tables(part.blocks):
        yield Section(table.caption, grid=table.grid)


def _tables(blocks: Iterable[Block]) -> Iterator[Table]:
    """Find the tables, folded ones too."""
    for block in blocks:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Fold):
            yield from _tables(block.blocks)


def _lines(block: Block) -> Iterator[str]:
    """Write everything that is no table as lines."""
    if isinstance(block, Verdict):
        yield from (f"{block.word}: {block.headline}", *block.lines)
    elif isinstance(block, Tiles | Facts):
        yield from map(_fact, block.facts)
    elif isinstance(block, Prose):
        yield from block.lines
    elif isinstance(block, Figure):
        yield f"{block.title}: {' '.join(filter(None, (block.words, block.caption)))}"
    elif isinstance(block, Notices):
        yield from (f"{block.title.partition(':')[0]}: {_notice(notice)}" for notice in block.notices)
    elif isinstance(block, Pair | Fold):
        inner = block.figures if isinstance(block, Pair) else block.blocks
        yield from (line for item in inner for line in _lines(item))


def _fact(fact: Fact) -> str:
    """Write one fact."""
    note = f", {fact.note}" if fact.note else ""
    certainty = f" [{fact.known}]" if fact.known else ""
    return f"{fact.label}: {fact.value}{note}{certainty}"


def _notice(notice: Notice) -> str:
    """Write one warning."""
    place = f"{notice.where}: " if notice.where else ""
    remedy = f" {notice.remedy}" if notice.remedy else ""
    return f"{place}{notice.text}{remedy} [{notice.id}]"
