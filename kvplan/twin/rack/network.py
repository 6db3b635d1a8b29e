"""The rack's networks as commands for `ip -batch`: one bridge for management, a pair of interfaces for each cable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.twin.rack.plan import bridge_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.twin.rack.frr import PortSetting
    from kvplan.twin.rack.plan import NodePlan, PortPlan, RackPlan

BRIDGE: Final = "br-mgmt"
"""The management network, in the namespace of the machine that deploys."""
_NOWHERE: Final = "nowhere"
SWITCH_SETTINGS: Final = (
    "net.ipv4.ip_forward=1",
    "net.ipv4.fib_multipath_hash_policy=1",
    "net.ipv4.conf.all.rp_filter=0",
    "net.ipv4.conf.default.rp_filter=0",
    "net.ipv6.conf.all.forwarding=1",
    "net.ipv6.conf.default.accept_dad=0",
)
"""What makes a namespace forward as a switch does; no address is waited for, since no two can be alike."""


def building(plan: RackPlan) -> list[str]:
    """List the commands that build the namespaces, the bridge and the cables.

    Parameters
    ----------
    plan
        The rack.

    Returns
    -------
    list of str
        Lines for `ip -batch`, in the namespace of the machine that deploys.
    """
    return [
        "link set lo up",
        *(f"netns add {node.name}" for node in plan.nodes),
        *(f"netns add {switch.name}" for switch in plan.switches),
        f"link add {BRIDGE} type bridge",
        f"link set {BRIDGE} up",
        *(f"address add {address} dev {BRIDGE}" for address in (*plan.here, *plan.controllers)),
        *(f"address add {manager.address.partition('/')[0]}/32 dev {BRIDGE}" for manager in plan.managers),
        *_bridged(plan),
        *_cabled(plan),
        *_loose(plan),
    ]


def waking(switch_address: str) -> list[str]:
    """List the commands inside a switch's namespace that bring it to the management network.

    Parameters
    ----------
    switch_address
        Its management address with length.

    Returns
    -------
    list of str
        Lines for `ip -batch`.
    """
    return ["link set lo up", f"address add {switch_address} dev eth0", "link set eth0 up"]


def powered(node: NodePlan, *, on: bool, fabric: bool) -> list[str]:
    """List the commands inside a node's namespace that follow its power.

    Parameters
    ----------
    node
        The node.
    on
        Whether it is switched on; one that is off shows no carrier to its neighbours.
    fabric
        Whether its fabric ports and loopback are addressed too, or left to what is installed on it.

    Returns
    -------
    list of str
        Lines for `ip -batch`.
    """
    ports = (*node.management, *node.fabric)
    if not on:
        return [line for port in ports for line in (f"link set {port.name} down", f"address flush dev {port.name}")]
    lines = ["link set lo up", *(line for port in node.management for line in _addressed(port))]
    if fabric:
        lines += [line for port in node.fabric for line in _addressed(port)]
        lines += [f"address replace {node.loopback} dev lo"] if node.loopback else []
    else:
        lines += [f"link set {port.name} up" for port in node.fabric]
    return lines


def forgotten(node: NodePlan, *, fabric: bool) -> list[str]:
    """List the commands inside a node's namespace that let it forget what a kernel does when it starts anew.

    Parameters
    ----------
    node
        The node, whose namespace outlives its systems.
    fabric
        Whether the rack addresses its fabric ports and loopback, which then stay.

    Returns
    -------
    list of str
        Lines for `ip -batch`.
    """
    # As the kernel's own: systemd-networkd takes away rules that are neither its own nor the kernel's.
    tables = [(32766, "main"), (32767, "default")]
    rules = ["rule flush", *(f"rule add pref {rank} lookup {table} protocol kernel" for rank, table in tables)]
    own = [] if fabric else ["lo", *(port.name for port in node.fabric)]
    return [*rules, *(f"address flush dev {name} scope global" for name in own)]


def configured(wanted: dict[str, PortSetting], held: dict[str, frozenset[str]], shut: frozenset[str]) -> list[str]:
    """List the commands inside a switch's namespace that follow a configuration.

    Parameters
    ----------
    wanted
        What the configuration says, by interface.
    held
        The addresses of the interfaces that there are.
    shut
        Interfaces whose cable is cut.

    Returns
    -------
    list of str
        Lines for `ip -batch`; an interface that the configuration lacks is shut and loses its addresses.

    Examples
    --------
    >>> from kvplan.twin.rack.frr import PortSetting
    >>> wanted = {"swp1": PortSetting(9216, ("10.0.0.0/31",))}
    >>> for line in configured(wanted, {"swp1": frozenset({"10.9.9.9/31"})}, frozenset()):
    ...     print(line)
    link set swp1 mtu 9216
    address del 10.9.9.9/31 dev swp1
    address add 10.0.0.0/31 dev swp1
    link set swp1 up
    """
    lines = []
    for name, addresses in held.items():
        setting = wanted.get(name)
        new = frozenset(setting.addresses) if setting else frozenset()
        if setting and setting.mtu_bytes:
            lines.append(f"link set {name} mtu {setting.mtu_bytes}")
        lines += [f"address del {address} dev {name}" for address in sorted(addresses - new)]
        lines += [f"address add {address} dev {name}" for address in sorted(new - addresses)]
        is_up = name == "lo" or (setting is not None and name not in shut)
        lines.append(f"link set {name} {'up' if is_up else 'down'}")
    return lines


def _bridged(plan: RackPlan) -> Iterator[str]:
    """Attach every management port to the bridge."""
    macs = {(node.name, port.name): port.mac for node in plan.nodes for port in node.management}
    for index, (device, port) in enumerate(plan.bridged()):
        yield f"link add {bridge_port(index)} type veth peer name {port}{_mac(macs.get((device, port)))} netns {device}"
        yield f"link set {bridge_port(index)} master {BRIDGE} up"


def _cabled(plan: RackPlan) -> Iterator[str]:
    """Join the ports of the fabric."""
    macs = {(node.name, port.name): port.mac for node in plan.nodes for port in node.fabric}
    for cable in plan.cables:
        mac = _mac(macs.get((cable.peer, cable.peer_port)))
        yield (
            f"link add {cable.port} netns {cable.device} type veth peer name {cable.peer_port}{mac} netns {cable.peer}"
        )


def _loose(plan: RackPlan) -> Iterator[str]:
    """Give the ports that hang loose a far end that never comes up."""
    if plan.loose:
        yield f"netns add {_NOWHERE}"
    macs = {(node.name, port.name): port.mac for node in plan.nodes for port in node.fabric}
    for index, (device, port) in enumerate(plan.loose):
        mac = _mac(macs.get((device, port)))
        yield f"link add {port}{mac} netns {device} type veth peer name no{index} netns {_NOWHERE}"


def _mac(mac: str | None) -> str:
    """Write the MAC address of a port, where it is known."""
    return f" address {mac}" if mac else ""


def _addressed(port: PortPlan) -> Iterator[str]:
    """Bring a port up as it is planned."""
    yield f"link set {port.name} mtu {port.mtu_bytes} up"
    if port.address:
        yield f"address replace {port.address} dev {port.name}"
