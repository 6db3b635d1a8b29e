"""A host's configuration of FRR read back, as far as its sessions and what they carry go."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Neighbor:
    """A session: the peer's ASN, and what is set on it."""

    remote_as: int = 0
    bfd: bool = False
    active: bool = False
    maps: dict[str, str] = field(default_factory=dict)


@dataclass
class FrrFile:
    """A configuration of FRR.

    `lists` maps each prefix list to what it permits, `entries` each route map to the prefix lists that each of its
    entries matches, and `sources` to the address that it sets.
    """

    asn: int = 0
    router_id: str = ""
    relaxed: bool = False
    paths: int = 0
    source_map: str = ""
    neighbors: dict[str, Neighbor] = field(default_factory=dict)
    networks: list[str] = field(default_factory=list)
    redistributed: list[str] = field(default_factory=list)
    lists: dict[str, list[str]] = field(default_factory=dict)
    entries: dict[str, list[list[str]]] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)

    def permitted(self, route_map: str) -> set[str]:
        """Return what a route map lets through: prefixes as its lists have them, and "any" if an entry matches all."""
        entries = self.entries.get(route_map, [[]])
        listed = {prefix for entry in entries for name in entry for prefix in self.lists.get(name, ())}
        return listed if all(entries) else {*listed, "any"}


def from_frr(text: str) -> FrrFile:
    """Read a configuration.

    Parameters
    ----------
    text
        The file.

    Returns
    -------
    FrrFile
        What it says.

    Raises
    ------
    ValueError
        When an ASN or a count is no number.
    KeyError
        When a line belongs to a route map, but there is none before it.
    """
    file, route_map = FrrFile(), ""
    for line in text.splitlines():
        route_map = _read(file, line.split(), route_map)
    return file


def _read(file: FrrFile, words: list[str], route_map: str) -> str:
    """Take in a line; return the route map that it belongs to."""
    match words:
        case ["route-map", name, "permit", *_]:
            file.entries.setdefault(name, []).append([])
            return name
        case ["match", "ip", "address", "prefix-list", name]:
            file.entries[route_map][-1].append(name)
        case ["set", "src", address]:
            file.sources[route_map] = address
        case ["ip", "prefix-list", name, *rest] if "permit" in rest:
            file.lists.setdefault(name, []).append(" ".join(rest[rest.index("permit") + 1 :]))
        case ["ip", "protocol", "bgp", "route-map", name]:
            file.source_map = name
        case ["neighbor", address, *rest]:
            _neighbor(file.neighbors.setdefault(address, Neighbor()), rest)
        case _:
            _router(file, words)
    return route_map


def _router(file: FrrFile, words: list[str]) -> None:
    """Take in a line of the BGP router itself."""
    match words:
        case ["router", "bgp", asn]:
            file.asn = int(asn)
        case ["bgp", "router-id", address]:
            file.router_id = address
        case ["bgp", "bestpath", "as-path", "multipath-relax"]:
            file.relaxed = True
        case ["network", prefix, *_]:
            file.networks.append(prefix)
        case ["redistribute", *what]:
            file.redistributed.append(" ".join(what))
        case ["maximum-paths", count]:
            file.paths = int(count)


def _neighbor(neighbor: Neighbor, words: list[str]) -> None:
    """Take in a line of a session."""
    match words:
        case ["remote-as", asn]:
            neighbor.remote_as = int(asn)
        case ["bfd", *_]:
            neighbor.bfd = True
        case ["activate"]:
            neighbor.active = True
        case ["route-map", name, way]:
            neighbor.maps[way] = name
