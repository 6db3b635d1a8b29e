"""Rows of the tables that a bill of materials adds to the Plan's parts: the kit of each device, and spares."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Final, Literal

from pydantic import Field

from kvplan.schema.hardware import PartNumberKnown, PositiveInt, Row

GroupId = Literal[
    "storage", "clients", "fabric", "cabling", "management", "racks", "software", "support", "spares", "services"
]
"""The groups of a quote, in the order in which they are printed."""
GROUP_TITLES: dict[GroupId, str] = {
    "storage": "Storage nodes",
    "clients": "GPU servers",
    "fabric": "Fabric switches",
    "cabling": "Cables and optics",
    "management": "Management",
    "racks": "Racks and power",
    "software": "Software and subscriptions",
    "support": "Support",
    "spares": "Spares",
    "services": "Services",
}
Per = Literal[
    "project", "storage-node", "client-server", "control-node", "fabric-switch", "management-switch", "rack",
    "free-rack-unit", "cable", "cable-end", "fibre-end", "uplink", "uplink-end", "lead-end", "adapter", "gpu", "raw-tb",
    "usable-tb",
]  # fmt: skip
"""What a kit row is counted by.

Terabytes are begun ones; GPU servers and their GPUs, adapters, racks and power leads those that are quoted, be it only
in part; uplinks those of the management switches to the network of the site.
"""
Times = Literal[
    "one", "sockets", "supplies", "supplies-a", "supplies-b", "empty-bays", "atx-adapters", "low-profile-adapters",
    "gpus",
]  # fmt: skip
"""What of a device multiplies the quantity; the supplies on feed A are half of them, an odd one included."""
PartKind = Literal[
    "heading", "chassis", "drive", "gpu", "adapter", "switch", "copper", "fibre", "patch", "transceiver", "rack", "kit",
    "spare",
]  # fmt: skip
"""What a line is: a heading, a part of Plan or design, a kit row, or the spare of any of these."""
SPARED_KINDS: Final[frozenset[PartKind]] = frozenset({"drive", "adapter", "copper", "fibre", "patch", "transceiver"})
"""Kinds of parts that a row of spares may name; kit rows it names by their id."""
When = Literal[
    "always", "c14-inlet", "c20-inlet", "clients-quoted", "racks-quoted", "racks-there", "fibre", "host-ports",
    "several-racks",
]  # fmt: skip
"""What must be so for a kit row to be bought: of the whole build, or of a device the inlet of its supplies."""
Adds = Literal["nothing", "capacity", "outlets"]
"""What is printed behind the title of a kit row."""
Topic = Literal["", "bracket", "capacity-licence", "freight", "in-the-box", "pdu-network"]
"""What is to be said about a part elsewhere: that something of it is open, or that it is in the quote."""
Share = Annotated[Decimal, Field(ge=0, le=1)]


class KitRow(Row):
    """One thing that a build needs beside the parts that the Plan names, and what it is counted by.

    A row without a group goes with the device that it is counted by, as a minor line of it; a row with a group stands
    there by itself, counted over everything in `per`. The quantity of a line is `quantity x times x count of per`, of
    a row with a group `quantity x ceil(count of per / each)`.

    `when` limits the row to builds in which something is present, `models` to devices of those catalogue ids, where it
    `replaces` another row by its id. `per_model` says that each model has a part of its own, such as its rails. What
    is `included` comes with the device and takes no price; it is listed so that spares can be bought of it. `adds`
    prints the terabytes that a licence covers, or the outlets that a power distribution unit must have, behind the
    title. `topic` marks what is said of the part elsewhere.
    """

    vendor: str = ""
    part_number: str = ""
    part_number_known: PartNumberKnown = "confirmed"
    group: GroupId | None = None
    per: Annotated[tuple[Per, ...], Field(min_length=1)]
    quantity: PositiveInt = 1
    each: PositiveInt = 1
    times: Times = "one"
    unit: str = "each"
    when: When = "always"
    models: tuple[str, ...] = ()
    replaces: str = ""
    per_model: bool = False
    adds: Adds = "nothing"
    term_months: PositiveInt | None = None
    topic: Topic = ""
    optional: bool = False
    included: bool = False


class SpareRow(Row):
    """How many spares of a kind a build keeps: a share of what is installed, at least so many of each part.

    `covers` says what is spared: kinds of parts, which are `SPARED_KINDS`, or kit rows by their id. Of a part of which
    fewer than `from_installed` are installed, no spare is bought.
    """

    rate: Share
    minimum: Annotated[int, Field(ge=0)] = 1
    covers: Annotated[tuple[str, ...], Field(min_length=1)]
    from_installed: PositiveInt = 1
