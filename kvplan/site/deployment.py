"""A Plan, its design and a Site as one: each machine with everything that a file about it says."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.schema.roles import FABRIC_ROLES, SERVER_ROLES, SWITCH_ROLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.schema.design import Cable, Design, Device, Port
    from kvplan.schema.hardware import Nic
    from kvplan.schema.plan import Plan
    from kvplan.schema.roles import Role
    from kvplan.schema.setting import Compatibility, Setting
    from kvplan.schema.site.machines import ServerSite, SwitchSite
    from kvplan.schema.site.site import Site
    from kvplan.schema.software import CacheBackend, StorageRelease

_STEMS: Final = {"client": "client_nic", "storage": "storage_nic", "nic": "gpu_nic"}


class Names(NamedTuple):
    """The names of a server: in the inventory, on the management network, and of its Storage Scale daemon."""

    inventory: str
    admin: str
    daemon: str
    domain: str

    @property
    def admin_fqdn(self) -> str:
        """The admin name with its domain."""
        return f"{self.admin}.{self.domain}"

    @property
    def daemon_fqdn(self) -> str:
        """The daemon name with its domain."""
        return f"{self.daemon}.{self.domain}"


class HostPort(NamedTuple):
    """A fabric port of a server: the design's port, its MAC address, its adapter, and the switch port at the far end.

    `card` counts the adapters of a stem from 1, `lane` the ports of a card from 0.
    """

    port: Port
    mac: str
    nic: Nic
    card: int
    lane: int
    peer: Port

    @property
    def name(self) -> str:
        """The interface's name, which is pinned to the MAC address."""
        return self.port.name

    @property
    def address(self) -> str:
        """Its address without the length, which is always /31."""
        return self.port.address.partition("/")[0]

    @property
    def gateway(self) -> str:
        """The switch's address on the same /31."""
        return self.peer.address.partition("/")[0]


class ManagementPort(NamedTuple):
    """A management port of a server: the design's port and, of a host's port, its MAC address where it is known."""

    port: Port
    mac: str

    @property
    def address(self) -> str:
        """Its address without the length of the prefix."""
        return self.port.address.partition("/")[0]


@dataclass(frozen=True)
class Server:
    """One server: its device, what the Site says of it, its names and its ports."""

    device: Device
    site: ServerSite
    names: Names
    fabric: tuple[HostPort, ...]
    management: tuple[ManagementPort, ...]
    controllers: tuple[Port, ...]

    @property
    def name(self) -> str:
        """Its inventory name."""
        return self.device.name

    @property
    def role(self) -> Role:
        """What it is."""
        return self.device.role

    @property
    def loopback(self) -> str:
        """Its loopback address without length; empty for a control node."""
        return self.device.loopback.partition("/")[0]

    @property
    def admin_address(self) -> str:
        """Where it is reached over the management network; a server without a port there is a ValueError."""
        if not self.management:
            message = f"{self.name} has no management port: set build.management.host_ports to 1 or 2"
            raise ValueError(message)
        return self.management[0].address

    @property
    def daemon_address(self) -> str:
        """Where its Storage Scale daemon is reached; its management address where it has no loopback."""
        return self.loopback or self.admin_address


@dataclass(frozen=True)
class SwitchUnit:
    """One switch: its device, what the Site says of it, and its ports in the order of the front."""

    device: Device
    site: SwitchSite
    ports: tuple[Port, ...]

    @property
    def name(self) -> str:
        """Its name."""
        return self.device.name

    @property
    def role(self) -> Role:
        """What it is."""
        return self.device.role


