"""Network files of hosts read back into one form, whichever system they are for."""

from __future__ import annotations

from configparser import ConfigParser
from ipaddress import ip_interface
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kvplan.site.reading import yaml_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAIN_TABLE: Final = 0
UNREADABLE: Final = (ValueError, KeyError, TypeError, AttributeError)
"""What readers raise on a file that is not as its format demands; errors of configparser are mapped to ValueError."""
_AUTOMATIC: Final = ("auto", "dhcp", "shared")
_OFFERED: Final = {"dhcp4": False, "dhcp6": False, "accept-ra": None}
"""What netplan takes from the network, with what holds where it is not named: of the last the kernel decides."""
_DEFAULTS: Final = frozenset({"default", "0.0.0.0/0", "::/0"})


class Route(NamedTuple):
    """A route: where to, through which next hop, in which table (0 is the main one)."""

    to: str
    via: str
    table: int

    @property
    def is_default(self) -> bool:
        """Whether it leads everywhere."""
        return self.to in _DEFAULTS


class SourceRule(NamedTuple):
    """A rule: what comes from a source follows a table."""

    source: str
    table: int


class PortFile(NamedTuple):
    """A port as its file has it.

    `dns` are its name servers and `search` its search domains, `automatic` what it takes from whoever offers it on the
    network; `pinned` tells that the same file ties the name to the MAC address.
    """

    name: str
    mac: str
    addresses: tuple[str, ...]
    mtu: int | None
    routes: tuple[Route, ...]
    rules: tuple[SourceRule, ...]
    ipv6: bool
    dns: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    automatic: tuple[str, ...] = ()
    pinned: bool = False


def ini(text: str) -> ConfigParser:
    """Read a file of sections as systemd and NetworkManager write them, refusing what is there twice.

    Parameters
    ----------
    text
        The file.

    Returns
    -------
    ConfigParser
        Its sections.

    Raises
    ------
    ValueError
        When it is malformed, or has a section or key twice.
    """
    parser = ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",), strict=True)
    parser.optionxform = str  # type: ignore[method-assign,assignment]
    try:
        parser.read_string(text)
    except Exception as error:
        raise ValueError(str(error)) from error
    return parser


def from_keyfile(text: str) -> PortFile:
    """Read a connection of NetworkManager.

    Parameters
    ----------
    text
        The keyfile.

    Returns
    -------
    PortFile
        The port, whose name a .link file pins.

    Raises
    ------
    ValueError
        When it is malformed.
    KeyError
        When a section or key is missing that every connection has.
    """
    file = ini(text)
    ipv4 = file["ipv4"]
    wired = dict(file["ethernet"]) if file.has_section("ethernet") else {}
    mtu = wired.get("mtu")
    ipv6 = dict(file["ipv6"]) if file.has_section("ipv6") else {}
    return PortFile(
        name=file["connection"]["interface-name"],
        mac=wired.get("mac-address", ""),
        addresses=_checked(ipv4[key] for key in ipv4 if key.removeprefix("address").isdigit()),
        mtu=int(mtu) if mtu else None,
        routes=tuple(_keyfile_routes(dict(ipv4))),
        rules=tuple(_keyfile_rule(ipv4[key]) for key in ipv4 if key.startswith("routing-rule")),
        ipv6=ipv6.get("method", "disabled") not in ("disabled", "ignore"),
        dns=(*_listed(ipv4.get("dns", "")), *_listed(ipv6.get("dns", ""))),
        search=_listed(ipv4.get("dns-search", "")),
        automatic=tuple(
            f"{name} method={section.get('method')}"
            for name, section in (("ipv4", ipv4), ("ipv6", ipv6))
            if section.get("method") in _AUTOMATIC
        ),
    )


def from_netplan(text: str) -> dict[str, PortFile]:
    """Read a file of netplan.

    Parameters
    ----------
    text
        The YAML.

    Returns
    -------
    dict of PortFile
        Ports by name.

    Raises
    ------
    TypeError
        When something has another shape than netplan has it.
    """
    ports: dict[str, Any] = yaml_in(text)["network"]["ethernets"]
    return {str(name): _netplan_port(str(name), port) for name, port in ports.items()}


def _listed(text: str) -> tuple[str, ...]:
    """Read a list of a keyfile, with a semicolon after each entry."""
    return tuple(entry for entry in text.split(";") if entry)


def _checked(addresses: Iterable[str]) -> tuple[str, ...]:
    """Refuse what is no address."""
    return tuple(text for text in addresses if ip_interface(text))


def _keyfile_routes(ipv4: dict[str, str]) -> Iterator[Route]:
    """Read the routes of a keyfile, the gateway as a default route."""
    if gateway := ipv4.get("gateway"):
        yield Route("default", gateway, MAIN_TABLE)
    for key, value in ipv4.items():
        if key.removeprefix("route").isdigit():
            to, _, via = value.partition(",")
            options = dict(option.split("=", 1) for option in ipv4.get(f"{key}_options", "").split(",") if option)
            yield Route(to, via, int(options.get("table", MAIN_TABLE)))


def _keyfile_rule(text: str) -> SourceRule:
    """Read `priority 101 from 10.0.0.1/32 table 101`."""
    words = text.split()
    pairs = dict(zip(words[::2], words[1::2], strict=True))
    return SourceRule(pairs["from"], int(pairs["table"]))


def _netplan_port(name: str, port: dict[str, Any]) -> PortFile:
    """Read one port of netplan."""
    mac = str(port.get("match", {}).get("macaddress", ""))
    routes = (
        Route(str(entry["to"]), str(entry["via"]), int(entry.get("table", MAIN_TABLE)))
        for entry in port.get("routes", ())
    )
    servers = port.get("nameservers", {})
    return PortFile(
        name=name,
        mac=mac,
        addresses=_checked(map(str, port.get("addresses", ()))),
        mtu=port.get("mtu"),
        routes=tuple(routes),
        rules=tuple(SourceRule(str(entry["from"]), int(entry["table"])) for entry in port.get("routing-policy", ())),
        ipv6="ipv6" in port.get("link-local", ["ipv6"]),
        dns=tuple(map(str, servers.get("addresses", ()))),
        search=tuple(map(str, servers.get("search", ()))),
        automatic=tuple(key for key, default in _OFFERED.items() if port.get(key, default) is not False),
        pinned=bool(mac) and port.get("set-name") == name,
    )
