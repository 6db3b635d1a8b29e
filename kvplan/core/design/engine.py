"""The physical design: from a Plan and build options to one document."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kvplan.core.design.addressing import address_ranges, management_address, numbering
from kvplan.core.design.cabling import cables_of
from kvplan.core.design.hostlinks import host_bundles
from kvplan.core.design.inventory import modules_fitted
from kvplan.core.design.machines import fabric_of_design, machines_of
from kvplan.core.design.management import management_bundles, served
from kvplan.core.design.names import rack_name
from kvplan.core.design.placement import place_fabric, place_management
from kvplan.core.design.racks import place_in_room
from kvplan.core.design.reach import Reach
from kvplan.core.design.rules import findings_of
from kvplan.core.design.states import failure_states
from kvplan.core.design.uplinks import uplink_bundles
from kvplan.schema.design import Design, Device, Port, Rack, Switches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvplan.core.design.bundles import Bundle, Leg
    from kvplan.core.design.inputs import DesignInputs
    from kvplan.core.design.racks import Place
    from kvplan.schema.design import Cable
    from kvplan.schema.network import Fabric


def design_of(inputs: DesignInputs) -> Design:
    """Rack, cable and address a Plan.

    Parameters
    ----------
    inputs
        The Plan, the build options, and the rows that both need.

    Returns
    -------
    Design
        Equal inputs give an equal design; lengths in [m], power in [W], rates in [bit/s].

    Raises
    ------
    InputError
        When a table lacks a device, or the switch cannot hold the ports.

    References
    ----------
    Each step names its own.

    Examples
    --------
    >>> from kvplan.reference import INPUTS
    >>> design = design_of(INPUTS)
    >>> design.switches.leaves + design.switches.spines, len(design.racks)
    (3, 2)
    """
    fabric = fabric_of_design(inputs)
    machines = machines_of(inputs, fabric.pairs)
    racks = place_fabric(inputs, fabric, machines)
    switches = served(inputs, racks.places)
    place_management(inputs, racks, switches)
    places = {place.item.name: place for place in racks.places}
    bundles = (
        *host_bundles(inputs, machines),
        *uplink_bundles(inputs, fabric),
        *management_bundles(inputs, switches),
    )
    cables = cables_of(inputs, bundles, Reach(inputs.options, places))
    ports = tuple(_ports(bundles, cables))
    devices = tuple(_devices(inputs, racks.places, cables))
    design = Design(
        plan_sha256=inputs.plan_sha256,
        options=inputs.options,
        catalogue=inputs.lock,
        switches=_switches(fabric, len(switches)),
        devices=devices,
        racks=tuple(_racks(inputs, devices, len(racks))),
        ports=ports,
        cables=cables,
        addresses=address_ranges(inputs.options.addresses, devices, ports),
        states=failure_states(inputs, fabric),
        findings=(),
    )
    # The rules judge a finished design, so it is made without findings first.
    return design.model_copy(update={"findings": findings_of(inputs, design)})


def _switches(fabric: Fabric, management: int) -> Switches:
    """Count the switches."""
    return Switches(
        leaves=fabric.leaf_switches,
        spines=fabric.spine_switches,
        super_spines=fabric.super_spine_switches,
        management=management,
        pairs=fabric.pairs,
        pods=fabric.pods,
        cages_down_per_leaf=fabric.cages_down_per_leaf,
        uplinks_per_leaf=fabric.uplinks_per_leaf,
        cages_per_switch=fabric.cages_per_switch,
        oversubscription=fabric.oversubscription,
    )


def _ports(bundles: Sequence[Bundle], cables: Sequence[Cable]) -> Iterator[Port]:
    """Yield both ends of every leg."""
    cables_of_port: dict[tuple[str, str], tuple[str, ...]] = defaultdict(tuple)
    for cable in cables:
        for port in cable.a.ports:
            cables_of_port[cable.a.device, port] += (cable.id,)
    for bundle in bundles:
        for leg in bundle.legs:
            joined = cables_of_port[bundle.device, leg.port]
            yield _near_port(bundle, leg, joined)
            yield _far_port(bundle, leg, joined)


def _near_port(bundle: Bundle, leg: Leg, cables: tuple[str, ...]) -> Port:
    """Build the port at the switch."""
    return Port(
        device=bundle.device,
        name=leg.port,
        cage=bundle.cage,
        cage_legs=bundle.breakout,
        kind="fabric" if bundle.network != "management" else "host",
        lanes=bundle.lanes,
        bits_per_s=bundle.bits_per_s,
        network=bundle.network,
        rail=bundle.rail,
        peer_device=leg.far.device,
        peer_port=leg.far.port,
        cables=cables,
        address=leg.near_address,
    )


def _far_port(bundle: Bundle, leg: Leg, cables: tuple[str, ...]) -> Port:
    """Build the port at the other end."""
    return Port(
        device=leg.far.device,
        name=leg.far.port,
        cage=leg.far.cage,
        cage_legs=leg.far_legs,
        kind=leg.far.kind,
        lanes=bundle.lanes,
        bits_per_s=bundle.bits_per_s,
        network=bundle.network,
        rail=bundle.rail,
        peer_device=bundle.device,
        peer_port=leg.port,
        cables=cables,
        address=leg.far_address,
    )


def _devices(inputs: DesignInputs, places: Sequence[Place], cables: Sequence[Cable]) -> Iterator[Device]:
    """Yield every device, rack by rack from the top; a switch draws what its modules draw beside its own."""
    modules = _module_power(inputs, cables)
    for place in sorted(places, key=lambda place: (place.rack, -place.unit)):
        item, box = place.item, place.item.box
        numbered = numbering(inputs.options.addresses, item.role, item.number, item.pod)
        typical = min(box.power_typical_w + modules.get(item.name, 0.0), box.power_max_w)
        yield Device(
            name=item.name,
            role=item.role,
            model=box.model,
            number=item.number,
            rack=rack_name(place.rack),
            position_u=place.unit,
            rack_units=box.rack_units,
            pair=item.pair,
            pod=item.pod,
            recovery_group=item.recovery_group,
            rail=item.rail,
            power_typical_w=round(typical, 1),
            power_max_w=round(box.power_max_w, 1),
            psu_count=box.enclosure.psu_count,
            psu_w=box.enclosure.psu_w,
            one_feed_w=box.one_feed_w,
            inlet=box.enclosure.inlet,
            weight_kg=box.enclosure.weight_kg,
            confidence=box.enclosure.confidence,
            management_address=management_address(inputs.options.addresses, item.role, item.number, 0),
            loopback=numbered.loopback,
            asn=numbered.asn,
        )


def _module_power(inputs: DesignInputs, cables: Sequence[Cable]) -> Mapping[str, float]:
    """Sum up the modules in each switch, one a cage; machines count with a module in every port already."""
    power = {module.id: module.power_w for module in inputs.transceivers}
    total: dict[str, float] = defaultdict(float)
    for module in modules_fitted(cables):
        # Only switches: no adapter has the connector of their cages.
        if module.connector == inputs.plan.parts.switch.connector:
            total[module.device] += power[module.transceiver]
    return total


def _racks(inputs: DesignInputs, devices: Sequence[Device], count: int) -> Iterator[Rack]:
    """Yield every rack with what it carries."""
    limits = inputs.options.racks
    held: dict[str, list[Device]] = defaultdict(list)
    for device in devices:
        held[device.rack].append(device)
    for number in range(1, count + 1):
        row, column = place_in_room(limits, number)
        inside = held[rack_name(number)]
        yield Rack(
            name=rack_name(number),
            row=row,
            column=column,
            units=limits.units,
            used_units=sum(device.rack_units for device in inside),
            power_typical_w=round(sum(device.power_typical_w for device in inside), 1),
            power_max_w=round(sum(device.power_max_w for device in inside), 1),
            power_limit_w=limits.power_w,
            weight_kg=round(sum(device.weight_kg for device in inside), 1),
            weight_limit_kg=limits.weight_kg,
        )
