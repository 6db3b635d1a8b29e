"""Rules about racks: how many there are, what they bear, and what a lost rack takes along."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from kvplan.schema.design import Finding
from kvplan.units import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kvplan.core.design.inputs import DesignInputs
    from kvplan.schema.design import Design


def _too_many(inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report more racks than there are."""
    available = inputs.options.racks.available
    if available is not None and len(design.racks) > available:
        yield Finding(
            id="racks-available",
            severity="error",
            where=f"{len(design.racks)} racks",
            text=f"it takes {len(design.racks)} racks, and there are {available}",
            remedy="more racks, more power a rack, or GPU servers that stand elsewhere",
        )


def _overfull(_inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report racks beyond their height or weight; a device that no rack takes stands alone."""
    for rack in design.racks:
        if rack.used_units > rack.units:
            yield Finding(
                id="rack-units",
                severity="error",
                where=rack.name,
                text=f"{rack.used_units} units for {rack.units}",
                remedy="a higher rack",
            )
        if rack.weight_kg > rack.weight_limit_kg:
            yield Finding(
                id="rack-weight",
                severity="error",
                where=rack.name,
                text=f"{rack.weight_kg:,.0f} kg, the rack bears {rack.weight_limit_kg:,.0f} kg",
                remedy="a higher limit if the floor bears it",
            )


def _lost_rack(inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report what a lost rack takes along: more storage nodes than the code survives, or the quorum."""
    nodes = inputs.plan.profile.nodes
    survives = inputs.plan.profile.fault_tolerance.node_failures
    in_rack = Counter(device.rack for device in design.devices if device.role == "storage")
    most = max(in_rack.values())
    # Quorum needs more than half of the nodes.
    quorum_lost = 2 * most >= nodes
    if most > survives:
        yield Finding(
            id="rack-lost",
            severity="warning",
            where=listed([rack for rack, count in in_rack.items() if count > survives]),
            text=f"a rack holds up to {most} of {nodes} storage nodes, the code survives {survives}: with it lost "
            f"nothing is served{', and the quorum is gone' if quorum_lost else ''}",
            remedy="`racks.storage_nodes_per_rack` spreads the nodes; a code survives racks only as failure domains",
        )
    elif quorum_lost:
        yield Finding(
            id="rack-quorum",
            severity="warning",
            where=max(in_rack, key=lambda rack: in_rack[rack]),
            text=f"{most} of {nodes} storage nodes stand in one rack: the quorum does not outlive it",
            remedy="`racks.storage_nodes_per_rack` spreads the quorum nodes, best over three racks or more",
        )


def _unknown_racks(inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report ways measured between racks that the design does not have."""
    names = {rack.name for rack in design.racks}
    unknown = [pair for pair in inputs.options.cabling.distances_m if not set(pair.split("/")) <= names]
    if unknown:
        yield Finding(
            id="distance-unknown",
            severity="warning",
            where=listed(unknown),
            text=f"a way is given to a rack that is not there; the design has {design.racks[0].name} to "
            f"{design.racks[-1].name}",
            remedy="correct the names in `cabling.distances_m`",
        )


RULES: Final[tuple[Callable[[DesignInputs, Design], Iterator[Finding]], ...]] = (
    _too_many,
    _overfull,
    _lost_rack,
    _unknown_racks,
)
