"""Rules about parameters: RDMA, fabric numbers, memory, block size, and how values are read back."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from kvplan.site.hostnet.roce import rdma_name, traffic_class
from kvplan.site.rules import Break, rule
from kvplan.site.scale.cluster import CLIENT_CLASS, SERVER_CLASS
from kvplan.site.scale.grammar import option, parse_verbs, size_bytes
from kvplan.units import GIB, format_binary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.deployment import Server
    from kvplan.site.scale.grammar import VerbsPort
    from kvplan.site.scale.rendered import ReadParameter, Rendered

_STEPS: Final = "scale/steps.yaml"
_SERVER_FILE: Final = "scale/mmchconfig.yaml"
_TWO: Final = 2
_NO_IPV6: Final = re.compile(
    r"^[^#\n]*(?:disable_ipv6\s*=\s*1\b|\bipv6\.disable=1\b|--device=(?:client|storage|nic)\d+p\d+\b[^#\n]*--noipv6\b)",
    re.MULTILINE,
)
"""IPv6 off for a whole host or a port of the fabric; the management network needs none."""


@rule("KV-SCL-011", "Each verbsPorts can be read, and names no RDMA device that its node does not have.")
def _devices(rendered: Rendered) -> Iterator[Break]:
    for path, entry in rendered.values("verbsPorts"):
        ports = _ports(entry)
        if not ports:
            yield Break(path, f"verbsPorts of {entry.target} is not a list of device/port/fabric")
        for server in _servers(rendered, entry):
            held = {rdma_name(port.name) for port in server.fabric}
            strange = [port.device for port in ports if port.device not in held]
            if strange:
                yield Break(path, f"{server.name} has no RDMA device {strange[0]}", "compare with the design's ports")


@rule("KV-SCL-012", "Every fabric number joins ports of two nodes, and one of a storage node.")
def _partners(rendered: Rendered) -> Iterator[Break]:
    held: dict[int, set[str]] = defaultdict(set)
    for _, entry in rendered.values("verbsPorts"):
        for server in _servers(rendered, entry):
            for port in _ports(entry):
                held[port.fabric].add(server.name)
    storage = {server.name for server in rendered.deployment.storage}
    for fabric, servers in sorted(held.items()):
        if fabric == 0:
            yield Break("verbsPorts", "a port without fabric number connects to any other", "give it a number")
        elif len(servers) < _TWO or not servers & storage:
            text = f"fabric {fabric} has ports of {', '.join(sorted(servers))} only"
            yield Break("verbsPorts", text, "use the number of the network on both sides")


@rule("KV-SCL-013", "Each server has verbsPorts, with all its fabric ports.")
def _every_server(rendered: Rendered) -> Iterator[Break]:
    listed: Counter[tuple[str, str]] = Counter()
    for _, entry in rendered.values("verbsPorts"):
        devices = [port.device for port in _ports(entry)]
        for server in _servers(rendered, entry):
            listed.update((server.name, device) for device in devices)
    for server in (*rendered.deployment.storage, *rendered.deployment.clients):
        for port in server.fabric:
            count = listed[server.name, rdma_name(port.name)]
            if count != 1:
                text = f"{server.name}: {port.name} is listed {count} times in verbsPorts"
                yield Break("verbsPorts", text, "list each fabric port once")


@rule("KV-SCL-014", "Where RDMA is on, the connection manager is on too: RoCE needs it.")
def _connection_manager(rendered: Rendered) -> Iterator[Break]:
    managed = {(path, entry.target) for path, entry in rendered.values("verbsRdmaCm") if entry.value == "enable"}
    for path, entry in rendered.values("verbsRdma"):
        if entry.value == "enable" and (path, entry.target) not in managed:
            yield Break(path, f"verbsRdma is on for {entry.target}, verbsRdmaCm is not", "set verbsRdmaCm=enable")


@rule("KV-SCL-015", "No host turns IPv6 off, as a whole or on the fabric: the RDMA connection manager needs it.")
def _ipv6(rendered: Rendered) -> Iterator[Break]:
    if not any(entry.value == "enable" for _, entry in rendered.values("verbsRdmaCm")):
        return
    seen: dict[str, bool] = {}
    for path, text in rendered.tree.items():
        if path.startswith(("hosts/", "install/")):
            if text not in seen:
                seen[text] = _NO_IPV6.search(text) is not None
            if seen[text]:
                yield Break(path, "turns IPv6 off, and RoCE connections cannot be made", "leave IPv6 on")


@rule("KV-SCL-016", "RDMA frames of Storage Scale carry the DSCP that switches hold as lossless, and may be marked.")
def _tos(rendered: Rendered) -> Iterator[Break]:
    wanted = traffic_class(rendered.deployment)
    for path, entry in rendered.values("verbsRdmaRoCEToS"):
        if entry.value != str(wanted):
            text = f"verbsRdmaRoCEToS is {entry.value}; adapters send RDMA with traffic class {wanted}"
            yield Break(path, text, f"set scale.verbs_roce_tos to {wanted}")


@rule("KV-SCL-017", "Each pagepool is given in bytes, no less than the release asks, and as the Site says.")
def _pagepool(rendered: Rendered) -> Iterator[Break]:
    least = int(rendered.cluster.number("pagepool_least_gib")) * GIB
    wanted = str(rendered.cluster.storage.pagepool_gib * GIB)
    asked = [
        (_STEPS, option(argv, "--pagepool") or "") for _, argv in rendered.commands("mmvdisk", "server", "configure")
    ]
    stored = [(path, entry.value) for path, entry in rendered.values("pagepool")]
    for path, value in (*asked, *stored):
        if not value.isdecimal():
            yield Break(path, f"pagepool {value!r} is not a number of bytes, and may be refused", "write bytes")
        elif path != "scale/client-mmchconfig.yaml" and (int(value) < least or value != wanted):
            text = f"pagepool is {format_binary(int(value))}, not {format_binary(int(wanted))}"
            yield Break(path, text, f"set storage.pagepool_gib, to {least // GIB} at least")


@rule("KV-SCL-018", "Pagepool, caches, daemon and system fit in the memory of a storage node.")
def _memory(rendered: Rendered) -> Iterator[Break]:
    cluster = rendered.cluster
    need = int(cluster.number("daemon_heap_gib") + cluster.number("os_reserve_gib")) * GIB
    need += _largest(rendered, "pagepool")
    need += _largest(rendered, "maxFilesToCache") * int(cluster.number("file_cache_bytes"))
    need += _largest(rendered, "maxStatCache") * int(cluster.number("stat_cache_bytes"))
    there = cluster.storage.memory_gib * GIB
    if need > there:
        text = f"a storage node needs {format_binary(need)} and has {format_binary(there)}"
        yield Break(_SERVER_FILE, text, "lower storage.pagepool_gib, or correct storage.memory_gib")
    report = rendered.memory.get("storage", {})
    if rendered.memory and (report.get("needed_bytes"), report.get("fits")) != (need, need <= there):
        yield Break("scale/memory.json", "does not sum up what mmchconfig.yaml sets")


@rule("KV-SCL-019", "The block size is within maxblocksize, on storage nodes and on clients.")
def _largest_block(rendered: Rendered) -> Iterator[Break]:
    block = max(
        (
            size_bytes(option(argv, "--block-size") or "") or 0
            for _, argv in rendered.commands("mmvdisk", "vdiskset", "define")
        ),
        default=0,
    )
    limits = [(path, entry.value) for path, entry in rendered.values("maxblocksize")]
    limits += [
        (_STEPS, option(argv, "--maxblocksize") or "")
        for _, argv in rendered.commands("mmvdisk", "server", "configure")
    ]
    for path, value in limits:
        if (size_bytes(value) or 0) < block:
            text = f"maxblocksize {value or 'is not set and'} is less than the block size of {format_binary(block)}"
            yield Break(path, text, "raise scale.max_block_bytes")
    if rendered.cluster.is_remote and not any(path != _SERVER_FILE for path, _ in rendered.values("maxblocksize")):
        yield Break("scale/client-mmchconfig.yaml", "maxblocksize is not set: a remote mount would be refused")


@rule("KV-SCL-020", "Each parameter is set once for its nodes, and both its stored and its running value are read.")
def _read_back(rendered: Rendered) -> Iterator[Break]:
    counts = Counter((path, entry.parameter, entry.target) for path, entry in rendered.all_parameters)
    for (path, name, target), count in counts.items():
        if count > 1:
            yield Break(path, f"{name} is set {count} times for {target}")
    for path, entry in rendered.all_parameters:
        if entry.stored != ["mmlsconfig", entry.parameter, "-Y"] or not entry.running:
            yield Break(path, f"{entry.parameter} is not read back as stored and as running")


@rule("KV-SCL-021", "The steps store each parameter as the parameter files list it.")
def _stored(rendered: Rendered) -> Iterator[Break]:
    ran = {" ".join(argv) for _, argv in rendered.commands("mmchconfig")}
    listed = {
        f"mmchconfig {entry.parameter}={entry.value}" + ("" if entry.target == "all" else f" -N {entry.target}")
        for path, entry in rendered.all_parameters
        if entry.set_by == "mmchconfig" and (path == _SERVER_FILE or rendered.deployment.clients)
    }
    for line in sorted(ran ^ listed):
        text = f"`{line}` is {'run but not listed' if line in ran else 'listed but not run'}"
        yield Break(_STEPS, text)


@rule("KV-SCL-022", "Subnets is not set: daemon names are loopback addresses, which are in no subnet of an interface.")
def _subnets(rendered: Rendered) -> Iterator[Break]:
    for path, entry in rendered.values("subnets"):
        yield Break(path, f"subnets={entry.value}: TCP would leave the loopback addresses", "leave subnets out")


def _ports(entry: ReadParameter) -> tuple[VerbsPort, ...]:
    """Read the ports of an entry; none where it cannot be read."""
    try:
        return parse_verbs(entry.value)
    except ValueError:
        return ()


def _servers(rendered: Rendered, entry: ReadParameter) -> list[Server]:
    """List the servers that an entry is for."""
    deployment = rendered.deployment
    if entry.target in (SERVER_CLASS, CLIENT_CLASS):
        return list(deployment.storage if entry.target == SERVER_CLASS else deployment.clients)
    names = set(entry.target.split(","))
    everybody = (*deployment.storage, *deployment.clients)
    return [server for server in everybody if server.names.daemon_fqdn in names]


def _largest(rendered: Rendered, name: str) -> int:
    """Return the largest value of a parameter of the storage nodes that is a number."""
    values = (entry.value for path, entry in rendered.values(name) if path == _SERVER_FILE)
    return max((int(value) for value in values if value.isdecimal()), default=0)
