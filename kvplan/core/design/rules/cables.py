"""Rules about cables: both ends, rate, length, breakout and lanes."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from kvplan.core.network.leafspine import legs_per_cage
from kvplan.schema.design import Finding
from kvplan.schema.roles import FABRIC_ROLES
from kvplan.units import counted, format_line_rate, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kvplan.core.design.inputs import DesignInputs
    from kvplan.schema.cabling import CableFamily, Transceiver
    from kvplan.schema.design import Cable, Design, Port


def _missing(_inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report ends that no cable family joins at their rate."""
    for network, cables in _by_network(cable for cable in design.cables if cable.is_open).items():
        ends = f"{cables[0].a.connector} to {cables[0].b[0].connector}"
        yield Finding(
            id="cable-missing",
            severity="error",
            where=_named(cables),
            text=f"no cable family joins {ends} for the {network} network: {len(cables)} left open",
            remedy="add the family to a `cables.yaml` of your own, or allow another medium",
        )


def _connector(inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report a cable asked for that does not fit the connector at one of its ends."""
    families = {family.id: family for family in inputs.cables}
    wrong: dict[str, list[Cable]] = defaultdict(list)
    for cable in design.cables:
        family = families.get(cable.family)
        if family is not None and not _fits(family, cable):
            wrong[cable.network].append(cable)
    for network, cables in wrong.items():
        family, cable = families[cables[0].family], cables[0]
        has = "no module for these ends" if family.is_fibre else f"{family.a_connector} and {family.b_connector}"
        yield Finding(
            id="cable-connector",
            severity="error",
            where=_named(cables),
            text=f"{family.id} has {has}, the {network} links need {cable.a.connector} and {cable.b[0].connector}",
            remedy=f"take another family for `cabling.families.{network}`, or another adapter",
        )


def _length(_inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report a way that is longer than the longest cable of its medium."""
    short = _by_network(cable for cable in design.cables if cable.family and cable.length_m < cable.needed_m)
    for network, cables in short.items():
        worst = max(cables, key=lambda cable: cable.needed_m)
        yield Finding(
            id="cable-length",
            severity="error",
            where=_named(cables),
            text=f"{worst.family} ends at {worst.length_m:g} m, a link of network {network} needs {worst.needed_m:g} m",
            remedy="move the racks closer together"
            if worst.a.transceiver or network == "management"
            else "allow optics, or move the racks closer together",
        )


def _lanes(inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report a cable that divides the cage otherwise than the ports at its ends need."""
    families = {family.id: family for family in inputs.cables}
    modules = {module.id: module for module in inputs.transceivers}
    ports = {(port.device, port.name): port for port in design.ports}
    for network, cables in _by_network(design.cables).items():
        wrong = [
            cable
            for cable in cables
            if (family := families.get(cable.family))
            and not _divides(family, cable, ports[cable.a.device, cable.a.ports[0]], modules)
        ]
        if wrong:
            port = ports[wrong[0].a.device, wrong[0].a.ports[0]]
            yield Finding(
                id="cable-lanes",
                severity="error",
                where=_named(wrong),
                text=f"{wrong[0].family} does not divide a cage into {port.cage_legs} x "
                f"{format_line_rate(port.bits_per_s)} for {counted(len(wrong[0].b), 'end')}, as {network} links need",
                remedy="lanes and rate must agree at both ends: take the cable of that breakout",
            )


def _breakout(inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report a cage broken out further than the switch allows, and a switch with more ports than it carries."""
    switch = inputs.plan.parts.switch
    used: Counter[str] = Counter()
    for (device, cage), port in _cages(design).items():
        allowed = legs_per_cage(switch, port.bits_per_s)
        used[device] += port.cage_legs
        if port.cage_legs > allowed:
            yield Finding(
                id="breakout-cage",
                severity="error",
                where=f"{device} {cage}",
                text=f"{cage} is divided {port.cage_legs}x, {switch.id} allows {allowed}x at this rate",
                remedy="spread the ports over more cages",
            )
    for device, count in used.items():
        if switch.max_ports is not None and count > switch.max_ports:
            yield Finding(
                id="breakout-ports",
                severity="error",
                where=device,
                text=f"{count} ports after breakout, {switch.id} carries {switch.max_ports}",
                remedy="spread the machines over more leaves",
            )


def _split_uplinks(_inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report uplink cages whose legs go to two cages, which only fibre can do."""
    split = [
        cable
        for cable in design.cables
        if cable.network == "uplink" and cable.a.transceiver and len(cable.a.ports) == 1
    ]
    ends: dict[tuple[str, str], set[str]] = defaultdict(set)
    for cable in split:
        ends[cable.a.device, cable.a.cage].update(f"{end.device} {end.cage}" for end in cable.b)
    apart = [key for key, far in ends.items() if len(far) > 1]
    if apart:
        yield Finding(
            id="uplink-split",
            severity="info",
            where=listed([" ".join(key) for key in apart]),
            text=f"the legs of {len(apart)} uplink cages go to two cages each, so they are fibre also over a short way",
            remedy="a count of spines that divides the uplinks of a leaf keeps cages whole",
        )


def _one_plug(_inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report cages into which more than one copper cable goes, or copper beside a module."""
    plugs: dict[tuple[str, str], set[str]] = defaultdict(set)
    for cable in design.bought_cables:
        for end in (cable.a, *cable.b):
            # Fibres share the module of their cage; a copper cable is its own plug.
            plugs[end.device, end.cage].add(end.transceiver or cable.id)
    crowded = [f"{device} {cage}" for (device, cage), found in plugs.items() if len(found) > 1]
    if crowded:
        yield Finding(
            id="cage-plugs",
            severity="error",
            where=listed(crowded),
            text=f"{counted(len(crowded), 'cage')} would take two plugs, or modules of two kinds",
            remedy="fibre for all links of such a cage: leave the family to kvplan, or take another count of spines",
        )


RULES: Final[tuple[Callable[[DesignInputs, Design], Iterator[Finding]], ...]] = (
    _missing,
    _connector,
    _length,
    _lanes,
    _breakout,
    _split_uplinks,
    _one_plug,
)


def _by_network(cables: Iterable[Cable]) -> dict[str, list[Cable]]:
    """Group cables by the network that they carry."""
    groups: dict[str, list[Cable]] = defaultdict(list)
    for cable in cables:
        groups[cable.network].append(cable)
    return groups


def _named(cables: list[Cable]) -> str:
    """Name the first few cables and say how many more there are."""
    return listed([cable.id for cable in cables])


def _fits(family: CableFamily, cable: Cable) -> bool:
    """Tell whether a cable has the connectors that its ends have."""
    if family.is_fibre:
        return bool(cable.a.transceiver and all(end.transceiver for end in cable.b))
    return family.a_connector == cable.a.connector and all(family.b_connector == end.connector for end in cable.b)


def _divides(family: CableFamily, cable: Cable, port: Port, modules: Mapping[str, Transceiver]) -> bool:
    """Tell whether a cable has an end for each far cage, and carries the legs of each at their rate."""
    if cable.network == "management":
        return True
    if len(cable.b) > family.b_ends:
        return False
    if family.is_fibre:
        near = modules.get(cable.a.transceiver)
        return near is not None and family.b_ends == max(port.cage_legs // near.ports, 1)
    carried = (family.leg_bits_per_s or 0.0) * family.legs_per_end * family.b_ends
    alike = family.legs_per_end > 1 or family.leg_bits_per_s == port.bits_per_s
    return alike and carried >= port.bits_per_s * len(cable.a.ports)


def _cages(design: Design) -> dict[tuple[str, str], Port]:
    """Return one port of each cage of the fabric switches."""
    switches = {device.name for device in design.devices if device.role in FABRIC_ROLES}
    return {
        (port.device, port.cage): port
        for port in design.ports
        if port.device in switches and port.network != "management"
    }
