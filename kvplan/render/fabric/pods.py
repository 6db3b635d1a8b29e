"""Leaf pairs with their machines, and pods: the pairs and spines that reach each other below the super-spines."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.render.fabric.links import devices_by_name
from kvplan.render.fabric.words import MACHINE_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.schema.design import Design, Device
    from kvplan.schema.roles import Role


@dataclass(frozen=True, slots=True)
class Pair:
    """A leaf pair and the machines on it."""

    number: int
    leaves: tuple[Device, ...]
    machines: tuple[Device, ...]

    @property
    def kind(self) -> tuple[tuple[Role, int], ...]:
        """What machines it has and how many of each; pairs of a kind are alike."""
        return tuple(sorted(Counter(machine.role for machine in self.machines).items()))

    @property
    def roles(self) -> tuple[Role, ...]:
        """What machines it has."""
        return tuple(role for role, _ in self.kind)


@dataclass(frozen=True, slots=True)
class PodParts:
    """The spines and leaf pairs of one pod."""

    number: int
    spines: tuple[Device, ...]
    pairs: tuple[Pair, ...]

    @property
    def kind(self) -> tuple[int, tuple[object, ...]]:
        """How many spines and which kinds of pairs it has; pods of a kind are alike."""
        return len(self.spines), tuple(sorted(pair.kind for pair in self.pairs))

    @property
    def roles(self) -> tuple[Role, ...]:
        """What machines it has."""
        return tuple(sorted({role for pair in self.pairs for role in pair.roles}))


def pods_of(design: Design) -> list[PodParts]:
    """Part the fabric into pods, each as wide as its spines reach."""
    pairs = {pair.number: pair for pair in _pairs(design)}
    spines = {device.name: device for device in design.devices if device.role == "spine"}
    neighbours = _neighbours(design)
    pods: list[PodParts] = []
    waiting = list(pairs)
    while waiting:
        reached = _reached(waiting[0], neighbours)
        waiting = [number for number in waiting if number not in reached]
        its_spines = tuple(device for name, device in spines.items() if name in reached)
        its_pairs = tuple(pair for number, pair in pairs.items() if number in reached)
        pods.append(PodParts(len(pods) + 1, its_spines, its_pairs))
    return pods


def _pairs(design: Design) -> Iterable[Pair]:
    """Put leaves and the machines that are cabled to them together."""
    cabled = {port.device for port in design.ports if port.network != "management"}
    leaves: dict[int, list[Device]] = defaultdict(list)
    machines: dict[int, list[Device]] = defaultdict(list)
    for device in design.devices:
        if device.role == "leaf":
            leaves[device.pair].append(device)
        elif device.role in MACHINE_ROLES and device.name in cabled:
            machines[device.pair].append(device)
    return [Pair(number, tuple(leaves[number]), tuple(machines[number])) for number in sorted(leaves)]


def _neighbours(design: Design) -> dict[int | str, set[int | str]]:
    """Join each leaf pair and the spines that it reaches."""
    devices = devices_by_name(design)
    joined: dict[int | str, set[int | str]] = defaultdict(set)
    for port in design.ports:
        device = devices[port.device]
        if device.role == "leaf" and port.network == "uplink":
            joined[device.pair].add(port.peer_device)
            joined[port.peer_device].add(device.pair)
    return joined


def _reached(start: int, neighbours: dict[int | str, set[int | str]]) -> set[int | str]:
    """Collect what can be reached from a leaf pair."""
    reached: set[int | str] = {start}
    edge: set[int | str] = {start}
    while edge:
        edge = {node for known in edge for node in neighbours.get(known, ())} - reached
        reached |= edge
    return reached
