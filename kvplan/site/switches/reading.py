"""Rendered configurations read back: what a switch would do with them, whichever dialect they are in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from kvplan.site.reading import yaml_in
from kvplan.site.switches.dialect import dialect_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.design import Port
    from kvplan.site.deployment import Deployment, SwitchUnit
    from kvplan.site.switches.dialect import Dialect, Tree

_FRONT_PORT: Final = re.compile(r"(?P<cage>swp(?P<number>\d+))(s(?P<leg>\d+))?")


def at(tree: Any, *keys: str) -> Any:
    """Go down a tree.

    Parameters
    ----------
    tree
        Nested mappings, or anything.
    *keys
        The way down.

    Returns
    -------
    Any
        What is there; an empty mapping where there is nothing.

    Examples
    --------
    >>> at({"a": {"b": 1}}, "a", "b"), at({"a": 1}, "a", "b")
    (1, {})
    """
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return {} if tree is None else tree


def names_in(tree: Any, *keys: str) -> list[str]:
    """List the keys at a place of a tree.

    Parameters
    ----------
    tree
        Nested mappings, or anything.
    *keys
        The way down.

    Returns
    -------
    list of str
        The keys; none where there is no mapping.
    """
    inside = at(tree, *keys)
    return [str(key) for key in inside] if isinstance(inside, dict) else []


def number_in(tree: Any, *keys: str) -> int:
    """Return a whole number at a place of a tree.

    Parameters
    ----------
    tree
        Nested mappings, or anything.
    *keys
        The way down.

    Returns
    -------
    int
        The number; 0 where there is none.
    """
    inside = at(tree, *keys)
    return inside if isinstance(inside, int) else 0


def cage_of(name: str) -> tuple[str, int, int | None] | None:
    """Take the name of a front port apart.

    Parameters
    ----------
    name
        Name of an interface.

    Returns
    -------
    tuple or None
        Name and number of the cage, and the leg of it; None for what is no front port.

    Examples
    --------
    >>> cage_of("swp3s1"), cage_of("swp7"), cage_of("eth0")
    (('swp3', 3, 1), ('swp7', 7, None), None)
    """
    found = _FRONT_PORT.fullmatch(name)
    if not found:
        return None
    leg = found["leg"]
    return found["cage"], int(found["number"]), None if leg is None else int(leg)


@dataclass(frozen=True)
class Config:
    """One rendered configuration: whose it is, the dialect that it should be in, its file, and what is in it."""

    switch: SwitchUnit
    dialect: Dialect
    path: str
    header: Tree
    content: Tree

    @property
    def name(self) -> str:
        """The switch's name."""
        return self.switch.name

    @property
    def is_fabric(self) -> bool:
        """Whether it is a switch of the fabric."""
        return self.switch.role != "management-switch"

    @cached_property
    def interfaces(self) -> Tree:
        """The interfaces by name."""
        inside = at(self.content, "interface")
        return {str(name): interface for name, interface in inside.items()} if isinstance(inside, dict) else {}

    @cached_property
    def bgp(self) -> Tree:
        """What BGP does in the default VRF."""
        inside: Tree = at(self.content, "vrf", "default", "router", "bgp")
        return inside

    @property
    def front_ports(self) -> list[str]:
        """The front ports that are in it, divided cages with them."""
        return [name for name in self.interfaces if cage_of(name)]

    @property
    def legs(self) -> list[Port]:
        """The cabled ports of the fabric."""
        return [port for port in self.switch.ports if port.kind == "fabric"]

    @property
    def links(self) -> list[Port]:
        """The cabled ports to other switches."""
        return [port for port in self.legs if not port.address]

    def is_on(self, tree: Any) -> bool:
        """Tell whether a feature is on, in the words of the dialect."""
        return bool(at(tree, "state") == "enabled" if self.dialect.is_new else at(tree, "enable") == "on")

    def addresses(self, interface: str) -> list[str]:
        """List the addresses of an interface."""
        return names_in(self.interfaces, interface, self._ip, "address")

    def gateways(self, interface: str) -> list[str]:
        """List the gateways of an interface."""
        return names_in(self.interfaces, interface, self._ip, "gateway")

    def vrf(self, interface: str) -> str:
        """Return the VRF of an interface; empty for the default one."""
        way = ("vrf",) if self.dialect.is_new else ("ip", "vrf")
        return at(self.interfaces, interface, *way) or ""

    def mtu(self, interface: str) -> int:
        """Return the frame size of an interface [B]; 0 where none is set."""
        return number_in(self.interfaces, interface, "link", "mtu")

    def breakout(self, cage: str) -> tuple[int, int] | None:
        """Return legs and lanes per leg of a divided cage; lanes 0 where none are given, None where it is whole."""
        inside = at(self.interfaces, cage, "link", "breakout")
        for key in names_in(inside):
            legs = re.fullmatch(r"(\d+)x", key)
            if legs:
                lanes = at(inside, key, "lanes-per-port")
                return int(legs[1]), int(lanes) if str(lanes).isdecimal() else 0
        return None

    def gbit_per_s(self, interface: str, cage_gbit_per_s: float) -> float:
        """Return the speed of a port: as it is set, or the share of its cage."""
        speed = re.fullmatch(r"(\d+)G", str(at(self.interfaces, interface, "link", "speed")))
        found = cage_of(interface)
        if speed or not found:
            return float(speed[1]) if speed else 0.0
        legs, _ = self.breakout(found[0]) or (1, 0)
        return cage_gbit_per_s / max(legs, 1)

    @property
    def _ip(self) -> str:
        """The key below which an interface has its addresses."""
        return "ipv4" if self.dialect.is_new else "ip"


