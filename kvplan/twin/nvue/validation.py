"""What a release refuses: by the vendor's schema where `nvueschema` is installed, else by the shape of the tree."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kvplan.twin.nvue.trees import Tree

_TOP: Final = frozenset(
    {
        "acl",
        "bridge",
        "evpn",
        "interface",
        "maintenance",
        "mlag",
        "nve",
        "platform",
        "qos",
        "router",
        "service",
        "system",
        "vrf",
    }
)
_INTERFACE: Final = frozenset(
    {
        "acl",
        "base-interface",
        "bond",
        "bridge",
        "description",
        "dot1x",
        "evpn",
        "link",
        "lldp",
        "neighbor",
        "parent",
        "port-security",
        "ptp",
        "qos",
        "router",
        "sflow",
        "storm-control",
        "synce",
        "telemetry",
        "tunnel",
        "type",
        "vlan",
    }
)
_INTERFACE_OLD: Final = _INTERFACE | {"ip"}
_INTERFACE_NEW: Final = _INTERFACE | {"ipv4", "ipv6", "vrf"}
_NEW_DIALECT_FROM: Final = (5, 15)
_MTU: Final = range(552, 9217)
_UNKNOWN: Final = "Extra inputs are not permitted"


class Issue(NamedTuple):
    """One thing that is wrong: where, and what."""

    path: str
    message: str


def checker(release: tuple[int, int]) -> Callable[[Tree], list[Issue]]:
    """Return what validates a configuration of a release.

    Parameters
    ----------
    release
        First two numbers of the version.

    Returns
    -------
    Callable
        Lists what is wrong with a configuration: the vendor's schema, or the shape check without it.
    """
    try:
        model = import_module(f"nvueschema.models.v{release[0]}_{release[1]}").NvueConfig
    except ImportError:
        return lambda config: shape_issues(config, release)
    return lambda config: _schema_issues(model, config)


def shape_issues(config: Tree, release: tuple[int, int]) -> list[Issue]:
    """List what is wrong at the top of a configuration and at its interfaces.

    Parameters
    ----------
    config
        The configuration.
    release
        First two numbers of the version.

    Returns
    -------
    list of Issue
        Unknown keys at the top and of interfaces, and frame sizes that no port has.

    Examples
    --------
    >>> shape_issues({"interface": {"swp1": {"link": {"mtu": 9300}}}}, (5, 15))[0].path
    'interface/swp1/link/mtu'
    """
    return [*_shape_issues(config, release)]


def _shape_issues(config: Tree, release: tuple[int, int]) -> Iterator[Issue]:
    """Find what is wrong with the shape."""
    known = _INTERFACE_NEW if release >= _NEW_DIALECT_FROM else _INTERFACE_OLD
    yield from (Issue(key, _UNKNOWN) for key in config if key not in _TOP)
    for name, interface in config.get("interface", {}).items():
        yield from (Issue(f"interface/{name}/{key}", _UNKNOWN) for key in interface if key not in known)
        mtu = interface.get("link", {}).get("mtu", _MTU[0])
        if mtu not in _MTU:
            yield Issue(f"interface/{name}/link/mtu", f"Input should be from {_MTU[0]} to {_MTU[-1]}")


def _schema_issues(model: Any, config: Tree) -> list[Issue]:
    """List what the vendor's schema refuses."""
    from pydantic import ValidationError  # noqa: PLC0415 - only with the schema

    try:
        model.model_validate(config, extra="forbid")
    except ValidationError as error:
        return [Issue("/".join(str(part) for part in one["loc"]), one["msg"]) for one in error.errors()]
    return []