@dataclass(frozen=True)
class Deployment:
    """Everything that files are made from.

    `backend` is the row of the Site's cache back end, `release` that of its Storage Scale release or the nearest one.
    A machine of the design that the Site lacks is left out of `servers` or `switches`; `kvplan check` names it.
    """

    plan: Plan
    plan_sha256: str
    site: Site
    design: Design
    settings: Mapping[str, Setting]
    compatibility: tuple[Compatibility, ...]
    backend: CacheBackend
    release: StorageRelease

    @cached_property
    def devices(self) -> dict[str, Device]:
        """The devices of the design by name."""
        return {device.name: device for device in self.design.devices}

    @cached_property
    def ports(self) -> dict[str, tuple[Port, ...]]:
        """The ports of each device, in the order of the design."""
        held: dict[str, list[Port]] = {name: [] for name in self.devices}
        for port in self.design.ports:
            held[port.device].append(port)
        return {name: tuple(ports) for name, ports in held.items()}

    @cached_property
    def port(self) -> dict[tuple[str, str], Port]:
        """Each port by device and name."""
        return {(port.device, port.name): port for port in self.design.ports}

    @cached_property
    def cables(self) -> dict[str, Cable]:
        """Each cable by id."""
        return {cable.id: cable for cable in self.design.cables}

    @cached_property
    def servers(self) -> tuple[Server, ...]:
        """The servers that design and Site both have: by role, then by number."""
        known = {server.name: server for server in self.site.servers}
        devices = (device for device in self.devices.values() if device.role in SERVER_ROLES and device.name in known)
        return tuple(
            self._server(device, known[device.name]) for device in sorted(devices, key=lambda device: device.rank)
        )

    @cached_property
    def switches(self) -> tuple[SwitchUnit, ...]:
        """The switches that design and Site both have, management switches with them: by role, then by number."""
        known = {switch.name: switch for switch in self.site.switches}
        devices = (device for device in self.devices.values() if device.role in SWITCH_ROLES and device.name in known)
        return tuple(
            SwitchUnit(device, known[device.name], self.ports[device.name])
            for device in sorted(devices, key=lambda device: device.rank)
        )

    @property
    def storage(self) -> tuple[Server, ...]:
        """The storage nodes."""
        return self.in_role("storage")

    @property
    def clients(self) -> tuple[Server, ...]:
        """The GPU servers."""
        return self.in_role("client")

    @property
    def control(self) -> tuple[Server, ...]:
        """The control nodes."""
        return self.in_role("control")

    @property
    def fabric_switches(self) -> tuple[SwitchUnit, ...]:
        """The switches that carry the fabric."""
        return tuple(switch for switch in self.switches if switch.role in FABRIC_ROLES)

    def in_role(self, role: Role) -> tuple[Server, ...]:
        """List the servers of a role."""
        return tuple(server for server in self.servers if server.role == role)

    def names_of(self, device: str) -> Names:
        """Name a server: the one place where the suffixes are put on."""
        suffixes = self.site.names
        domain = self.site.network.domain
        return Names(device, f"{device}{suffixes.admin_suffix}", f"{device}{suffixes.daemon_suffix}", domain)

    def setting(self, setting_id: str) -> str | int | float | bool:
        """Return the value of a setting.

        Parameters
        ----------
        setting_id
            Its id, such as `scale.worker_threads`.

        Returns
        -------
        str or int or float or bool
            The value as its table has it.

        Raises
        ------
        KeyError
            When no table has it.
        """
        return self.settings[setting_id].value

    def _server(self, device: Device, site: ServerSite) -> Server:
        """Gather one server."""
        ports = self.ports[device.name]
        return Server(
            device=device,
            site=site,
            names=self.names_of(device.name),
            fabric=tuple(self._host_port(port, site) for port in ports if port.kind == "fabric"),
            management=tuple(
                ManagementPort(port, site.macs.get(port.name, "")) for port in ports if port.kind == "host"
            ),
            controllers=tuple(port for port in ports if port.kind in ("controller", "adapter-controller")),
        )

    def _host_port(self, port: Port, site: ServerSite) -> HostPort:
        """Gather one fabric port; `client1p0` is port 0 of the first adapter towards the clients."""
        stem = port.name.rstrip("0123456789p")
        card, _, lane = port.name.removeprefix(stem).partition("p")
        nic: Nic = getattr(self.plan.parts, _STEMS[stem])
        peer = self.port[port.peer_device, port.peer_port]
        return HostPort(port, site.macs.get(port.name, ""), nic, int(card), int(lane), peer)