@dataclass(frozen=True)
class Scene:
    """What the rules look at: the deployment, the tree, and each configuration that can be read, by switch."""

    deployment: Deployment
    tree: Mapping[str, str]
    configs: Mapping[str, Config]

    @property
    def fabric(self) -> Iterator[Config]:
        """The configurations of the fabric's switches."""
        return (config for config in self.configs.values() if config.is_fabric)

    @property
    def cage_gbit_per_s(self) -> float:
        """Speed of a whole cage."""
        return self.deployment.plan.parts.switch.cage_bits_per_s / 1e9

    def setting(self, name: str) -> int:
        """Return a number from the settings of switches."""
        return int(self.deployment.setting(f"switch.{name}"))

    @property
    def front_ports(self) -> Iterator[tuple[Config, str]]:
        """Each front port that is in a configuration, with the configuration."""
        return ((config, name) for config in self.configs.values() for name in config.front_ports)

    @property
    def legs(self) -> Iterator[tuple[Config, Port]]:
        """Each cabled port of the fabric's switches, with the switch's configuration."""
        return ((config, port) for config in self.fabric for port in config.legs)

    @property
    def host_legs(self) -> Iterator[tuple[Config, Port, Port]]:
        """Each leg to a host: the switch's configuration, its port, the host's port."""
        for config, port in self.legs:
            if port.address:
                yield config, port, self.deployment.port[port.peer_device, port.peer_port]

    @property
    def links(self) -> Iterator[tuple[Config, Port, Config | None]]:
        """Each leg to another switch: own configuration, own port, and the other's, where that can be read."""
        for config, port in self.legs:
            if not port.address:
                yield config, port, self.configs.get(port.peer_device)


def scene_of(deployment: Deployment, tree: Mapping[str, str]) -> Scene:
    """Read the configurations of a rendered tree.

    Parameters
    ----------
    deployment
        What was rendered.
    tree
        Texts by path.

    Returns
    -------
    Scene
        What the rules look at; a file that cannot be read is left out.
    """
    configs = {}
    for switch in deployment.switches:
        dialect = dialect_of(deployment, switch.site.cumulus)
        path = f"switches/{switch.name}.yaml"
        parts = read_parts(tree.get(path, ""))
        if dialect and parts:
            configs[switch.name] = Config(switch, dialect, path, *parts)
    return Scene(deployment, tree, configs)


def read_parts(text: str) -> tuple[Tree, Tree] | None:
    """Read header and content of a configuration.

    Parameters
    ----------
    text
        The file.

    Returns
    -------
    tuple of dict or None
        None for what is no configuration with a header.
    """
    try:
        data = yaml_in(text)
    except ValueError:
        return None
    match data:
        case [{"header": dict(header)}, {"set": dict(content)}]:
            return header, content
    return None
