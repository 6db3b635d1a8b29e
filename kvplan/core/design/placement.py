"""Which device goes into which rack: the fabric's core first, then each leaf pair with its machines."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from kvplan.core.arithmetic import ceil_div
from kvplan.core.design.machines import recovery_groups
from kvplan.core.design.names import device_name, leaf_name
from kvplan.core.design.power import client_box, control_box, storage_box, switch_box
from kvplan.core.design.racks import Item, Racks
from kvplan.core.design.uplinks import pod_of_pair

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvplan.core.design.inputs import DesignInputs
    from kvplan.core.design.machines import Machine
    from kvplan.core.design.management import Served
    from kvplan.schema.network import Fabric

SMALL_CORE: Final = 2
"""Spines that still share the first rack with the leaves; more get racks of their own."""


def place_fabric(inputs: DesignInputs, fabric: Fabric, machines: Sequence[Machine]) -> Racks:
    """Place everything but the management switches.

    Parameters
    ----------
    inputs
        The Plan, the racks and the enclosures.
    fabric
        The switches.
    machines
        Storage nodes and client servers with their leaf pairs.

    Returns
    -------
    Racks
        Racks filled in order; each leaf pair beyond the first begins a new one.

    References
    ----------
    Derived: leaves stand over their storage nodes, so that most breakout cables are short.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> from kvplan.core.design.machines import fabric_of_design, machines_of
    >>> racks = place_fabric(INPUTS, fabric_of_design(INPUTS), machines_of(INPUTS, 1))
    >>> len(racks), racks.places[0].item.name, racks.places[0].unit
    (2, 'spine-001', 39)
    """
    options = inputs.options
    racks = Racks(options.racks, switch_box(inputs, inputs.management_switch))
    core = list(_core(inputs, fabric))
    racks.place(core)
    pairs = fabric.pairs
    groups = recovery_groups(inputs, machines)
    by_pair: dict[int, list[Machine]] = defaultdict(list)
    for machine in machines:
        by_pair[machine.pair].append(machine)
    for pair in range(1, pairs + 1):
        # A pair begins a rack of its own, so that its breakout cables stay short.
        if pair > 1 or len(core) > SMALL_CORE:
            racks.open_next()
        racks.place(_pair(inputs, fabric, pair, by_pair[pair], groups))
    return racks


def place_management(inputs: DesignInputs, racks: Racks, switches: Sequence[Served]) -> None:
    """Place the management switches where the first device on each stands.

    Parameters
    ----------
    inputs
        The management switch.
    racks
        The racks so far; they are changed.
    switches
        The switches and what hangs on them.

    References
    ----------
    Derived.

    Examples
    --------
    >>> from kvplan.core.design.engine import design_of
    >>> from kvplan.reference import INPUTS
    >>> [device.position_u for device in design_of(INPUTS).devices if device.role == "management-switch"]
    [42]
    """
    box = switch_box(inputs, inputs.management_switch)
    for entry in switches:
        name = device_name("management-switch", entry.switch)
        racks.place_management(Item(name, "management-switch", entry.switch, box), entry.rack)


def _core(inputs: DesignInputs, fabric: Fabric) -> Iterator[Item]:
    """Yield super-spines and spines."""
    box = switch_box(inputs, inputs.plan.parts.switch)
    for number in range(1, fabric.super_spine_switches + 1):
        yield Item(device_name("super-spine", number), "super-spine", number, box)
    in_pod = fabric.spines_per_pod
    for number in range(1, fabric.spine_switches + 1):
        yield Item(device_name("spine", number), "spine", number, box, pod=ceil_div(number, in_pod))


def _pair(
    inputs: DesignInputs, fabric: Fabric, pair: int, machines: Sequence[Machine], groups: Mapping[str, int]
) -> Iterator[Item]:
    """Yield the leaves of a pair, the control nodes with the first, its storage nodes, and its client servers."""
    leaf, pod = switch_box(inputs, inputs.plan.parts.switch), pod_of_pair(fabric, pair)
    yield Item(leaf_name(pair, "a"), "leaf", 2 * pair - 1, leaf, pair, "a", pod)
    yield Item(leaf_name(pair, "b"), "leaf", 2 * pair, leaf, pair, "b", pod)
    if pair == 1:
        control = control_box(inputs)
        for number in range(1, inputs.options.management.control_nodes + 1):
            yield Item(device_name("control", number), "control", number, control)
    boxes = {"storage": storage_box(inputs), "client": client_box(inputs)}
    for machine in machines:
        box, group = boxes[machine.role], groups.get(machine.name, 0)
        yield Item(machine.name, machine.role, machine.number, box, pair, recovery_group=group)
