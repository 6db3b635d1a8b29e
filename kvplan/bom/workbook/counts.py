"""Counts of what is quoted as named cells, and the quantities that follow from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kvplan.bom.scope import NOUNS
from kvplan.bom.workbook.cells import Formula
from kvplan.units import TB

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kvplan.bom.workbook.cells import Plain
    from kvplan.schema.bom import Bom, BomLine
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

    @property
    def typed(self) -> bool:
        """Whether it is an input."""
        return not isinstance(self.value, Formula)


def count_cells(plan: Plan, bom: Bom) -> Iterator[Count]:
    """Give the counts that quantities go by; devices are inputs, GPUs and raw capacity follow from them."""
    gpus, node_tb = plan.parts.gpu.gpus_per_server, plan.profile.drives_per_node * plan.profile.drive_bytes / TB
    follows: Mapping[Per, tuple[str, str]] = {
        "gpu": ("GPUs in them", f"={NAMES['client-server']}*{gpus}"),
        "raw-tb": (
            "Raw terabytes, begun ones whole",
            f"=ROUNDUP(ROUND({NAMES['storage-node']}*{node_tb!r},6),0)",
        ),
    }
    for per in NAMES:
        number = bom.counts.get(per, 0)
        if number and per in follows:
            title, text = follows[per]
            yield Count(per, title, Formula(text, number), number)
        elif number:
            many = NOUNS[per][1]
            yield Count(per, many[0].upper() + many[1:], number, number)


def differs_formula(counts: Iterable[Count]) -> Formula:
    """Say so when a count that somebody typed is not the plan's."""
    changed = ",".join(f"{NAMES[count.per]}<>{count.number}" for count in counts if count.typed)
    text = "Counts differ from the plan: cables, racks, capacity and bandwidth are those of the plan"
    return Formula(f'=IF(OR({changed}),"{text}","")', "")


def quantity_formula(line: BomLine, numbers: Mapping[Per, int]) -> str:
    """Write the quantity of a major line by the cells that it is counted by; nothing where no cell decides it.

    >>> from kvplan.schema.bom import BomLine
    >>> line = BomLine(line="9.0", key="kit/rhel", group="software", discount_group="software", description="RHEL",
    ...                quantity_per_parent=18, quantity=18, basis="2 x 8 storage nodes + 1 control node", source="",
    ...                confidence="assumed", counted_by=("storage-node", "control-node"))
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
