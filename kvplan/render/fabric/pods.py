"""Leaf pairs with their machines, and the pods that they and the spines are in."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.schema.roles import SERVER_ROLES

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
    """Part the fabric into pods."""
    pairs: dict[int, list[Pair]] = defaultdict(list)
    spines: dict[int, list[Device]] = defaultdict(list)
    for pair in _pairs(design):
        pairs[pair.leaves[0].pod].append(pair)
    for device in design.devices:
        if device.role == "spine":
            spines[device.pod].append(device)
    return [PodParts(number, tuple(spines[number]), tuple(its_pairs)) for number, its_pairs in sorted(pairs.items())]


def _pairs(design: Design) -> Iterable[Pair]:
    """Put leaves and the machines that are cabled to them together."""
    cabled = {port.device for port in design.ports if port.network != "management"}
    leaves: dict[int, list[Device]] = defaultdict(list)
    machines: dict[int, list[Device]] = defaultdict(list)
    for device in design.devices:
        if device.role == "leaf":
            leaves[device.pair].append(device)
        elif device.role in SERVER_ROLES and device.name in cabled:
            machines[device.pair].append(device)
    return [Pair(number, tuple(leaves[number]), tuple(machines[number])) for number in sorted(leaves)]
