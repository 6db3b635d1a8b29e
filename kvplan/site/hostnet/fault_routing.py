"""Rules for the loopback address and for FRR, which announces it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.site.hostnet import places
from kvplan.site.hostnet.addresses import fabric_prefixes
from kvplan.site.hostnet.parse import settings
from kvplan.site.hostnet.rules import fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.design import Finding
    from kvplan.site.deployment import Deployment
    from kvplan.site.hostnet.parse_frr import FrrFile
    from kvplan.site.hostnet.view import HostView


def routing_faults(deployment: Deployment, view: HostView) -> Iterator[Finding]:
    """Check how a server is reached over the fabric.

    Parameters
    ----------
    deployment
        The deployment.
    view
        The server's files.

    Yields
    ------
    Finding
        What breaks a rule.
    """
    server = view.server
    if not server.fabric:
        for path in sorted(view.files):
            if path == places.FRR or path.startswith(places.ROCE_ENV):
                yield fault(24, view.where(path), f"{server.name} has no leg, and yet a file of the fabric")
        return
    loopback = f"{server.loopback}/32"
    if "lo" in view.ports and loopback not in view.ports["lo"].addresses:
        yield fault(19, view.port_where("lo"), f"{loopback} is not on lo")
    if view.frr:
        yield from _router(view, view.frr)
        yield from _sessions(deployment, view, view.frr)
        yield from _announced(view, view.frr, loopback)
        yield from _accepted(deployment, view, view.frr)
    elif places.FRR not in view.files:
        yield fault(25, server.name, "has no configuration of FRR")


def daemon_faults(role: str, files: Mapping[str, str]) -> Iterator[Finding]:
    """Check how FRR is started on servers of a role.

    Parameters
    ----------
    role
        What the servers are.
    files
        The files that they share, by path on the host.

    Yields
    ------
    Finding
        What breaks a rule.
    """
    daemons = settings(files.get(places.DAEMONS, ""))
    for daemon in ("bgpd", "bfdd"):
        if daemons.get(daemon) != "yes":
            yield fault(34, places.of_role(role, places.DAEMONS), f"{daemon} is not started")
    if "After=network-online.target" not in files.get(places.FRR_UNIT, ""):
        text = "FRR may start before the loopback address is there, and then refuses to send from it"
        yield fault(35, places.of_role(role, places.FRR_UNIT), text)
    if role != "storage" and "ManageForeignRoutes=no" not in files.get(places.NETWORKD, ""):
        yield fault(51, places.of_role(role, places.NETWORKD), "networkd takes away the routes of FRR when it starts")


def _router(view: HostView, frr: FrrFile) -> Iterator[Finding]:
    """Check who the router is, how many ways it uses, and which address it sends from."""
    where, server = view.where(places.FRR), view.server
    if frr.asn != server.device.asn:
        yield fault(26, where, f"AS {frr.asn}, and the design has AS {server.device.asn}")
    if frr.router_id != server.loopback:
        yield fault(26, where, f"router id {frr.router_id or 'missing'}, and the loopback is {server.loopback}")
    if frr.paths < len(server.fabric) or not frr.relaxed:
        text = f"{frr.paths or 1} equal ways, AS paths {'relaxed' if frr.relaxed else 'compared'}"
        yield fault(33, where, f"{text}: the {len(server.fabric)} legs are not used at once")
    if frr.sources.get(frr.source_map) != server.loopback:
        yield fault(35, where, f"connections do not start from {server.loopback}")


def _sessions(deployment: Deployment, view: HostView, frr: FrrFile) -> Iterator[Finding]:
    """Compare the sessions with the legs."""
    where = view.where(places.FRR)
    wanted = {leg.gateway: deployment.devices[leg.peer.device].asn for leg in view.server.fabric}
    for leg in view.server.fabric:
        if leg.gateway not in frr.neighbors:
            yield fault(28, where, f"{leg.name} has no session with {leg.peer.device} at {leg.gateway}")
    for address, neighbor in frr.neighbors.items():
        if address not in wanted:
            yield fault(28, where, f"no leg leads to {address}")
        elif neighbor.remote_as != wanted[address]:
            yield fault(28, where, f"{address} is AS {wanted[address]}, not AS {neighbor.remote_as}")
        if not neighbor.bfd:
            yield fault(29, where, f"the session with {address} is not watched by BFD")
        if not neighbor.active or {*neighbor.maps} != {"in", "out"}:
            yield fault(30, where, f"the session with {address} is not active, or not filtered in both directions")


def _announced(view: HostView, frr: FrrFile, loopback: str) -> Iterator[Finding]:
    """Check that the loopback address is announced on every session, and nothing else is."""
    where = view.where(places.FRR)
    passed = {neighbor.maps.get("out", ""): None for neighbor in frr.neighbors.values()}
    permitted = [frr.permitted(name) for name in passed]
    if loopback not in frr.networks or any(not {loopback, "any"} & prefixes for prefixes in permitted):
        yield fault(31, where, f"{loopback} is not announced on every leg")
    others = {prefix for prefixes in permitted for prefix in prefixes} | {*frr.networks, *frr.redistributed}
    for other in sorted(others - {loopback}):
        yield fault(32, where, f"{other} is announced beside the loopback address")


def _accepted(deployment: Deployment, view: HostView, frr: FrrFile) -> Iterator[Finding]:
    """Check that no session brings in routes that lead away from the fabric."""
    maps = {neighbor.maps.get("in", ""): None for neighbor in frr.neighbors.values()}
    others = {prefix.partition(" ")[0] for name in maps for prefix in frr.permitted(name)}
    for other in sorted(others - {*fabric_prefixes(deployment.design)}):
        yield fault(54, view.where(places.FRR), f"routes to {other} are accepted, which is not of the fabric")
