"""Counts of the design as named cells, and the quantities that follow from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kvplan.bom.scope import NOUNS, PURPOSES
from kvplan.bom.workbook.sheet import Formula
from kvplan.units import TB

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.bom.workbook.sheet import Plain
    from kvplan.schema.bom import BomLine
    from kvplan.schema.design import Design
    from kvplan.schema.kit import Per
    from kvplan.schema.plan import Plan

NAMES: Mapping[Per, str] = {
    "storage-node": "StorageNodes",
    "client-server": "GpuServers",
    "control-node": "ControlNodes",
    "fabric-switch": "FabricSwitches",
    "management-switch": "ManagementSwitches",
    "rack": "Racks",
    "gpu": "Gpus",
    "raw-tb": "RawTerabytes",
}
"""Cells that decide quantities, by what a line is counted by."""


class Count(NamedTuple):
    """A count with its title; those that follow from others are formulas."""

    per: Per
    title: str
    value: Plain
    number: int


def counts_of(plan: Plan, design: Design) -> Iterator[Count]:
    """Count what quantities go by; devices are inputs, GPUs and raw capacity follow from them."""
    found: dict[Per, int] = dict.fromkeys(NAMES, 0)
    for device in design.devices:
        found[PURPOSES[device.role]] += 1
    found["rack"] = len(design.racks)
    for per, number in found.items():
        if number:
            many = NOUNS[per][1]
            yield Count(per, many[0].upper() + many[1:], number, number)
    gpus = plan.parts.gpu.gpus_per_server
    if found["client-server"]:
        number = found["client-server"] * gpus
        yield Count("gpu", "GPUs in them", Formula(f"={NAMES['client-server']}*{gpus}", number), number)
    node_tb = plan.profile.drives_per_node * plan.profile.drive_bytes / TB
    number = -(-plan.profile.raw_bytes // TB)
    text = f"=ROUNDUP(ROUND({NAMES['storage-node']}*{node_tb!r},6),0)"
    yield Count("raw-tb", "Raw terabytes, begun ones whole", Formula(text, number), number)


def quantity_formula(line: BomLine, numbers: Mapping[Per, int]) -> str:
    """Write the quantity of a major line by the cells that it is counted by; nothing where no cell decides it.

    >>> from kvplan.schema.bom import BomLine
    >>> line = BomLine(line="9.0", key="kit/rhel", group="software", description="RHEL", quantity_per_parent=18,
    ...                quantity=18, basis="2 x 8 storage nodes + 1 control node", source="", confidence="assumed",
    ...                counted_by=("storage-node", "control-node"))
    >>> quantity_formula(line, {"storage-node": 8, "control-node": 1})
    '=2*(StorageNodes+ControlNodes)'
    """
    if not line.counted_by or not all(per in NAMES and per in numbers for per in line.counted_by):
        return ""
    times, rest = divmod(line.quantity, sum(numbers[per] for per in line.counted_by))
    if rest:
        return ""
    cells = "+".join(NAMES[per] for per in line.counted_by)
    return f"={cells}" if times == 1 else f"={times}*({cells})"
