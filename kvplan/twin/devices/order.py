"""What devices are ordered: everything that they are and know, as data, so that another process can be them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.schema.base import Record
from kvplan.schema.roles import FABRIC_ROLES
from kvplan.site.secrets import controller_secret
from kvplan.twin.nvue.wiring import wiring_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kvplan.schema.site.machines import BmcKind
    from kvplan.site.deployment import Deployment, Server, SwitchUnit

REDFISH_PORT: Final = 443
"""Where controllers listen, as the inventory has it."""
PACKAGES_PORT: Final = 8081
"""Where packages are served, beside the port of the boot media."""
INSTALLER_S: Final = 3.0
"""How long an installer works [s]: long enough to be seen."""
KINDS: Final[Mapping[BmcKind, str]] = {
    "supermicro-x10": "x10-config-cd",
    "supermicro-x12": "stale-image-name",
    "supermicro-x13": "only-usbcd-boots",
    "supermicro-ami": "override-lost-once",
    "openbmc": "openbmc",
    "generic": "clean",
}
"""How a controller of each kind behaves."""


class ServerOrder(Record):
    """A server and its controller.

    `drives` are the serial numbers of the boot drives that are really in it, `profile` is how its controller behaves.
    """

    name: str
    serial: str
    model: str
    address: str
    port: int = REDFISH_PORT
    user: str
    password: str
    profile: str
    drives: tuple[str, ...]


class SwitchOrder(Record):
    """A switch, its address, and who logs in to it; `fabric` is true of those that the rack has a namespace for."""

    name: str
    version: str
    address: str
    user: str
    password: str
    fabric: bool


class CableOrder(Record):
    """The two ends of a cable."""

    device: str
    port: str
    peer: str
    peer_port: str


class LegOrder(Record):
    """What a host does at its end of a cable: its address with length, and its AS number."""

    device: str
    port: str
    address: str
    asn: int


class DevicesOrder(Record):
    """All devices of a rack.

    `rack` is the rack's directory, `media` the address and port of the packages, `user` the deployer's account on a
    server that was installed.
    """

    rack: str
    media: str
    media_port: int = PACKAGES_PORT
    user: str
    installer_s: float = INSTALLER_S
    servers: tuple[ServerOrder, ...]
    switches: tuple[SwitchOrder, ...]
    cables: tuple[CableOrder, ...]
    legs: tuple[LegOrder, ...]


def devices_order(
    deployment: Deployment,
    secrets: Mapping[str, str],
    rack: Path,
    *,
    profiles: Mapping[str, str] | None = None,
) -> DevicesOrder:
    """Order the devices of a deployment.

    Parameters
    ----------
    deployment
        What is deployed.
    secrets
        The values of its secrets, by the names of `kvplan.site.secrets.secret_references`.
    rack
        Directory of the rack that they are in.
    profiles
        Profiles of controllers by server, for those that are not to behave as their kind does.

    Returns
    -------
    DevicesOrder
        The order; machines that the rack lacks are left out by who carries it out.
    """
    wiring = wiring_of(deployment)
    chosen = profiles or {}
    return DevicesOrder(
        rack=str(rack),
        media=deployment.site.media.address,
        user=deployment.site.access.user,
        servers=tuple(_server(server, secrets, chosen.get(server.name)) for server in deployment.servers),
        switches=tuple(_switch(deployment, switch, secrets) for switch in deployment.switches),
        cables=tuple(
            CableOrder(device=near[0], port=near[1], peer=far[0], peer_port=far[1])
            for near, far in wiring.far.items()
            if near < far
        ),
        legs=tuple(
            LegOrder(device=end[0], port=end[1], address=leg.address, asn=leg.asn) for end, leg in wiring.legs.items()
        ),
    )


def _server(server: Server, secrets: Mapping[str, str], profile: str | None) -> ServerOrder:
    """Order a server."""
    bmc = server.site.bmc
    return ServerOrder(
        name=server.name,
        serial=server.site.serial,
        model=server.site.model,
        address=bmc.address,
        user=bmc.user,
        password=secrets[controller_secret(server.name)],
        profile=profile or KINDS[bmc.kind],
        drives=server.site.boot_drives.serials,
    )


def _switch(deployment: Deployment, switch: SwitchUnit, secrets: Mapping[str, str]) -> SwitchOrder:
    """Order a switch, which has its address and the planned password since it configured itself."""
    return SwitchOrder(
        name=switch.name,
        version=switch.site.cumulus,
        address=switch.device.management_address.partition("/")[0],
        user=deployment.site.access.switch_user,
        password=secrets["switch_password"],
        fabric=switch.role in FABRIC_ROLES,
    )
