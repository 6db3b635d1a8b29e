"""What is written in the boxes and on the bundles of a fabric drawing."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.render.fabric.bundles import legs_text, ranged
from kvplan.render.fabric.words import counted_title, spans
from kvplan.schema.roles import FABRIC_ROLES, ROLE_NOUNS
from kvplan.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kvplan.render.fabric.bundles import Bundle
    from kvplan.render.fabric.topology import Box, Topology
    from kvplan.schema.roles import Network, Rail

_SIDES: dict[Network, str] = {"storage-client": "client", "storage": "storage"}
"""What is added where machines have two networks."""


def box_lines(box: Box, groups: int = 1) -> tuple[str, str, str]:
    """Write the three lines of a box: what it is, which devices, which model.

    Parameters
    ----------
    box
        The box.
    groups
        How many pairs or pods are drawn as one.

    Returns
    -------
    tuple[str, str, str]
        Title, names and model.
    """
    rail = f", rail {box.rail}" if box.rail else ""
    model = " or ".join(box.models)
    if len(box.names) == 1:
        return box.names[0], f"{ROLE_NOUNS[box.role][0]}{rail}", model
    first, last = box.names[0], box.names[-1]
    if groups == 1:
        return f"{counted_title(len(box.names), box.role)}{rail}", f"{first} to {last}", model
    if box.role == "leaf":
        return f"Leaf{rail}", f"{first} to {last}", model
    return _each_title(box), f"{first} to {last}", f"{len(box.names):,} x {model}"


def _each_title(box: Box) -> str:
    """Write how many devices one pair or pod has."""
    fewest, most = box.each
    title = counted_title(most, box.role)
    return title if fewest == most else f"{fewest}-{title}"


def pairs_title(numbers: Sequence[int], pods: int) -> str:
    """Name the leaf pairs that a frame stands for.

    >>> pairs_title([1], 1), pairs_title([1, 2, 3, 7], 1), pairs_title(range(1, 33), 4)
    ('Leaf pair 1', '4 leaf pairs, one shown: 1 to 3, 7', '8 leaf pairs in each pod, one shown: 1 to 32')
    """
    named = spans(str(number) for number in numbers)
    if len(numbers) == 1:
        return f"Leaf pair {named}"
    each, rest = divmod(len(numbers), pods)
    alike = f"{len(numbers)} leaf pairs" if pods == 1 or rest else f"{counted(each, 'leaf pair')} in each pod"
    return f"{alike}, one shown: {named}"


def pods_title(numbers: Sequence[int]) -> str:
    """Name the pods that a frame stands for.

    >>> pods_title([3]), pods_title([1, 2, 4])
    ('Pod 3', '3 pods, one shown: 1, 2, 4')
    """
    named = spans(str(number) for number in numbers)
    return f"Pod {named}" if len(numbers) == 1 else f"{len(numbers)} pods, one shown: {named}"


@dataclass(frozen=True, slots=True)
class Route:
    """What is drawn between two boxes: one line, however many networks share it, and what it carries."""

    upper: Box
    lower: Box
    rail: Rail
    bundles: tuple[Bundle, ...]

    @property
    def label(self) -> list[str]:
        """What the line carries: of machines a line for each network, of switches what goes to each above."""
        return [uplink_label(self.bundles, self.upper)] if is_switch(self.lower) else machine_label(self.bundles)


def routes(shown: Topology) -> list[Route]:
    """Gather the bundles between two boxes into one line; the lines run from the core outwards, left to right."""
    boxes = {box.id: box for tier in shown.tiers() for box in tier}
    order = list(boxes)
    found: dict[tuple[str, str], list[Bundle]] = defaultdict(list)
    for item in shown.bundles:
        found[item.upper, item.lower].append(item)
    return [
        Route(boxes[upper], boxes[lower], bundles[0].rail or boxes[lower].rail, tuple(bundles))
        for (upper, lower), bundles in sorted(found.items(), key=lambda item: [order.index(end) for end in item[0]])
    ]


def machine_label(bundles: Iterable[Bundle]) -> list[str]:
    """Write the legs between a leaf and machines, a line for each network."""
    return [f"{legs_text(item.upper_legs, item.bits_per_s)} {_SIDES.get(item.network, '')}".strip() for item in bundles]


def uplink_label(bundles: Sequence[Bundle], upper: Box) -> str:
    """Write the legs of a switch to those above it: `12 x 400G to the spine`, `2 x 400G to each of 30 spines`.

    Parameters
    ----------
    bundles
        Bundles of the switch that lead up.
    upper
        A box above, for its role.

    Returns
    -------
    str
        The label.
    """
    joint = min(item.joint[0] for item in bundles), max(item.joint[1] for item in bundles)
    reach = sum(item.reach[0] for item in bundles), sum(item.reach[1] for item in bundles)
    legs = legs_text(joint, bundles[0].bits_per_s)
    if reach == (1, 1):
        return f"{legs} to the {ROLE_NOUNS[upper.role][0]}"
    return f"{legs} to each of {ranged(reach)} {ROLE_NOUNS[upper.role][1]}"


def is_switch(box: Box) -> bool:
    """Tell whether a box holds switches of the fabric."""
    return box.role in FABRIC_ROLES
