"""Rules for the loopback address and for FRR, which announces it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kvplan.site.hostnet import places
from kvplan.site.hostnet.addresses import fabric_prefixes
from kvplan.site.rules import Break, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.hostnet.parse_frr import FrrFile
    from kvplan.site.hostnet.view import Hosts


@rule("KV-HST-019", "The loopback address is on lo, as a /32.")
def _loopback(hosts: Hosts) -> Iterator[Break]:
    for view in hosts.views:
        if view.server.fabric and "lo" in view.ports and view.loopback not in view.ports["lo"].addresses:
            yield Break(view.port_where("lo"), f"{view.loopback} is not on lo")


@rule("KV-HST-024", "A server without legs has no file of the fabric.")
def _no_fabric(hosts: Hosts) -> Iterator[Break]:
    for view in (view for view in hosts.views if not view.server.fabric):
        for path in sorted(view.files):
            if path == places.FRR or path.startswith(places.ROCE_ENV):
                yield Break(view.where(path), f"{view.server.name} has no leg, and yet a file of the fabric")


@rule("KV-HST-025", "Each server with legs has a configuration of FRR.")
def _frr(hosts: Hosts) -> Iterator[Break]:
    for view in hosts.views:
        if view.server.fabric and places.FRR not in view.files:
            yield Break(view.server.name, "has no configuration of FRR")


@rule("KV-HST-026", "A server's own ASN and router id are those of the design.")
def _router(hosts: Hosts) -> Iterator[Break]:
    for view, frr, where in hosts.routers:
        device, loopback = view.server.device, view.server.loopback
        if frr.asn != device.asn:
            yield Break(where, f"AS {frr.asn}, and the design has AS {device.asn}")
        if frr.router_id != loopback:
            yield Break(where, f"router id {frr.router_id or 'missing'}, and the loopback is {loopback}")


@rule(
    "KV-HST-028", "FRR has a session with the switch at the far end of each leg, with that switch's ASN, and no other."
)
def _sessions(hosts: Hosts) -> Iterator[Break]:
    devices = hosts.deployment.devices
    for view, frr, where in hosts.routers:
        wanted = {leg.gateway: devices[leg.peer.device].asn for leg in view.server.fabric}
        for leg in view.server.fabric:
            if leg.gateway not in frr.neighbors:
                yield Break(where, f"{leg.name} has no session with {leg.peer.device} at {leg.gateway}")
        for address, neighbor in frr.neighbors.items():
            if address not in wanted:
                yield Break(where, f"no leg leads to {address}")
            elif neighbor.remote_as != wanted[address]:
                yield Break(where, f"{address} is AS {wanted[address]}, not AS {neighbor.remote_as}")


@rule("KV-HST-029", "BFD watches every session.")
def _watched(hosts: Hosts) -> Iterator[Break]:
    for _, frr, where in hosts.routers:
        for address in (address for address, neighbor in frr.neighbors.items() if not neighbor.bfd):
            yield Break(where, f"the session with {address} is not watched by BFD")


@rule("KV-HST-030", "Every session is active and filtered in both directions.")
def _filtered(hosts: Hosts) -> Iterator[Break]:
    for _, frr, where in hosts.routers:
        for address, neighbor in frr.neighbors.items():
            if not neighbor.active or neighbor.maps.keys() != {"in", "out"}:
                yield Break(where, f"the session with {address} is not active, or not filtered in both directions")


@rule("KV-HST-031", "A server announces its loopback address.")
def _announced(hosts: Hosts) -> Iterator[Break]:
    for view, frr, where in hosts.routers:
        is_held_back = any(not {view.loopback, "any"} & prefixes for prefixes in _sent(frr))
        if view.loopback not in frr.networks or is_held_back:
            yield Break(where, f"{view.loopback} is not announced on every leg")


@rule("KV-HST-032", "A server announces nothing but its loopback address.")
def _nothing_else(hosts: Hosts) -> Iterator[Break]:
    for view, frr, where in hosts.routers:
        for other in sorted({*frr.networks, *frr.redistributed}.union(*_sent(frr)) - {view.loopback}):
            yield Break(where, f"{other} is announced beside the loopback address")


def _sent(frr: FrrFile) -> list[set[str]]:
    """List what each filter of a session lets out."""
    return [frr.permitted(name) for name in {neighbor.maps.get("out", "") for neighbor in frr.neighbors.values()}]


@rule("KV-HST-033", "Routes use all legs at once.")
def _all_legs(hosts: Hosts) -> Iterator[Break]:
    for view, frr, where in hosts.routers:
        legs = len(view.server.fabric)
        if frr.paths < legs or not frr.relaxed:
            text = f"{frr.paths or 1} equal ways, AS paths {'relaxed' if frr.relaxed else 'compared'}"
            yield Break(where, f"{text}: the {legs} legs are not used at once")


@rule("KV-HST-034", "FRR runs its BGP and BFD daemons.")
def _daemons(hosts: Hosts) -> Iterator[Break]:
    for shared in hosts.with_legs:
        daemons = shared.values(places.DAEMONS)
        for daemon in ("bgpd", "bfdd"):
            if daemons.get(daemon) != "yes":
                yield Break(shared.where(places.DAEMONS), f"{daemon} is not started")


@rule("KV-HST-035", "A server opens connections from its loopback address, and FRR starts once that address is there.")
def _source(hosts: Hosts) -> Iterator[Break]:
    for view, frr, where in hosts.routers:
        if frr.sources.get(frr.source_map) != view.server.loopback:
            yield Break(where, f"connections do not start from {view.server.loopback}")
    for shared in hosts.with_legs:
        unit = shared.text(places.FRR_UNIT)
        if not re.search(rf"^After=.*\b{places.manager(shared.role)}-wait-online\.service\b", unit, re.MULTILINE):
            text = "FRR may start before the loopback address is there, and then refuses to send from it"
            yield Break(shared.where(places.FRR_UNIT), text)
        if re.search(r"^(After|Wants|Requires)=.*\bnetwork(-online)?\.target\b", unit, re.MULTILINE):
            text = "FRR's own unit stands before network.target: with this systemd leaves a unit of the circle out"
            yield Break(shared.where(places.FRR_UNIT), text)


@rule("KV-HST-051", "networkd leaves the routes of FRR alone.")
def _foreign_routes(hosts: Hosts) -> Iterator[Break]:
    for shared in hosts.with_legs:
        if shared.role != "storage" and "ManageForeignRoutes=no" not in shared.text(places.NETWORKD):
            yield Break(shared.where(places.NETWORKD), "networkd takes away the routes of FRR when it starts")


@rule("KV-HST-054", "A server accepts routes to the fabric, and to nowhere else.")
def _accepted(hosts: Hosts) -> Iterator[Break]:
    fabric = {f"{prefix} le 32" for prefix in fabric_prefixes(hosts.deployment.design)}
    for _, frr, where in hosts.routers:
        for name in sorted({neighbor.maps.get("in", "") for neighbor in frr.neighbors.values()}):
            accepted = frr.permitted(name)
            for other in sorted(accepted - fabric):
                yield Break(where, f"routes to {other} are accepted, which is not of the fabric")
            for prefix in sorted(fabric - accepted):
                yield Break(where, f"routes to {prefix} are not accepted")
