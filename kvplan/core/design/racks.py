"""Where each device stands: racks are filled in order, switches from the top, machines from the bottom."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from kvplan.schema.roles import SERVER_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.core.design.power import Box
    from kvplan.schema.build import RackOptions
    from kvplan.schema.roles import Rail, Role


class Item(NamedTuple):
    """A device to be placed: name, role and number, what it is as a box, leaf pair and rail, pod and recovery group."""

    name: str
    role: Role
    number: int
    box: Box
    pair: int = 0
    rail: Rail = ""
    pod: int = 0
    recovery_group: int = 0


class Place(NamedTuple):
    """Where an item stands: rack and lowest unit, both from 1."""

    item: Item
    rack: int
    unit: int


@dataclass(slots=True)
class _Open:
    """A rack while it is being filled: the next free unit from below and from above, and what it carries."""

    number: int
    bottom: int
    top: int
    power_w: float = 0.0
    weight_kg: float = 0.0
    storage: int = 0
    reserved: list[int] = field(default_factory=list)

    def takes(self, item: Item, options: RackOptions, kept: Box) -> bool:
        """Tell whether an item still fits by height, power, weight and storage nodes a rack."""
        height, units = self.top - self.bottom + 1, len(self.reserved)
        # The units kept for management switches must not run out of power or weight either.
        power = self.power_w + item.box.power_max_w + units * kept.power_max_w
        weight = self.weight_kg + item.box.enclosure.weight_kg + units * kept.enclosure.weight_kg
        nodes = options.storage_nodes_per_rack
        full = item.role == "storage" and nodes is not None and self.storage >= nodes
        return height >= item.box.rack_units and power <= options.power_w and weight <= options.weight_kg and not full

    def put(self, item: Item) -> Place:
        """Place an item: switches from the top, machines from the bottom."""
        if item.role in SERVER_ROLES:
            unit, self.bottom = self.bottom, self.bottom + item.box.rack_units
        else:
            self.top -= item.box.rack_units
            unit = self.top + 1
        self._carry(item)
        return Place(item, self.number, unit)

    def put_reserved(self, item: Item) -> Place:
        """Place a management switch in a unit kept for it."""
        self._carry(item)
        return Place(item, self.number, self.reserved.pop())

    def _carry(self, item: Item) -> None:
        """Add an item's load to the rack."""
        self.power_w += item.box.power_max_w
        self.weight_kg += item.box.enclosure.weight_kg
        self.storage += item.role == "storage"


class Racks:
    """Racks filled one after the other.

    Parameters
    ----------
    options
        Size and limits of a rack.
    kept
        The management switch: power [W] and weight [kg] of one are kept free for each reserved unit.
    """

    def __init__(self, options: RackOptions, kept: Box) -> None:
        self._options = options
        self._kept = kept
        self._racks: list[_Open] = []
        self.places: list[Place] = []

    def __len__(self) -> int:
        """Count the racks that are in use."""
        return len(self._racks)

    def open_next(self) -> None:
        """Begin a new rack."""
        units, kept = self._options.units, self._options.reserved_units
        reserved = list(range(units - kept + 1, units + 1))
        self._racks.append(_Open(len(self._racks) + 1, 1, units - kept, reserved=reserved))

    def place(self, items: Iterable[Item]) -> None:
        """Place items in the last rack, and in new ones as each is full; an item that no rack takes stands alone."""
        for item in items:
            if not self._racks or not self._racks[-1].takes(item, self._options, self._kept):
                self._open_unless_empty()
            self.places.append(self._racks[-1].put(item))

    def place_management(self, item: Item, rack: int) -> None:
        """Place a management switch in a reserved unit of a rack, or of the nearest that has one left."""
        chosen = self._racks[rack - 1]
        if not chosen.reserved:
            free = [entry for entry in self._racks if entry.reserved]
            if not free:
                self.place([item])
                return
            chosen = min(free, key=lambda entry: (abs(entry.number - rack), entry.number))
        self.places.append(chosen.put_reserved(item))

    def _open_unless_empty(self) -> None:
        """Begin a new rack, unless the last one holds nothing yet."""
        if not self._racks or self._racks[-1].power_w:
            self.open_next()


def place_in_room(options: RackOptions, rack: int) -> tuple[int, int]:
    """Say where in the room a rack stands.

    row = (rack - 1) div racks a row + 1, column likewise

    Parameters
    ----------
    options
        Racks a row.
    rack
        Number of the rack, from 1 [1].

    Returns
    -------
    tuple of int
        Row and column, from 1 [1].

    References
    ----------
    Derived.

    Examples
    --------
    >>> from kvplan.schema.build import RackOptions
    >>> place_in_room(RackOptions(per_row=10), 12)
    (2, 2)
    """
    row, column = divmod(rack - 1, options.per_row)
    return row + 1, column + 1
