"""What a rack is made of, worked out from a deployment: machines, their ports, and the cables between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from kvplan.errors import UsageError, did_you_mean
from kvplan.schema.base import Record
from kvplan.schema.roles import FABRIC_ROLES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kvplan.site.deployment import Deployment, Server, SwitchUnit

Face = Literal["rhel", "ubuntu"]
"""The operating system that a node looks like."""
NAME_LENGTH: Final = 15
"""Characters that the kernel allows for the name of an interface."""


class PortPlan(Record):
    """A port of a node: its name, MAC address, address with length, and MTU [bytes]."""

    name: str
    mac: str
    address: str
    mtu_bytes: int


class NodePlan(Record):
    """A server of the rack; the first of its `management` ports is where it is reached."""

    name: str
    hostname: str
    aliases: tuple[str, ...]
    face: Face
    version: str
    loopback: str
    management: tuple[PortPlan, ...]
    fabric: tuple[PortPlan, ...]

    @property
    def address(self) -> str:
        """Where it is reached."""
        return self.management[0].address.partition("/")[0]


class SwitchPlan(Record):
    """A switch: its name and its management address with length."""

    name: str
    address: str


class Cable(Record):
    """Two ports of the fabric that are joined."""

    device: str
    port: str
    peer: str
    peer_port: str


class RackPlan(Record):
    """All of a rack.

    `here` are the addresses of the machine that deploys, `controllers` those of the BMCs, and `managers` the management
    switches, which are all one bridge; `loose` are ports of the fabric whose far end is not in the rack, by device and
    name.
    """

    user: str
    here: tuple[str, ...]
    controllers: tuple[str, ...]
    nodes: tuple[NodePlan, ...]
    switches: tuple[SwitchPlan, ...]
    cables: tuple[Cable, ...]
    loose: tuple[tuple[str, str], ...]
    managers: tuple[SwitchPlan, ...] = ()

    def end_of(self, link: str) -> tuple[str, str]:
        """Find the port that is shut to cut a link: the switch's, or the one on the management bridge.

        Parameters
        ----------
        link
            `DEVICE:PORT` of either end, with or without `link:` before it.

        Returns
        -------
        tuple of str
            Device and port; the device is empty for the management bridge.

        Raises
        ------
        UsageError
            When there is no such link in the rack.
        """
        device, _, port = link.removeprefix("link:").partition(":")
        for cable in self.cables:
            if (device, port) in ((cable.device, cable.port), (cable.peer, cable.peer_port)):
                return cable.device, cable.port
        for index, (owner, name) in enumerate(self.bridged()):
            if (device, port) == (owner, name):
                return "", bridge_port(index)
        known = [f"{cable.peer}:{cable.peer_port}" for cable in self.cables]
        known += [f"{owner}:{name}" for owner, name in self.bridged()]
        message = f"no link {device}:{port} in the rack {did_you_mean(f'{device}:{port}', known)}"
        raise UsageError(message.rstrip())

    def bridged(self) -> tuple[tuple[str, str], ...]:
        """List the ports on the management bridge in the order that numbers them: device and name of each."""
        nodes = tuple((node.name, port.name) for node in self.nodes for port in node.management)
        return nodes + tuple((switch.name, "eth0") for switch in self.switches)


def bridge_port(index: int) -> str:
    """Name the bridge's end of a management cable.

    Parameters
    ----------
    index
        Its place among the ports on the bridge.

    Returns
    -------
    str
        A name short enough for the kernel.

    Examples
    --------
    >>> bridge_port(12)
    'mg12'
    """
    return f"mg{index}"


def rack_plan(
    deployment: Deployment, nodes: Collection[str] | None = None, switches: Collection[str] | None = None
) -> RackPlan:
    """Work out a rack.

    Parameters
    ----------
    deployment
        The Plan's design and the Site.
    nodes
        Names of the servers that are in the rack; all of the deployment without.
    switches
        Names of the switches that are in the rack; all of the deployment without.

    Returns
    -------
    RackPlan
        Its machines and the cables that have both ends among them.

    Raises
    ------
    UsageError
        When a name is not of the deployment, or that of a port is too long for the kernel.
    """
    servers = [server for server in deployment.servers if nodes is None or server.name in nodes]
    units = [switch for switch in deployment.switches if switches is None or switch.name in switches]
    fabric = [switch for switch in units if switch.role in FABRIC_ROLES]
    _all_known(nodes or (), [server.name for server in deployment.servers])
    _all_known(switches or (), [switch.name for switch in deployment.switches])
    length = deployment.servers[0].management[0].port.address.partition("/")[2]
    present = {server.name for server in servers} | {unit.name for unit in fabric}
    plan = RackPlan(
        user=deployment.site.access.user,
        here=(f"{deployment.site.media.address}/{length}",),
        controllers=tuple(f"{server.site.bmc.address}/32" for server in servers),
        nodes=tuple(_node(deployment, server) for server in servers),
        switches=tuple(_switch(switch) for switch in fabric),
        cables=tuple(_cables(deployment, present)),
        loose=tuple(_loose(deployment, present)),
        managers=tuple(_switch(switch) for switch in units if switch not in fabric),
    )
    _all_short(plan)
    return plan


def _switch(switch: SwitchUnit) -> SwitchPlan:
    """Work out a switch."""
    return SwitchPlan(name=switch.name, address=switch.device.management_address)


def _node(deployment: Deployment, server: Server) -> NodePlan:
    """Work out a node: storage nodes run RHEL, all others Ubuntu."""
    network, versions = deployment.site.network, deployment.site.versions
    is_storage = server.role == "storage"
    return NodePlan(
        name=server.name,
        hostname=server.names.admin_fqdn,
        aliases=(server.names.admin, server.names.admin_fqdn),
        face="rhel" if is_storage else "ubuntu",
        version=versions.rhel if is_storage else versions.ubuntu,
        loopback=server.device.loopback,
        management=tuple(
            PortPlan(name=held.port.name, mac=held.mac, address=held.port.address, mtu_bytes=1500)
            for held in server.management
        ),
        fabric=tuple(
            PortPlan(name=held.name, mac=held.mac, address=held.port.address, mtu_bytes=network.host_mtu_bytes)
            for held in server.fabric
        ),
    )


def _cables(deployment: Deployment, present: Collection[str]) -> Iterator[Cable]:
    """List the fabric's links between machines of the rack, each once, from the switch that is cut to part it."""
    for switch in deployment.fabric_switches:
        for port in switch.ports:
            ends = (switch.name, port.name), (port.peer_device, port.peer_port)
            is_second = port.network in {"uplink", "super-uplink"} and ends[0] > ends[1]
            if port.kind == "fabric" and {switch.name, port.peer_device} <= {*present} and not is_second:
                yield Cable(device=switch.name, port=port.name, peer=port.peer_device, peer_port=port.peer_port)


def _loose(deployment: Deployment, present: Collection[str]) -> Iterator[tuple[str, str]]:
    """List the ports of the fabric that hang loose."""
    for device in deployment.devices:
        for port in deployment.ports[device]:
            if port.kind == "fabric" and device in present and port.peer_device not in present:
                yield device, port.name


def _all_known(names: Collection[str], known: Collection[str]) -> None:
    """Refuse names that the deployment lacks."""
    for name in names:
        if name not in known:
            message = f"{name} is not in the deployment {did_you_mean(name, known)}"
            raise UsageError(message.rstrip())


def _all_short(plan: RackPlan) -> None:
    """Refuse names of ports that the kernel would."""
    ends = [(cable.device, cable.port) for cable in plan.cables]
    ends += [(cable.peer, cable.peer_port) for cable in plan.cables]
    for device, port in (*ends, *plan.loose, *plan.bridged()):
        if len(port) > NAME_LENGTH:
            message = f"port {port} of {device}: an interface's name has at most {NAME_LENGTH} characters"
            raise UsageError(message.rstrip())
