"""The rendered files of a server, read back: what the rules look at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kvplan.site.hostnet import places
from kvplan.site.hostnet.parse import UNREADABLE, PortFile, from_keyfile, from_netplan, ini, settings
from kvplan.site.hostnet.parse_frr import FrrFile, from_frr
from kvplan.site.hostnet.rules import fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeVar

    from kvplan.schema.design import Finding
    from kvplan.site.deployment import Deployment, Server

    ReadT = TypeVar("ReadT")


@dataclass
class HostView:
    """A server, its own files by path on the host, and what is in them; `broken` are files that could not be read.

    `where` places a file of the server in the tree. `lo` is part of `ports`.
    """

    server: Server
    files: Mapping[str, str]
    ports: dict[str, PortFile] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    roce: dict[str, dict[str, str]] = field(default_factory=dict)
    frr: FrrFile | None = None
    broken: list[Finding] = field(default_factory=list)

    def where(self, path: str) -> str:
        """Place a file of this server in the tree."""
        return places.of_server(self.server.name, path)

    def port_where(self, name: str) -> str:
        """Place the file that holds a port."""
        is_storage = self.server.role == "storage"
        return self.where(f"{places.KEYFILES}/{name}.nmconnection" if is_storage else places.NETPLAN)

    def read(self, path: str, reader: Callable[[str], ReadT]) -> ReadT | None:
        """Read a file, or note that it cannot be read."""
        try:
            return reader(self.files[path])
        except UNREADABLE as error:
            self.broken.append(fault(2, self.where(path), f"cannot be read: {error!r}"))
            return None


def views(deployment: Deployment, tree: Mapping[str, str]) -> list[HostView]:
    """Read back the files of every server.

    Parameters
    ----------
    deployment
        The deployment.
    tree
        The rendered tree, texts by path.

    Returns
    -------
    list of HostView
        One view a server, in the order of the deployment.
    """
    files: dict[str, dict[str, str]] = {server.name: {} for server in deployment.servers}
    for path, text in tree.items():
        folder, _, rest = path.removeprefix("hosts/").partition("/")
        if path.startswith("hosts/") and folder in files:
            files[folder][f"/{rest}"] = text
    return [_view(HostView(server, files[server.name])) for server in deployment.servers]


def _view(view: HostView) -> HostView:
    """Fill in a view from its files."""
    if view.server.role == "storage":
        _read_keyfiles(view)
    elif places.NETPLAN in view.files:
        view.ports = view.read(places.NETPLAN, from_netplan) or {}
    for name, path in _named(view, places.ROCE_ENV, ".env"):
        view.roce[name] = settings(view.files[path])
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
                view.broken.append(fault(1, view.where(path), f"is for {port.name}, and named after {stem}"))
            pinned = bool(port.mac) and view.links.get(port.mac) == port.name
            view.ports[port.name] = port._replace(pinned=pinned)


def _named(view: HostView, folder: str, suffix: str) -> Iterator[tuple[str, str]]:
    """List the files of a folder by their names without suffix."""
    for path in view.files:
        if path.startswith(f"{folder}/") and path.endswith(suffix):
            yield path.removeprefix(f"{folder}/").removesuffix(suffix), path
