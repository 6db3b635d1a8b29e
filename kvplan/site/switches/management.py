"""The management switch: one bridge of all its ports, itself reached through it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.site.switches.ports import management_interface
from kvplan.site.switches.system import MANAGEMENT_VRF

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.deployment import Deployment, SwitchUnit
    from kvplan.site.switches.dialect import Dialect, Tree

BRIDGE: Final = "br_default"
_EVERYWHERE: Final = "0.0.0.0/0"


def uplink_names(deployment: Deployment) -> tuple[str, ...]:
    """List the ports of a management switch towards the site's own network.

    Parameters
    ----------
    deployment
        The build options and settings.

    Returns
    -------
    tuple of str
        Names of ports above the copper ones.
    """
    first = int(deployment.setting("switch.management_ports")) + 1
    return tuple(f"swp{first + index}" for index in range(deployment.site.build.management.uplinks_per_switch))


def management_network(deployment: Deployment, switch: SwitchUnit, dialect: Dialect) -> Tree:
    """Join all ports of a management switch, with the switch's own address on the bridge.

    Its own eth0 is no part of the design's cabling, so the address is that of the bridge in the management VRF.

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
        The parts `bridge`, `interface` and `vrf`.
    """
    vlan = int(deployment.setting("switch.management_vlan"))
    placed = dialect.addressed(switch.device.management_address, vrf=MANAGEMENT_VRF)
    return {
        "bridge": {
            "domain": {
                BRIDGE: {"type": "vlan-aware", "untagged": vlan, "vlan": {str(vlan): {}}, "stp": {"mode": "rstp"}}
            }
        },
        "interface": {
            "eth0": management_interface(deployment, dialect, ""),
            f"vlan{vlan}": {"type": "svi", "vlan": vlan, **placed},
            **dict(_ports(deployment, switch, vlan)),
        },
        **_default_route(deployment),
    }


def _ports(deployment: Deployment, switch: SwitchUnit, vlan: int) -> Iterator[tuple[str, Tree]]:
    """Write the ports to machines, then those towards the site."""
    mtu = int(deployment.setting("switch.management_mtu_bytes"))
    far = {port.name: f"{port.peer_device} {port.peer_port}" for port in switch.ports}
    far |= dict.fromkeys(uplink_names(deployment), "network of the site")
    for name, description in far.items():
        yield (
            name,
            {
                "type": "swp",
                "description": description,
                "link": {"state": {"up": {}}, "mtu": mtu},
                "bridge": {"domain": {BRIDGE: {"access": vlan}}},
            },
        )


def _default_route(deployment: Deployment) -> Tree:
    """Leave the management network by the site's gateway."""
    gateway = deployment.site.network.management_gateway
    if gateway is None:
        return {}
    route = {"address-family": "ipv4-unicast", "via": {gateway: {"type": "ipv4-address"}}}
    return {"vrf": {MANAGEMENT_VRF: {"router": {"static": {_EVERYWHERE: route}}}}}
