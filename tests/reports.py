"""Reports that several tests look at, of designs of 4 to 256 nodes, priced or not, and a reader of their pages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from designs import design_for, plan_of
from quotes import bill_of, book_of

from kvplan.catalogue.loader import load_catalogue
from kvplan.render.report.source import Source
from kvplan.reporting import html_report, markdown_report, published
from kvplan.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.bom import Bom
    from kvplan.schema.plan import Plan

VOID = {"meta", "br", "hr", "img", "input", "link", "wbr", "col"}
SVG = re.compile(r"<svg.*?</svg>", re.DOTALL)
_STYLE = re.compile(r"(<style>).*?(</style>)", re.DOTALL)
_SECTION = re.compile(r'(<section id="(?!decision")[^>]*>\n)(.*?)(</section>)', re.DOTALL)
_NAMED = re.compile(r"^<h[2-4].*\n", re.MULTILINE)


@cache
def page_of(nodes: int = 8, *, priced: bool = False) -> str:
    """Write the page of so many nodes."""
    return html_report(plan_of(nodes), design_for(nodes), _bom(nodes, priced=priced), catalogue=load_catalogue())


def document_of(nodes: int = 8) -> str:
    """Write the Markdown of so many nodes."""
    return markdown_report(plan_of(nodes), design_for(nodes), _bom(nodes), catalogue=load_catalogue())


def page_for(plan: Plan) -> str:
    """Write the page of a Plan as it is, with the design and bill of the eight nodes."""
    return html_report(plan, design_for(8), _bom(8), catalogue=load_catalogue())


def source_of(nodes: int = 8) -> Source:
    """Gather what a report is made from."""
    plan = plan_of(nodes)
    return Source(plan, design_for(nodes), _bom(nodes), published(plan, load_catalogue()))


def _bom(nodes: int, *, priced: bool = False) -> Bom:
    """Make a bill, with a price of every part or of none."""
    return bill_of(nodes, book_of(nodes)) if priced else bill_of(nodes)


def stable(text: str, nodes: int = 8) -> str:
    """Replace what changes with every release, table and Plan format."""
    lock = plan_of(nodes).catalogue
    parts = {
        design_for(nodes).plan_sha256: "<plan>",
        design_for(nodes).plan_sha256[:12]: "<plan>",
        lock.sha256: "<sha256>",
        lock.version: "<date>",
        f"kvplan {VERSION}": "kvplan <version>",
        f"<dd>{VERSION} ": "<dd><version> ",
        f"kvplan: {VERSION},": "kvplan: <version>,",
    }
    for found, shown in parts.items():
        text = text.replace(found, shown)
    return text


def skeleton(page: str) -> str:
    """Leave of a page what stands round the sections, the decision, and the headings of the other sections."""
    text = SVG.sub("<svg></svg>", _STYLE.sub(r"\1\2", page))
    return _SECTION.sub(lambda found: found[1] + "".join(_NAMED.findall(found[2])) + found[3], text)


def parsed(drawing: str) -> ET.Element:
    """Read a drawing, which must be well-formed XML by itself."""
    return ET.fromstring(drawing)  # noqa: S314 - our own


@dataclass
class Element:
    """One element of a page, with its text."""

    tag: str
    attributes: dict[str, str]
    above: tuple[str, ...]
    text: str = ""
    children: list[Element] = field(default_factory=list)


class Page(HTMLParser):
    """A page read element by element; what is not closed in order is an error."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(text)
        self.close()
        assert not self._open, f"left open: {self._open[-1].tag}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, tuple(item.tag for item in self._open))
        assert len(element.attributes) == len(attrs), f"an attribute twice in {tag}"
        if self._open:
            self._open[-1].children.append(element)
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"closed but not open: {tag}"
        assert self._open[-1].tag == tag, f"{tag} closes {self._open[-1].tag}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def of(self, *tags: str) -> Iterator[Element]:
        """Yield the elements of some tags."""
        return (element for element in self.elements if element.tag in tags)
