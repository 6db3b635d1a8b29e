"""Rules about nodes: files that can be read, names, quorum, node classes, drives."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from kvplan.site.rules import Break, rule
from kvplan.site.scale.quorum import quorum_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.scale.grammar import NodeLine
    from kvplan.site.scale.rendered import Rendered

_NODES: Final = "scale/nodes.stanza"
_CLIENTS: Final = "scale/clients.stanza"
_CLASSES: Final = "scale/nodeclasses.yaml"
_SLOTS: Final = "scale/slots.yaml"
_HALF: Final = 2
_RACKS_FOR_MAJORITY: Final = 3
_HOSTS: Final = re.compile(r"hosts/.+/etc/hosts")


@rule("KV-SCL-001", "Each file about Storage Scale is there and has its form.")
def _readable(rendered: Rendered) -> Iterator[Break]:
    for path, problem in rendered.problems:
        yield Break(path, problem)


@rule("KV-SCL-002", "The node files list each server of their side once, by the names of the Site.")
def _names(rendered: Rendered) -> Iterator[Break]:
    sides = (
        (_NODES, rendered.nodes, rendered.deployment.storage),
        (_CLIENTS, rendered.clients, rendered.deployment.clients),
    )
    for path, lines, servers in sides:
        wanted = Counter((server.names.daemon_fqdn, server.names.admin_fqdn) for server in servers)
        listed = Counter((line.daemon, line.admin) for line in lines)
        for daemon, admin in sorted((wanted - listed).keys()):
            yield Break(path, f"{daemon} with admin name {admin} is not listed")
        for daemon, admin in sorted((listed - wanted).keys()):
            yield Break(path, f"{daemon} with admin name {admin} is no server of this side, or listed twice")


@rule("KV-SCL-003", "The quorum is an odd number of nodes: 3, 5 or 7 by the number of nodes.")
def _quorum(rendered: Rendered) -> Iterator[Break]:
    for path, lines in _clusters(rendered):
        quorum, wanted = sum(line.quorum for line in lines), quorum_size(len(lines))
        if quorum != wanted:
            text = f"{quorum} quorum nodes of {len(lines)}, where {wanted} should be"
            yield Break(path, text, f"make {wanted} nodes quorum-manager, spread over racks")


@rule(
    "KV-SCL-004", "No rack or leaf pair holds the quorum's majority where the nodes stand in enough of them.", "warning"
)
def _quorum_spread(rendered: Rendered) -> Iterator[Break]:
    in_quorum = {line.daemon for line in rendered.nodes if line.quorum}
    for what in ("rack", "pair"):
        held: dict[str, int] = defaultdict(int)
        for server in rendered.deployment.storage:
            held[str(getattr(server.device, what))] += server.names.daemon_fqdn in in_quorum
        most = max(held.values(), default=0)
        is_alone = len(held) > 1 and most == len(in_quorum)
        if is_alone or (len(held) >= _RACKS_FOR_MAJORITY and most * _HALF > len(in_quorum)):
            place = max(held, key=lambda name: held[name])
            text = f"{most} of {len(in_quorum)} quorum nodes are in {what} {place}: its loss stops the cluster"
            yield Break(_NODES, text, "choose quorum nodes in other racks")


@rule(
    "KV-SCL-005", "A node's daemon name is not its admin name, so that traffic of the file system stays on the fabric."
)
def _daemon_is_not_admin(rendered: Rendered) -> Iterator[Break]:
    for path, lines in ((_NODES, rendered.nodes), (_CLIENTS, rendered.clients)):
        for line in lines:
            if line.daemon == line.admin:
                yield Break(path, f"{line.daemon} is daemon name and admin name", "give names different suffixes")


@rule("KV-SCL-006", "Every name of the node files stands in the hosts file of every server that has one.")
def _hosts(rendered: Rendered) -> Iterator[Break]:
    wanted = {name for line in (*rendered.nodes, *rendered.clients) for name in (line.daemon, line.admin)}
    known: dict[str, frozenset[str]] = {}
    for path, text in rendered.tree.items():
        if _HOSTS.fullmatch(path):
            if text not in known:
                known[text] = _names_in(text)
            missing = sorted(wanted - known[text])
            if missing:
                yield Break(path, f"{len(missing)} names of Storage Scale are missing, such as {missing[0]}")


@rule("KV-SCL-007", "A recovery group has as many servers and drives as the release allows.")
def _group_sizes(rendered: Rendered) -> Iterator[Break]:
    release, drives = rendered.deployment.release, rendered.deployment.plan.profile.drives_per_node
    low, high = release.min_servers_per_recovery_group, release.max_servers_per_recovery_group
    for held in rendered.classes:
        if held.kind == "mmvdisk":
            nodes = len(held.nodes)
            if not low <= nodes <= high:
                text = f"{held.name} has {nodes} servers; {release.version} takes {low} to {high}"
                yield Break(_CLASSES, text, "choose another number of nodes")
            if nodes * drives > release.max_pdisks_per_recovery_group:
                text = f"{held.name} has {nodes * drives} drives; at most {release.max_pdisks_per_recovery_group}"
                yield Break(_CLASSES, text, "divide the nodes into more recovery groups")


@rule("KV-SCL-008", "Each storage node is in the node class of its recovery group and in no other.")
def _group_members(rendered: Rendered) -> Iterator[Break]:
    wanted = {server.names.daemon_fqdn: [group.name] for group in rendered.cluster.groups for server in group.nodes}
    found: dict[str, list[str]] = defaultdict(list)
    for held in rendered.classes:
        if held.kind == "mmvdisk":
            for node in held.nodes:
                found[node].append(held.recovery_group)
    for node in sorted(wanted.keys() | found.keys()):
        groups = found.get(node, [])
        if groups != wanted.get(node, []):
            text = f"{node} is in {' and '.join(groups) or 'no group'}, not in {wanted.get(node, ['none'])[0]}"
            yield Break(_CLASSES, text)


@rule("KV-SCL-009", "Node classes that parameters name exist, and list the servers of their side.")
def _user_classes(rendered: Rendered) -> Iterator[Break]:
    classes = {held.name: set(held.nodes) for held in rendered.classes}
    sides = {"kvservers": rendered.deployment.storage, "kvgpus": rendered.deployment.clients}
    for name, servers in sides.items():
        if classes.get(name) != {server.names.daemon_fqdn for server in servers}:
            yield Break(_CLASSES, f"{name} does not list its {len(servers)} servers")
    nodes = {line.daemon for line in (*rendered.nodes, *rendered.clients)}
    for path, entry in rendered.all_parameters:
        unknown = [word for word in entry.target.split(",") if word not in classes.keys() | nodes | {"all"}]
        if unknown:
            yield Break(path, f"{entry.parameter} is for {unknown[0]}, which is no node class and no node")


@rule("KV-SCL-010", "The slot map expects of each storage node the drives that the Site and the Plan count.")
def _slots(rendered: Rendered) -> Iterator[Break]:
    planned = rendered.deployment.plan.profile.drives_per_node
    expected = {node.get("node"): node.get("drives") for node in rendered.slots.nodes}
    room = rendered.slots.last_slot - rendered.slots.first_slot + 1
    for server in rendered.deployment.storage:
        drives = expected.get(server.names.daemon_fqdn)
        if drives != planned:
            text = f"{server.name}: {drives or 'no'} drives expected, {planned} planned"
            yield Break(_SLOTS, text, f"set data_drives.count of {server.name}")
    if room < planned:
        yield Break(_SLOTS, f"slots {rendered.slots.first_slot} to {rendered.slots.last_slot} hold {room} drives")
    for _, argv in rendered.commands("ecedrivemapping"):
        asked = [str(rendered.slots.first_slot), str(rendered.slots.last_slot)]
        if argv[argv.index("--slotrange") + 1 :][:2] != asked if "--slotrange" in argv else True:
            yield Break("scale/steps.yaml", f"ecedrivemapping maps other slots than {' to '.join(asked)}")


def _clusters(rendered: Rendered) -> Iterator[tuple[str, tuple[NodeLine, ...]]]:
    """Yield the node file of each cluster with a quorum."""
    yield _NODES, rendered.nodes
    if rendered.cluster.is_remote and rendered.deployment.clients:
        yield _CLIENTS, rendered.clients


def _names_in(text: str) -> frozenset[str]:
    """List the names of a hosts file."""
    lines = (line.partition("#")[0].split()[1:] for line in text.splitlines())
    return frozenset(name for names in lines for name in names)
