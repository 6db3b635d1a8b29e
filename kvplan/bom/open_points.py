"""What a quote leaves open, whatever its prices: part numbers, assumptions, metrics, and what is not in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kvplan.bom.notices import NAMED
from kvplan.bom.scope import quoted_racks
from kvplan.schema.design import Finding
from kvplan.units import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvplan.schema.bom import BomLine, LinePartNumberKnown
    from kvplan.schema.build import ClientScope
    from kvplan.schema.design import Design
    from kvplan.schema.kit import Topic
    from kvplan.schema.plan import Plan

WITHOUT_PART_NUMBERS = frozenset({"racks", "services"})
"""Groups whose lines are described, not ordered by number."""
_UNCONFIRMED: Mapping[LinePartNumberKnown, str] = {
    "": "without one",
    "pattern": "by pattern",
    "listing": "by listing",
}


class _Point(NamedTuple):
    """What is open about a part: the finding, where, what it says, and what to do."""

    id: str
    where: str
    text: str
    remedy: str


_POINTS: Mapping[Topic, _Point] = {
    "capacity-licence": _Point(
        "licence-metric",
        "software",
        "metric and part number of the Storage Scale licence are to be confirmed by IBM",
        "send IBM raw and usable TB of its line, and ask whether GPU servers need a licence",
    ),
    "bracket": _Point(
        "bracket",
        "adapters",
        "a half-height adapter ships with one of its two brackets; full-height ones apart are an option of this quote",
        "name the bracket when ordering the adapter",
    ),
    "in-the-box": _Point(
        "in-the-box",
        "switches",
        "rails, power leads and console cables of switches are lines of this quote, but are often in the box",
        "ask what comes with each switch, and leave out what does",
    ),
    "pdu-network": _Point(
        "pdu-network",
        "racks",
        "power distribution units are read on the spot: no cable of this design goes to their network ports",
        "where they are to be watched, plan ports for them with whoever runs the room",
    ),
}


def scope_findings(plan: Plan, design: Design, lines: Sequence[BomLine]) -> Iterator[Finding]:
    """Find what is open in the lines themselves.

    Parameters
    ----------
    plan
        Says how many GPUs were asked for.
    design
        Says what is quoted.
    lines
        The lines.

    Yields
    ------
    Finding
        Part numbers to be confirmed, lines that rest on an assumption, the licence metric, and what is left out.
    """
    yield from _part_numbers(lines)
    yield from _assumed(lines)
    yield from _open_links(design)
    topics = {line.topic for line in lines}
    yield from (_finding(*point) for topic, point in _POINTS.items() if topic in topics)
    yield from _clients(plan, design)
    yield from _racks(design)
    text = "taxes, duties, mains feeds, cooling and the site's end of the management uplinks are not in this quote"
    yield _finding("scope-site", "quote", text, "agree on them with the site")


def _finding(name: str, where: str, text: str, remedy: str) -> Finding:
    """Make a finding that is good to know."""
    return Finding(id=name, severity="info", where=where, text=text, remedy=remedy)


def _part_numbers(lines: Sequence[BomLine]) -> Iterator[Finding]:
    """Count the parts without a confirmed number, by how their number is known."""
    known = {
        line.key: line.part_number_known for line in lines if line.priced and line.group not in WITHOUT_PART_NUMBERS
    }
    named = [
        f"{len(keys):,} {words} ({listed(keys, NAMED)})"
        for how, words in _UNCONFIRMED.items()
        if (keys := [key for key, its in known.items() if its == how])
    ]
    if named:
        open_ = sum(how in _UNCONFIRMED for how in known.values())
        has = "has" if open_ == 1 else "have"
        text = f"{open_:,} of {counted(len(known), 'part')} {has} no confirmed part number: {', '.join(named)}"
        remedy = "let the seller confirm them; a price book may bring them along"
        yield _finding("part-number-open", "parts", text, remedy)


def _assumed(lines: Sequence[BomLine]) -> Iterator[Finding]:
    """Count the lines that rest on an assumption."""
    found = tuple(dict.fromkeys(line.key for line in lines if line.priced and line.confidence == "assumed"))
    if found:
        rest = "rests" if len(found) == 1 else "rest"
        text = f"{counted(len(found), 'part')} {rest} on an assumption: {listed(found, NAMED)}"
        remedy = "see confidence and note of each line; replace rows by a table of your own with --catalogue"
        yield _finding("kit-assumed", "parts", text, remedy)


def _open_links(design: Design) -> Iterator[Finding]:
    """Count the links for which there is no cable, and so no line."""
    links = len(design.cables) - len(design.bought_cables)
    if links:
        text = f"{counted(links, 'link')} {'has' if links == 1 else 'have'} no cable: see cable-missing"
        remedy = "put the cabling right before this is ordered: what is missing is no line and has no price"
        yield Finding(id="cables-open", severity="error", where="cables", text=text, remedy=remedy)


def _clients(plan: Plan, design: Design) -> Iterator[Finding]:
    """Say what of the GPU servers is left out or rounded up."""
    servers = sum(device.role == "client" for device in design.devices)
    gpus = servers * plan.parts.gpu.gpus_per_server
    left_out: dict[ClientScope, str] = {
        "adapters": "of the GPU servers only adapters and cables are quoted: chassis, GPUs and their software are not",
        "none": "of the GPU servers only cables are quoted: servers, adapters, GPUs and their software are not",
    }
    if design.options.clients in left_out:
        text, remedy = left_out[design.options.clients], "--clients servers quotes them whole"
        yield _finding("scope-clients", "clients", text, remedy)
    elif gpus != plan.request.gpus:
        text = f"{gpus:,} GPUs are quoted, {plan.request.gpus:,} were asked for: GPU servers are bought full"
        yield _finding("gpus-rounded", "clients", text, "ask for a multiple of the GPUs of a server")


def _racks(design: Design) -> Iterator[Finding]:
    """Say which racks are left out."""
    if not design.options.racks.quoted:
        text = "racks, power distribution, blanking panels and feeds are not in this quote; power leads are"
        yield _finding("scope-racks", "racks", text, "set racks.quoted to true in the build file")
        return
    left_out = len(design.racks) - len(quoted_racks(design))
    if left_out:
        hold, they = ("holds", "it is") if left_out == 1 else ("hold", "they are")
        of_all = f"{left_out:,} of {counted(len(design.racks), 'rack')}"
        text = f"{of_all} {hold} only GPU servers, which are not quoted: {they} left out, with all that goes by racks"
        yield _finding("scope-client-racks", "racks", text, "--clients servers quotes them too")
