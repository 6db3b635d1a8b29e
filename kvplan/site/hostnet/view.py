"""The rendered files of hosts, read back: what the rules look at."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from kvplan.site.hostnet import places
from kvplan.site.hostnet.parse import UNREADABLE, PortFile, from_keyfile, from_netplan, ini
from kvplan.site.hostnet.parse_frr import FrrFile, from_frr
from kvplan.site.reading import values_in
from kvplan.site.rules import Break

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeVar

    from kvplan.schema.roles import Role
    from kvplan.site.deployment import Deployment, HostPort, Server

    ReadT = TypeVar("ReadT")


class Designed(NamedTuple):
    """What Site and design give a port."""

    mac: str
    address: str


@dataclass
class HostView:
    """A server, its own files by path on the host, and what is in them.

    `unreadable` are files that could not be read, `misnamed` such as are for another port than their name says.
    `lo` is part of `ports`.
    """

    server: Server
    files: Mapping[str, str]
    ports: dict[str, PortFile] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    roce: dict[str, dict[str, str]] = field(default_factory=dict)
    frr: FrrFile | None = None
    unreadable: list[Break] = field(default_factory=list)
    misnamed: list[Break] = field(default_factory=list)

    @cached_property
    def designed(self) -> dict[str, Designed]:
        """The ports that the server should have, without `lo`."""
        management = {entry.port.name: Designed(entry.mac, entry.port.address) for entry in self.server.management}
        return management | {leg.name: Designed(leg.mac, leg.port.address) for leg in self.server.fabric}

    @property
    def loopback(self) -> str:
        """The loopback address of the design with its length."""
        return f"{self.server.loopback}/32"

    def where(self, path: str) -> str:
        """Place a file of this server in the tree."""
        return places.of_server(self.server.name, path)

    def port_where(self, name: str) -> str:
        """Place the file that holds a port."""
        is_storage = self.server.role == "storage"
        return self.where(f"{places.KEYFILES}/{name}.nmconnection" if is_storage else places.NETPLAN)

    def roce_where(self, name: str) -> str:
        """Place the file with the RoCE values of a port."""
        return self.where(f"{places.ROCE_ENV}/{name}.env")

    def read(self, path: str, reader: Callable[[str], ReadT]) -> ReadT | None:
        """Read a file, or note that it cannot be read."""
        try:
            return reader(self.files[path])
        except UNREADABLE as error:
            text = f"cannot be read: {type(error).__name__}: {' '.join(str(error).split())}"
            self.unreadable.append(Break(self.where(path), text))
            return None


class Shared(NamedTuple):
    """The files that all servers of a role share, by path on the host."""

    role: Role
    files: Mapping[str, str]

    def where(self, path: str) -> str:
        """Place a file in the tree."""
        return places.of_role(self.role, path)

    def text(self, path: str) -> str:
        """Return a file; empty where it is missing."""
        return self.files.get(path, "")

    def values(self, path: str) -> dict[str, str]:
        """Read a file of lines `KEY = VALUE`."""
        return values_in(self.text(path))


@dataclass(frozen=True)
class Hosts:
    """All files of hosts beside the deployment that they are for."""

    deployment: Deployment
    tree: Mapping[str, str]

    @cached_property
    def views(self) -> tuple[HostView, ...]:
        """The files of every server, in the order of the deployment."""
        files: dict[str, dict[str, str]] = {server.name: {} for server in self.deployment.servers}
        for path, text in self.tree.items():
            folder, _, rest = path.removeprefix("hosts/").partition("/")
            if path.startswith("hosts/") and folder in files:
                files[folder][f"/{rest}"] = text
        return tuple(_read(HostView(server, files[server.name])) for server in self.deployment.servers)

    @property
    def ports(self) -> Iterator[tuple[HostView, PortFile, Designed]]:
        """Each port of the design that has a file."""
        for view in self.views:
            yield from ((view, view.ports[name], port) for name, port in view.designed.items() if name in view.ports)

    @property
    def legs(self) -> Iterator[tuple[HostView, PortFile, HostPort]]:
        """Each leg that has a file."""
        for view in self.views:
            yield from ((view, view.ports[leg.name], leg) for leg in view.server.fabric if leg.name in view.ports)

    @property
    def routers(self) -> Iterator[tuple[HostView, FrrFile, str]]:
        """Each server with legs whose configuration of FRR can be read, with that and its place."""
        for view in self.views:
            if view.server.fabric and view.frr:
                yield view, view.frr, view.where(places.FRR)

    @property
    def roce(self) -> Iterator[tuple[str, str, dict[str, str]]]:
        """Each leg that has RoCE values: the place of the file, the leg's name, the values."""
        for view in self.views:
            for name in sorted({leg.name for leg in view.server.fabric} & view.roce.keys()):
                yield view.roce_where(name), name, view.roce[name]

    @cached_property
    def shared(self) -> tuple[Shared, ...]:
        """The files that servers share, role by role."""
        roles = dict.fromkeys(server.role for server in self.deployment.servers)
        return tuple(Shared(role, self._below(places.of_role(role, ""))) for role in roles)

    @property
    def with_legs(self) -> Iterator[Shared]:
        """The files of roles whose servers have legs."""
        roles = {server.role for server in self.deployment.servers if server.fabric}
        return (shared for shared in self.shared if shared.role in roles)

    @cached_property
    def names(self) -> dict[str, dict[str, list[str]]]:
        """The addresses of each name, by the file of names; of equal files, as they should be, the first."""
        paths: dict[str, str] = {}
        for shared in self.shared:
            paths.setdefault(shared.text(places.HOSTS), shared.where(places.HOSTS))
        return {path: _addresses(text) for text, path in paths.items()}

    def _below(self, folder: str) -> dict[str, str]:
        """List the files below a folder."""
        inside = f"{folder}/"
        return {path.removeprefix(folder): text for path, text in self.tree.items() if path.startswith(inside)}


def _read(view: HostView) -> HostView:
    """Fill in a view from its files."""
    if view.server.role == "storage":
        _read_keyfiles(view)
    elif places.NETPLAN in view.files:
        view.ports = view.read(places.NETPLAN, from_netplan) or {}
    for name, path in _named(view, places.ROCE_ENV, ".env"):
        view.roce[name] = values_in(view.files[path])
    if places.FRR in view.files:
        view.frr = view.read(places.FRR, from_frr)
    return view


def _read_keyfiles(view: HostView) -> None:
    """Read NetworkManager's connections, and the .link files that pin their names."""
    for _, path in _named(view, places.LINKS, ".link"):
        if link := view.read(path, ini):
            view.links[link.get("Match", "PermanentMACAddress", fallback="")] = link.get("Link", "Name", fallback="")
    for stem, path in _named(view, places.KEYFILES, ".nmconnection"):
        if port := view.read(path, from_keyfile):
            if port.name != stem:
                view.misnamed.append(Break(view.where(path), f"is for {port.name}, and named after {stem}"))
            pinned = bool(port.mac) and view.links.get(port.mac) == port.name
            view.ports[port.name] = port._replace(pinned=pinned)


def _named(view: HostView, folder: str, suffix: str) -> Iterator[tuple[str, str]]:
    """List the files of a folder by their names without suffix."""
    for path in view.files:
        if path.startswith(f"{folder}/") and path.endswith(suffix):
            yield path.removeprefix(f"{folder}/").removesuffix(suffix), path


def _addresses(text: str) -> dict[str, list[str]]:
    """Read a file of names."""
    held: dict[str, list[str]] = defaultdict(list)
    for line in text.splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        for name in names:
            held[name].append(address)
    return held
