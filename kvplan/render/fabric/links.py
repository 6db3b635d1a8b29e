"""Cables and legs of a Design, put together from its ports: far ends, optics, bundles between devices."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.cabling import Medium
    from kvplan.schema.design import Cable, CableEnd, Design, Device, Port
    from kvplan.schema.roles import Role


@dataclass(frozen=True, slots=True)
class FarEnd:
    """One far end of a cable with the legs that run to it; `number` counts the ends of a breakout from 1."""

    cable: Cable
    number: int
    b: CableEnd
    a_device: Device
    b_device: Device
    legs: tuple[Port, ...]
    far_legs: tuple[Port, ...]


@dataclass(frozen=True, slots=True)
class Leg:
    """One leg of a cable: the port at its end `a` and the port that it leads to."""

    cable: Cable
    a: Port
    b: Port


@dataclass(frozen=True, slots=True)
class Optic:
    """How many transceivers of a kind sit in devices of a role, and with which fibre."""

    transceiver: str
    role: Role
    family: str
    medium: Medium
    count: int


def devices_by_name(design: Design) -> dict[str, Device]:
    """Return the devices by name."""
    return {device.name: device for device in design.devices}


def legs(design: Design) -> Iterator[Leg]:
    """Yield every leg once, by cable and by port within it."""
    for end in far_ends(design):
        yield from (Leg(end.cable, a, b) for a, b in zip(end.legs, end.far_legs, strict=True))


def far_ends(design: Design) -> Iterator[FarEnd]:
    """Yield every far end of every cable."""
    devices = devices_by_name(design)
    ports = {(port.device, port.name): port for port in design.ports}
    for cable in design.cables:
        for number, end in enumerate(cable.b, start=1):
            far = tuple(ports[end.device, name] for name in end.ports)
            near = tuple(ports[port.peer_device, port.peer_port] for port in far)
            yield FarEnd(cable, number, end, devices[cable.a.device], devices[end.device], near, far)


def optics(design: Design) -> list[Optic]:
    """Count the transceivers; a twin-port module that takes two fibres is one."""
    devices = devices_by_name(design)
    seen: dict[tuple[str, str], tuple[str, Role, str, Medium]] = {}
    for cable in design.cables:
        for end in (cable.a, *cable.b):
            if end.transceiver:
                kind = (end.transceiver, devices[end.device].role, cable.family, cable.medium)
                seen.setdefault((end.device, end.cage), kind)
    return [Optic(*kind, count) for kind, count in sorted(Counter(seen.values()).items())]


def cages_used(design: Design) -> dict[str, Counter[str]]:
    """Count the cages in use of every device, by network."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for port in design.ports:
        found[port.device].add((port.network, port.cage))
    return {device: Counter(network for network, _ in cages) for device, cages in found.items()}
