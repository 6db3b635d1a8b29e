"""Rows of the tables that a bill of materials adds to the Plan's parts: the kit of each device, and spares."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from kvplan.schema.hardware import Row

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
    "free-rack-unit", "cable", "cable-end", "gpu", "raw-tb", "usable-tb",
]  # fmt: skip
"""What a kit row is counted by; terabytes are begun ones, and client servers and GPUs those that are quoted."""
Times = Literal["one", "sockets", "supplies", "empty-bays", "atx-adapters", "low-profile-adapters", "gpus", "uplinks"]
"""What of a device multiplies the quantity; uplinks are those of a management switch to the site's network."""
Share = Annotated[Decimal, Field(ge=0, le=1)]


class KitRow(Row):
    """One thing that a build needs beside the parts that the Plan names, and what it is counted by.

    A row without a group goes with the device that it is counted by, as a minor line of it; a row with a group stands
    there by itself, counted over everything in `per`. The quantity of a line is `quantity x times x count of per`.

    `when` limits the row to builds in which something is present, `models` to devices of those catalogue ids, where it
    `replaces` another row by its id. `per_model` says that each model has a part of its own, such as its rails. What
    is `included` comes with the device and takes no price; it is listed so that spares can be bought of it. `adds`
    prints the terabytes that a licence covers, or the outlets that a power distribution unit must have, behind the
    title.
    """

    vendor: str = ""
    part_number: str = ""
    group: GroupId | None = None
    per: Annotated[tuple[Per, ...], Field(min_length=1)]
    quantity: Annotated[int, Field(ge=1)] = 1
    times: Times = "one"
    unit: str = "each"
    when: Literal[
        "always", "c14-inlet", "c20-inlet", "clients-quoted", "racks-quoted", "fibre", "host-ports", "several-racks",
    ] = "always"  # fmt: skip
    models: tuple[str, ...] = ()
    replaces: str = ""
    per_model: bool = False
    adds: Literal["nothing", "capacity", "outlets"] = "nothing"
    term_months: Annotated[int, Field(ge=1)] | None = None
    optional: bool = False
    included: bool = False


class SpareRow(Row):
    """How many spares of a kind a build keeps: a share of what is installed, at least so many of each part.

    `covers` says what is spared: `drive`, `adapter`, `copper`, `fibre`, `transceiver`, or kit rows by their id. Of a
    part of which fewer than `from_installed` are installed, no spare is bought.
    """

    rate: Share
    minimum: Annotated[int, Field(ge=0)] = 1
    covers: Annotated[tuple[str, ...], Field(min_length=1)]
    from_installed: Annotated[int, Field(ge=1)] = 1
