"""What a quote leaves open, whatever its prices: part numbers, assumptions, metrics, and what is not in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.bom.notices import listed
from kvplan.schema.design import Finding
from kvplan.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvplan.schema.bom import BomLine
    from kvplan.schema.design import Design
    from kvplan.schema.plan import Plan

_WITHOUT_PART_NUMBERS = {"racks", "services"}
"""Groups whose lines are described, not ordered by number."""
_LICENCE = "kit/scale-ece"


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
    if any(line.key == _LICENCE for line in lines):
        text = "metric and part number of the Storage Scale licence are to be confirmed by IBM"
        yield _finding(
            "licence-metric",
            "software",
            text,
            "send IBM raw and usable TB of its line, and ask whether client servers need a licence",
        )
    yield from _clients(plan, design)
    if not design.options.racks.quoted:
        text = "racks, power distribution and blanking panels are not in this quote; power leads are"
        yield _finding("scope-racks", "racks", text, "set racks.quoted to true in the build file")
    text = "taxes, duties, mains feeds, cooling and the site's end of the management uplinks are not in this quote"
    yield _finding("scope-site", "quote", text, "agree on them with the site")


def _finding(name: str, where: str, text: str, remedy: str) -> Finding:
    """Make a finding that is good to know."""
    return Finding(id=name, severity="info", where=where, text=text, remedy=remedy)


def _part_numbers(lines: Sequence[BomLine]) -> Iterator[Finding]:
    """Count the parts without a confirmed number."""
    parts = [line for line in lines if line.priced and line.group not in _WITHOUT_PART_NUMBERS]
    found = dict.fromkeys(line.key for line in parts if not line.part_number)
    if found:
        total = len({line.key for line in parts})
        text = f"{len(found)} of {counted(total, 'part')} have no confirmed part number: {listed(found)}"
        yield _finding(
            "part-number-open", "parts", text, "let the seller confirm them; a price book may bring them along"
        )


def _assumed(lines: Sequence[BomLine]) -> Iterator[Finding]:
    """Count the lines that rest on an assumption."""
    found = dict.fromkeys(line.key for line in lines if line.priced and line.confidence == "assumed")
    if found:
        text = f"{counted(len(found), 'part')} rest on an assumption: {listed(found)}"
        remedy = "see confidence and note of each line; replace rows by a table of your own with --catalogue"
        yield _finding("kit-assumed", "parts", text, remedy)


def _clients(plan: Plan, design: Design) -> Iterator[Finding]:
    """Say what of the GPU servers is left out or rounded up."""
    servers = sum(device.role == "client" for device in design.devices)
    gpus = servers * plan.parts.gpu.gpus_per_server
    left_out = {
        "adapters": "of the GPU servers only adapters and cables are quoted: chassis, GPUs and licences are not",
        "none": "of the GPU servers only cables are quoted: servers, adapters and GPUs are not",
    }
    if design.options.clients in left_out:
        text, remedy = left_out[design.options.clients], "--clients servers quotes them whole"
        yield _finding("scope-clients", "clients", text, remedy)
        yield from _racks_of_clients(design)
    elif gpus != plan.request.gpus:
        text = f"{gpus:,} GPUs are quoted, {plan.request.gpus:,} were asked for: GPU servers are bought full"
        yield _finding("gpus-rounded", "clients", text, "ask for a multiple of the GPUs of a server")


def _racks_of_clients(design: Design) -> Iterator[Finding]:
    """Say that racks of GPU servers are quoted although the servers are not."""
    held = len({device.rack for device in design.devices if device.role == "client"})
    if design.options.racks.quoted and held:
        text = f"{held} of {counted(len(design.racks), 'rack')} in this quote hold GPU servers, which are not in it"
        yield _finding("scope-client-racks", "racks", text, "leave out those that are there already")
