"""What a report is made of, apart from how it is written: sections of prose, facts, tables, figures and findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from kvplan.core.certainty import Certainty
    from kvplan.render.view import Grid
    from kvplan.schema.base import Severity

Tone = Literal["good", "doubtful", "bad"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is so: what it is called, its value with the unit, a word on it, and how well it is known."""

    label: str
    value: str
    note: str = ""
    known: Certainty | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer before everything else: a word and its tone, what to buy, and why."""

    kind: ClassVar[str] = "verdict"
    tone: Tone
    word: str
    headline: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tiles:
    """The few figures that matter most, large."""

    kind: ClassVar[str] = "tiles"
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts side by side, under a name."""

    kind: ClassVar[str] = "facts"
    title: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Prose:
    """Sentences: paragraphs, or points of a list; what is folded has a caption."""

    kind: ClassVar[str] = "prose"
    lines: tuple[str, ...]
    listed: bool = False
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A grid under a caption; `mark` is the word that stands in its marked row.

    `known` adds a column: how well each row is known.
    """

    kind: ClassVar[str] = "table"
    caption: str
    grid: Grid
    mark: str = ""
    known: tuple[Certainty | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing: inline SVG, a caption, and in full words what it shows, which Markdown has in its place.

    A wide one brings its own headline and may be wider than its column.
    """

    kind: ClassVar[str] = "figure"
    id: str
    title: str
    svg: str
    caption: str
    words: str = ""
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """Two figures side by side where there is room."""

    kind: ClassVar[str] = "pair"
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """One warning or open point: its id, the text, where it is and where it comes from, and what to do."""

    id: str
    text: str
    where: str = ""
    remedy: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Notices:
    """What was found of one severity; open points have none."""

    kind: ClassVar[str] = "notices"
    title: str
    severity: Severity | None
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class Fold:
    """A block that only some readers want: folded under its caption on a screen, open on paper."""

    kind: ClassVar[str] = "fold"
    block: Table | Prose


Block = Verdict | Tiles | Facts | Prose | Table | Figure | Pair | Notices | Fold


@dataclass(frozen=True, slots=True)
class Part:
    """One section of the report."""

    id: str
    title: str
    blocks: tuple[Block, ...]
    short: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The whole report: title and subtitle, its sections, and where its numbers come from."""

    title: str
    subtitle: str
    facts: tuple[Fact, ...]
    parts: tuple[Part, ...]
    provenance: tuple[Fact, ...]
