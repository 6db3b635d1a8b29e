"""Rules about racks: how many there are, what they bear, and what a lost rack takes along."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from kvplan.schema.design import Finding
from kvplan.units import counted, listed

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
            where=counted(len(design.racks), "rack"),
            text=f"it takes {len(design.racks):,} racks, and there are {available:,}",
            remedy="more racks, more power a rack, or GPU servers that stand elsewhere",
        )


def _overfull(_inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report racks beyond their height or weight; a device that no rack takes stands alone."""
    units = design.racks[0].units
    beyond = [device for device in design.devices if device.units.start < 1 or device.units.stop - 1 > units]
    if beyond:
        yield Finding(
            id="rack-units",
            severity="error",
            where=listed([f"{device.rack} {device.name}" for device in beyond]),
            text=f"{beyond[0].rack_units} units do not fit into a rack of {units}",
            remedy="a higher rack, or fewer reserved units",
        )
    heavy = [rack for rack in design.racks if rack.weight_kg > rack.weight_limit_kg]
    if heavy:
        yield Finding(
            id="rack-weight",
            severity="error",
            where=listed([rack.name for rack in heavy]),
            text=f"up to {max(rack.weight_kg for rack in heavy):,.0f} kg, a rack bears "
            f"{heavy[0].weight_limit_kg:,.0f} kg",
            remedy="a higher limit if the floor bears it",
        )


def _lost_rack(inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report what a lost rack takes along: more storage nodes than the code survives, or the quorum."""
    nodes, survives = inputs.plan.profile.nodes, inputs.plan.profile.fault_tolerance.node_failures
    storage = [device for device in design.devices if device.role == "storage"]
    in_rack = Counter(device.rack for device in storage)
    of_group = Counter((device.rack, device.recovery_group) for device in storage)
    lost = sorted({rack for (rack, _), count in of_group.items() if count > survives})
    # Quorum needs more than half of the nodes.
    fullest = max(in_rack, key=lambda rack: in_rack[rack])
    quorum_lost = 2 * in_rack[fullest] >= nodes
    if lost:
        yield Finding(
            id="rack-lost",
            severity="warning",
            where=listed(lost),
            text=f"a rack holds up to {max(of_group.values())} storage nodes of a recovery group, the code survives "
            f"{survives}: with it lost nothing is served{', and the quorum is gone' if quorum_lost else ''}",
            remedy="`racks.storage_nodes_per_rack` spreads the nodes; a code survives racks only as failure domains",
        )
    elif quorum_lost:
        yield Finding(
            id="rack-quorum",
            severity="warning",
            where=fullest,
            text=f"{in_rack[fullest]} of {nodes} storage nodes stand in one rack: the quorum does not outlive it",
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
