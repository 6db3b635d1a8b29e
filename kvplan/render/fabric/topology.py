"""The fabric as it is drawn: boxes of one or more devices, in pods and leaf pairs, and bundles between the boxes.

A small fabric has a box for each switch. In a large one what is alike shares a box: leaf pairs with the same machines,
the spines of a pod, pods that are built alike. A drawing then shows one of them and says how many there are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from kvplan.render.fabric.bundles import Bundle, bundles_between
from kvplan.render.fabric.pods import pods_of
from kvplan.render.fabric.words import OUTWARDS

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from kvplan.render.fabric.pods import Pair, PodParts
    from kvplan.schema.design import Design, Device
    from kvplan.schema.roles import Rail, Role

MOST_PAIRS = 2
"""Leaf pairs that are drawn one by one."""
MOST_SPINES = 4
"""Spines, or super-spines, that are drawn one by one."""
MOST_KINDS = 2
"""Kinds of leaf pairs, or of pods, that are drawn beside each other."""


class _Sorted(Protocol):
    """Something of a kind, and more roughly with certain machines."""

    @property
    def kind(self) -> Hashable: ...
    @property
    def roles(self) -> Hashable: ...


_SortedT = TypeVar("_SortedT", bound=_Sorted)


@dataclass(frozen=True, slots=True)
class Box:
    """Devices of one role and rail that are drawn as one; `each` is the fewest and the most that one group has.

    A group is a leaf pair for leaves and machines, a pod for spines.
    """

    id: str
    role: Role
    rail: Rail
    names: tuple[str, ...]
    models: tuple[str, ...]
    each: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Block:
    """Leaf pairs that are alike, drawn as one, with the machines below."""

    pairs: tuple[int, ...]
    leaves: tuple[Box, ...]
    machines: tuple[Box, ...]


@dataclass(frozen=True, slots=True)
class Pod:
    """Pods that are alike, drawn as one: spines, and leaf pairs below."""

    numbers: tuple[int, ...]
    spines: tuple[Box, ...]
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Topology:
    """Everything that a fabric diagram shows, from the core outwards; `apart` has no link to the fabric."""

    super_spines: tuple[Box, ...]
    pods: tuple[Pod, ...]
    apart: tuple[Box, ...]
    bundles: tuple[Bundle, ...] = ()
    management_links: int = 0

    def tiers(self) -> Iterator[tuple[Box, ...]]:
        """Yield the boxes tier by tier, from the core outwards."""
        blocks = [block for pod in self.pods for block in pod.blocks]
        yield self.super_spines
        yield tuple(box for pod in self.pods for box in pod.spines)
        yield tuple(box for block in blocks for box in block.leaves)
        yield tuple(box for block in blocks for box in block.machines)

    def groups_of(self, box: Box) -> int:
        """Return how many pairs or pods a box is drawn once for."""
        for pod in self.pods:
            if box in pod.spines:
                return len(pod.numbers)
            for block in pod.blocks:
                if box in (*block.leaves, *block.machines):
                    return len(block.pairs)
        return 1


def topology(design: Design) -> Topology:
    """Arrange a Design as it is drawn.

    Parameters
    ----------
    design
        The design.

    Returns
    -------
    Topology
        Boxes and bundles; each device is in one box.
    """
    supers = _one_by_one([device for device in design.devices if device.role == "super-spine"], 1)
    pods = tuple(_pod(alike) for alike in _alike(pods_of(design)))
    drawn = Topology(supers, pods, ())
    placed = {name: box.id for tier in drawn.tiers() for box in tier for name in box.names}
    apart = _by_role([[device for device in design.devices if device.name not in placed]])
    links = sum(cable.network == "management" for cable in design.cables)
    return replace(drawn, apart=apart, bundles=bundles_between(design, placed), management_links=links)


def _pod(alike: list[PodParts]) -> Pod:
    """Draw pods that are alike as one."""
    pairs = [pair for pod in alike for pair in pod.pairs]
    few = len(alike) == 1 and len(pairs) <= MOST_PAIRS
    return Pod(
        tuple(pod.number for pod in alike),
        _one_by_one([spine for pod in alike for spine in pod.spines], len(alike)),
        tuple(_block(kind) for kind in ([[pair] for pair in pairs] if few else _alike(pairs))),
    )


def _block(alike: list[Pair]) -> Block:
    """Draw leaf pairs that are alike as one."""
    leaves: dict[Rail, list[Device]] = defaultdict(list)
    for leaf in (leaf for pair in alike for leaf in pair.leaves):
        leaves[leaf.rail].append(leaf)
    return Block(
        tuple(pair.number for pair in alike),
        tuple(_box(devices, (1, 1)) for _, devices in sorted(leaves.items())),
        _by_role([list(pair.machines) for pair in alike]),
    )


def _alike(items: Iterable[_SortedT]) -> list[list[_SortedT]]:
    """Group what is alike, more roughly where that leaves too many groups."""
    found = list(items)
    by_kind = _grouped(found, [item.kind for item in found])
    if len(by_kind) <= MOST_KINDS:
        return by_kind
    by_roles = _grouped(found, [item.roles for item in found])
    return by_roles if len(by_roles) <= MOST_KINDS else [found]


def _grouped(items: list[_SortedT], keys: list[Hashable]) -> list[list[_SortedT]]:
    """Group items by their keys, in the order in which the keys appear."""
    groups: dict[Hashable, list[_SortedT]] = {}
    for item, key in zip(items, keys, strict=True):
        groups.setdefault(key, []).append(item)
    return list(groups.values())


def _one_by_one(devices: list[Device], groups: int) -> tuple[Box, ...]:
    """Give each switch its box while they are few, else draw them as one."""
    if groups == 1 and len(devices) <= MOST_SPINES:
        return tuple(_box([device], (1, 1)) for device in sorted(devices, key=lambda device: device.number))
    each = len(devices) // groups
    return (_box(devices, (each, each)),) if devices else ()


def _by_role(groups: list[list[Device]]) -> tuple[Box, ...]:
    """Draw the devices of each role as one, counted in each group."""
    by_role: dict[Role, list[Device]] = {role: [] for role in OUTWARDS}
    for device in (device for group in groups for device in group):
        by_role[device.role].append(device)
    counts = [Counter(device.role for device in group) for group in groups]
    return tuple(
        _box(devices, (min(count[role] for count in counts), max(count[role] for count in counts)))
        for role, devices in by_role.items()
        if devices
    )


def _box(devices: list[Device], each: tuple[int, int]) -> Box:
    """Draw devices as one box, called after the first of them."""
    ordered = sorted(devices, key=lambda device: device.number)
    first = ordered[0]
    models = tuple(dict.fromkeys(device.model for device in ordered))
    return Box(first.name, first.role, first.rail, tuple(device.name for device in ordered), models, each)
