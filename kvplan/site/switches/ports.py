"""The interfaces of a switch: breakouts of cages, fabric legs, loopback and management port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.schema.roles import FABRIC_ROLES
from kvplan.site.switches.system import MANAGEMENT_VRF

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.schema.design import Port
    from kvplan.site.deployment import Deployment, SwitchUnit
    from kvplan.site.switches.dialect import Dialect, Tree

GIGABIT: Final = 1e9
_RECEIVERS: Final = "adaptive-routing-receivers"
"""The design's finding about adapters that do not put packets in order again."""
WATCHED: Final = "enable"
"""How NVUE switches the PFC watchdog on in either dialect."""


def fabric_ports(switch: SwitchUnit) -> tuple[Port, ...]:
    """List the ports of a switch that carry the fabric.

    Parameters
    ----------
    switch
        The switch.

    Returns
    -------
    tuple of Port
        Ports in the order of the design.
    """
    return tuple(port for port in switch.ports if port.kind == "fabric")


def leads_to_switch(deployment: Deployment, port: Port) -> bool:
    """Tell whether a port's far end is a switch.

    Parameters
    ----------
    deployment
        Whose devices they are.
    port
        A port of a fabric switch.

    Returns
    -------
    bool
        Whether it is a link between switches.
    """
    return deployment.devices[port.peer_device].role in FABRIC_ROLES


def receivers_bar_adaptive_routing(deployment: Deployment) -> bool:
    """Tell whether the design says that adapters in the fabric rule adaptive routing out.

    Parameters
    ----------
    deployment
        The design.

    Returns
    -------
    bool
        Whether it must stay off.
    """
    return any(finding.id == _RECEIVERS for finding in deployment.design.findings)


def speed_text(port: Port) -> str:
    """Write the speed of a port as NVUE does.

    Parameters
    ----------
    port
        A port.

    Returns
    -------
    str
        A speed such as `400G`.
    """
    return f"{int(port.bits_per_s / GIGABIT)}G"


def adaptive_ports(deployment: Deployment, switch: SwitchUnit) -> frozenset[str]:
    """List the ports with adaptive routing: all links to switches, or none.

    All next hops of a route must have it, so one link that is too fast rules it out for the switch. So do receivers
    that the design warns of.

    Parameters
    ----------
    deployment
        The build options and settings.
    switch
        The switch.

    Returns
    -------
    frozenset of str
        Names of ports; empty where the build options do not ask for it, or where it cannot work.
    """
    links = [port for port in fabric_ports(switch) if leads_to_switch(deployment, port)]
    most = float(deployment.setting("switch.adaptive_routing_most_gbit_per_s")) * GIGABIT
    is_asked_for = deployment.site.build.fabric.adaptive_routing and not receivers_bar_adaptive_routing(deployment)
    is_on = is_asked_for and all(port.bits_per_s <= most for port in links)
    return frozenset(port.name for port in links if is_on)


def fabric_interfaces(deployment: Deployment, switch: SwitchUnit, dialect: Dialect) -> Tree:
    """Write the interfaces of a switch of the fabric.

    Parameters
    ----------
    deployment
        The Site and the design.
    switch
        The switch.
    dialect
        How its release writes it.

    Returns
    -------
    dict
        Loopback, management port, divided cages and legs by name.
    """
    ports = fabric_ports(switch)
    adaptive = adaptive_ports(deployment, switch)
    return {
        "lo": {"type": "loopback", **dialect.addressed(switch.device.loopback)},
        "eth0": management_interface(deployment, dialect, switch.device.management_address),
        **_breakouts(ports),
        **{port.name: _leg(deployment, port, dialect, is_adaptive=port.name in adaptive) for port in ports},
    }


def management_interface(deployment: Deployment, dialect: Dialect, address: str) -> Tree:
    """Write eth0, which is in the management VRF always.

    Parameters
    ----------
    deployment
        The Site's gateway.
    dialect
        How the release writes it.
    address
        The address with the length of its prefix; empty where another interface has it.

    Returns
    -------
    dict
        The interface.
    """
    gateway = deployment.site.network.management_gateway or ""
    addresses = (address,) if address else ()
    mtu = int(deployment.setting("switch.management_mtu_bytes"))
    placed = dialect.addressed(*addresses, vrf=MANAGEMENT_VRF, gateway=gateway if address else "")
    return {"type": "eth", **placed, "link": {"mtu": mtu}}


def _breakouts(ports: Iterable[Port]) -> Tree:
    """Divide the cages; a port that is divided holds nothing else."""
    return {
        port.cage: {"type": "swp", "link": {"breakout": {f"{port.cage_legs}x": {"lanes-per-port": str(port.lanes)}}}}
        for port in ports
        if port.cage_legs > 1
    }


def _leg(deployment: Deployment, port: Port, dialect: Dialect, *, is_adaptive: bool) -> Tree:
    """Write a leg: up, with the frame size of the fabric, routed to a host by its /31, watched for storms of pauses."""
    is_link = leads_to_switch(deployment, port)
    link = {"state": {"up": {}}, "mtu": deployment.site.network.fabric_mtu_bytes}
    return {
        "type": "swp",
        "description": f"{port.peer_device} {port.peer_port}",
        "link": link | ({"speed": speed_text(port)} if dialect.sets_speed else {}),
        **({} if is_link else dialect.addressed(port.address)),
        **({} if is_link else {"qos": {"pfc-watchdog": {"state": WATCHED}}}),
        **({"router": {"adaptive-routing": dialect.enabled}} if is_adaptive else {}),
    }
