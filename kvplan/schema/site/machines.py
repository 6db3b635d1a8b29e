"""The machines of a Site: servers and switches as their maker labelled them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kvplan.schema.base import Record
from kvplan.schema.hardware import PositiveInt
from kvplan.schema.site.forms import Address, ControllerUser, Host, Mac, Name, Plain, SecretRef, Serial, Version

BmcKind = Literal["supermicro-x10", "supermicro-x12", "supermicro-x13", "supermicro-ami", "openbmc", "generic"]
"""Kinds of controllers that behave alike over Redfish."""


class Bmc(Record):
    """The controller of a server: where it answers, what kind it is, and who logs in."""

    address: Address
    kind: BmcKind = "supermicro-x13"
    mac: Mac | None = None
    user: ControllerUser = "ADMIN"
    password: SecretRef
    tls_verify: bool = False


class BootDrives(Record):
    """The drives that the operating system goes on, by serial number, and the window of sizes [GB] they must be in.

    Two drives are mirrored; nothing else is ever written to by an installer.
    """

    serials: Annotated[tuple[Serial, ...], Field(min_length=2, max_length=2)]
    least_gb: PositiveInt = 200
    most_gb: PositiveInt = 1_000


class DataDrives(Record):
    """What a storage node's data drives must be: how many, each of which size [GB], and which, where that is known."""

    count: PositiveInt
    size_gb: PositiveInt
    serials: tuple[Serial, ...] = ()


class ServerSite(Record):
    """One server: its name in the design, what its labels say, and its adapters.

    `macs` maps a port of the design (`mgmt1`, `client1p0`, `nic2p1`) to its MAC address; `data_drives` is absent for
    a server that stores nothing. `model` is what the asset list says stands there.
    """

    name: Name
    serial: Serial
    model: Plain
    rack: Plain | None = None
    position_u: PositiveInt | None = None
    bmc: Bmc
    macs: dict[str, Mac]
    boot_drives: BootDrives
    data_drives: DataDrives | None = None


class SwitchSite(Record):
    """One switch: its name and role in the design, its labels, and the system that it runs."""

    name: Name
    role: Literal["leaf", "spine", "super-spine", "management-switch"]
    serial: Serial
    model: Plain
    mac: Mac
    cumulus: Version


class Console(Record):
    """How a machine's serial console is reached by its kernel."""

    port: Annotated[str, Field(pattern=r"^tty(S|AMA)\d$")] = "ttyS1"
    baud: Literal[9600, 57600, 115200] = 115200


class Service(Record):
    """Something that listens: host and port."""

    host: Host
    port: Annotated[int, Field(ge=1, le=65_535)]
