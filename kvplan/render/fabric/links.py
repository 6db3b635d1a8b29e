"""Cables and legs of a Design, put together from its ports, and its transceivers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.core.design.inventory import modules_fitted

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
    """Yield every leg once, by cable and by port within it; a leg over two fibres comes with the first of them."""
    for end in far_ends(design):
        joined = zip(end.legs, end.far_legs, strict=True)
        yield from (Leg(end.cable, a, b) for a, b in joined if a.cables[0] == end.cable.id)


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
    """Count the transceivers of each kind, by role of the device and by fibre."""
    devices = devices_by_name(design)
    media = {cable.family: cable.medium for cable in design.cables}
    kinds = Counter(
        (module.transceiver, devices[module.device].role, module.fibre, media[module.fibre])
        for module in modules_fitted(design.cables)
    )
    return [Optic(*kind, count) for kind, count in sorted(kinds.items())]
