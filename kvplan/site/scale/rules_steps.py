"""Rules about steps: code and sets, what is destructive, fileset limits, licences and clients."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from kvplan.core.ece.codes import CODES, parse_code
from kvplan.core.ece.strips import node_failures
from kvplan.core.ece.tracks import FINE_GRANULARITY_BYTES, checksum_granularity_bytes
from kvplan.errors import InputError
from kvplan.site.rules import Break, rule
from kvplan.site.scale.grammar import option, size_bytes
from kvplan.units import GIB, format_binary, format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.core.ece.codes import ErasureCode
    from kvplan.site.scale.rendered import Rendered

_STEPS: Final = "scale/steps.yaml"
_NATIVE: Final = (
    "software", "cluster", "licence", "configure", "nodeclass", "topology", "slot-map", "server-configure",
    "recovery-group", "root-log-group", "spares", "vdisk-define", "vdisk-create", "file-system", "mount",
)  # fmt: skip
_DEFINE: Final = ("mmvdisk", "vdiskset", "define")
_WRITES_OVER: Final = (("mmvdisk", "recoverygroup", "create"), ("mmvdisk", "recoverygroup", "delete"),
    ("mmvdisk", "vdiskset", "delete"), ("mmvdisk", "filesystem", "delete"), ("mmdelfs",), ("wipefs",))  # fmt: skip
_PERCENT: Final = 100
_LEAST_SET: Final = 10


@rule("KV-SCL-023", "The steps begin with the fifteen native ones in their order, numbered without gap.")
def _order(rendered: Rendered) -> Iterator[Break]:
    ids = [step.id for step in rendered.steps]
    if [step_id[3:] for step_id in ids[: len(_NATIVE)]] != list(_NATIVE):
        yield Break(_STEPS, "does not begin with the native steps in order")
    if [step_id[:2] for step_id in ids] != [f"{number:02d}" for number in range(1, len(ids) + 1)]:
        yield Break(_STEPS, "numbers its steps with a gap or twice")


@rule("KV-SCL-024", "Each step says what it reads first and when it is done.")
def _reads_first(rendered: Rendered) -> Iterator[Break]:
    for step in (*rendered.steps, *rendered.install):
        if not step.reads or not step.done_when or not all((*step.reads, *step.commands)):
            yield Break(_STEPS, f"{step.id} does not say what it reads or when it is done")


@rule("KV-SCL-025", "Servers are configured with --recycle one: all at once would stop the quorum.")
def _recycle(rendered: Rendered) -> Iterator[Break]:
    for step, argv in rendered.commands("mmvdisk", "server", "configure"):
        if option(argv, "--recycle") != "one":
            yield Break(_STEPS, f"{step.id} recycles {option(argv, '--recycle') or 'nothing'}", "use --recycle one")


@rule("KV-SCL-026", "Steps that write over drives are marked destructive, and none skips the check for old data.")
def _destructive(rendered: Rendered) -> Iterator[Break]:
    for words in _WRITES_OVER:
        for step, argv in rendered.commands(*words):
            if not step.destructive:
                yield Break(_STEPS, f"{step.id} writes over drives and is not marked destructive")
            if option(argv, "-v") == "no":
                text = f"{step.id} has -v no: drives with data on them would be taken"
                yield Break(_STEPS, text, "use -v yes, and wipe old signatures by hand")


@rule("KV-SCL-027", "The erasure code is one that the release offers, and the Plan's.")
def _code(rendered: Rendered) -> Iterator[Break]:
    release, planned = rendered.deployment.release, rendered.cluster.code.name
    for _, argv in rendered.commands(*_DEFINE):
        code = (option(argv, "--code") or "").upper()
        if code not in release.erasure_codes:
            text = f"code {code or 'none'}: {release.version} offers {', '.join(release.erasure_codes)}"
            yield Break(_STEPS, text, "choose a code of the release")
        elif code != planned:
            yield Break(_STEPS, f"code {code}, where the Plan has {planned}")


@rule("KV-SCL-028", "Each recovery group has nodes enough for its code to survive the loss of one.")
def _enough_nodes(rendered: Rendered) -> Iterator[Break]:
    nodes = {held.recovery_group: len(held.nodes) for held in rendered.classes if held.kind == "mmvdisk"}
    for _, argv in rendered.commands(*_DEFINE):
        code, group = _code_of(argv), option(argv, "--recovery-group") or ""
        count = nodes.get(group, 0)
        if code and group in nodes and (not count or node_failures(code, count) < 1):
            text = f"{group}: {code.name} on {count} nodes survives the loss of no node"
            yield Break(_STEPS, text, "take more nodes or a code with more parity")


@rule("KV-SCL-029", "Block size and granularity of checksums fit the code.")
def _block(rendered: Rendered) -> Iterator[Break]:
    for _, argv in rendered.commands(*_DEFINE):
        code, block = _code_of(argv), size_bytes(option(argv, "--block-size") or "") or 0
        if code is None:
            continue
        facts = CODES[code]
        if not facts.block_min_bytes <= block <= facts.block_max_bytes or block & (block - 1):
            low, high = format_binary(facts.block_min_bytes), format_binary(facts.block_max_bytes)
            yield Break(_STEPS, f"{code.name} takes blocks of {low} to {high}, not {format_binary(block)}")
        granularity = size_bytes(option(argv, "--checksum-granularity") or "8k") or FINE_GRANULARITY_BYTES
        if granularity < checksum_granularity_bytes(code, block):
            text = f"blocks of {format_binary(block)} with {code.name} need checksums every 32 KiB on flash"
            yield Break(_STEPS, text, "use --checksum-granularity 32k")
        if block != rendered.deployment.plan.profile.block_bytes:
            yield Break(_STEPS, f"block size is {format_binary(block)}, not the Plan's")


@rule("KV-SCL-030", "A vdisk set takes 10 to 100 % of its array, as the Site says.")
def _set_size(rendered: Rendered) -> Iterator[Break]:
    wanted = rendered.cluster.storage.set_size_percent
    for _, argv in rendered.commands(*_DEFINE):
        text = option(argv, "--set-size") or ""
        number = text.removesuffix("%")
        if not (text.endswith("%") and number.isdecimal() and _LEAST_SET <= int(number) <= _PERCENT):
            yield Break(_STEPS, f"set size {text or 'none'} is not 10 to 100 %", "set storage.set_size_percent")
        elif int(number) != wanted:
            yield Break(_STEPS, f"set size {text}, where the Site says {wanted} %")


@rule("KV-SCL-031", "Each recovery group has one vdisk set of its own, which is created and in the file system.")
def _one_set(rendered: Rendered) -> Iterator[Break]:
    groups = [
        option(argv, "--recovery-group") or ""
        for _, argv in rendered.commands("mmvdisk", "recoverygroup", "create", "--recovery-group")
    ]
    sets = {
        option(argv, "--vdisk-set") or "": option(argv, "--recovery-group") or ""
        for _, argv in rendered.commands(*_DEFINE)
    }
    for name, group in sets.items():
        if "," in group:
            yield Break(_STEPS, f"vdisk set {name} is over {group}", "define one vdisk set for each recovery group")
    if sorted(sets.values()) != sorted(groups):
        yield Break(_STEPS, f"recovery groups {groups} have vdisk sets in {sorted(sets.values())}")
    created = {option(argv, "--vdisk-set") for _, argv in rendered.commands("mmvdisk", "vdiskset", "create")}
    for _, argv in rendered.commands("mmvdisk", "filesystem", "create"):
        used = set((option(argv, "--vdisk-set") or "").split(","))
        if used != sets.keys() or created != sets.keys():
            yield Break(_STEPS, "defined, created and used vdisk sets are not the same")


@rule("KV-SCL-052", "The root log group of each recovery group is on its first server.")
def _root_log_group(rendered: Rendered) -> Iterator[Break]:
    first = {held.recovery_group: held.nodes[0] for held in rendered.classes if held.kind == "mmvdisk" and held.nodes}
    put = {
        option(argv, "--recovery-group"): option(argv, "--active")
        for _, argv in rendered.commands("mmvdisk", "recoverygroup", "change")
        if option(argv, "--log-group") == "root"
    }
    for group, node in first.items():
        if put.get(group) != node:
            text = f"the root log group of {group} is put on {put.get(group) or 'no server'}, its first one is {node}"
            yield Break(_STEPS, text, f"make {node} the active one")


@rule("KV-SCL-053", "Packages of Storage Scale come from the package of their edition.")
def _edition(rendered: Rendered) -> Iterator[Break]:
    for step in rendered.steps:
        named = {word.partition("=")[0] for argv in step.commands for word in argv}
        wanted = "storage_scale_client" if "gpfs.license.dm" in named else "storage_scale"
        if any(word.startswith("gpfs.license.") for word in named) and step.package != wanted:
            yield Break(_STEPS, f"{step.id} takes {step.package or 'no package'}, not {wanted}", f"name {wanted}")


@rule("KV-SCL-032", "The mount point is absolute, and the same wherever it is named.")
def _mount_point(rendered: Rendered) -> Iterator[Break]:
    wanted = rendered.cluster.storage.mount
    named = [
        argv
        for words in (("mmvdisk", "filesystem", "create"), ("mmremotefs", "add"))
        for _, argv in rendered.commands(*words)
    ]
    for argv in named:
        path = option(argv, "-T") or ""
        if not path.startswith("/"):
            yield Break(_STEPS, f"mount point {path or 'none'} is not absolute", "set storage.mount")
        elif path != wanted:
            yield Break(_STEPS, f"mount point {path}, where the Site says {wanted}")
    for _, argv in rendered.commands("mmlinkfileset"):
        junction = PurePosixPath(option(argv, "-J") or "")
        if junction.parent != PurePosixPath(wanted):
            yield Break(_STEPS, f"the fileset is linked at {junction}, not directly below {wanted}")


@rule("KV-SCL-033", "The cache fileset has an inode limit, no smaller than the files that fill the tier.")
def _inodes(rendered: Rendered) -> Iterator[Break]:
    made = list(rendered.commands("mmcrfileset"))
    if not made:
        yield Break(_STEPS, "the cache fileset is not created")
    for _, argv in made:
        limit, _, at_once = (option(argv, "--inode-limit") or "").partition(":")
        if not limit.isdecimal() or int(limit) < rendered.cluster.files:
            text = f"inode limit {limit or 'is not set, about 100,000'}; {rendered.cluster.files:,} files fill the tier"
            yield Break(_STEPS, text, "raise the limit, or write larger chunks")
        elif at_once and (not at_once.isdecimal() or int(at_once) > int(limit)):
            yield Break(_STEPS, f"{at_once} inodes at once, of {limit}")


@rule("KV-SCL-034", "The quota of the cache fileset leaves the file system room for metadata.")
def _quota(rendered: Rendered) -> Iterator[Break]:
    cluster = rendered.cluster
    room = cluster.capacity_bytes - cluster.metadata_bytes
    made = list(rendered.commands("mmsetquota"))
    if not made:
        yield Break(_STEPS, "the cache fileset has no quota")
    for _, argv in made:
        soft, _, hard = (option(argv, "--block") or "").partition(":")
        limits = [size_bytes(soft) or 0, size_bytes(hard or soft) or 0]
        if not 0 < limits[0] <= limits[1]:
            yield Break(_STEPS, f"quota {soft}:{hard} is not a soft limit within a hard one")
        elif limits[1] > room:
            text = f"the quota is {limits[1] // GIB:,} GiB; files have {format_bytes(room)}"
            yield Break(_STEPS, text, "lower storage.quota_percent")


@rule("KV-SCL-035", "The Site states that the licence of Storage Scale is accepted, which the steps accept by option.")
def _licence(rendered: Rendered) -> Iterator[Break]:
    accepted = any(licence.what == "storage-scale" for licence in rendered.deployment.site.licences)
    if not accepted and any("--accept" in argv for _, argv in rendered.commands("mmchlicense")):
        text = "mmchlicense accepts the licence of Storage Scale, and the Site does not say who did"
        yield Break("licences", text, "add storage-scale with name and date to licences")


@rule("KV-SCL-036", "Every server gets its licence: storage nodes server, GPU servers client.")
def _designated(rendered: Rendered) -> Iterator[Break]:
    for kind, servers in (("server", rendered.deployment.storage), ("client", rendered.deployment.clients)):
        named = {
            name for _, argv in rendered.commands("mmchlicense", kind) for name in (option(argv, "-N") or "").split(",")
        }
        missing = [server.name for server in servers if server.names.daemon_fqdn not in named]
        if missing:
            yield Break(_STEPS, f"{missing[0]} gets no {kind} licence")


@rule("KV-SCL-037", "Clients join as the Site says: in the cluster, or from one of their own with another name.")
def _clients(rendered: Rendered) -> Iterator[Break]:
    ran = Counter(argv[0] for step in rendered.steps for argv in step.commands)
    remote = ("mmauth", "mmremotecluster", "mmremotefs")
    if rendered.deployment.clients and rendered.cluster.is_remote:
        missing = [verb for verb in remote if not ran[verb]]
        if missing or ran["mmaddnode"]:
            yield Break(_STEPS, f"a remote mount needs {', '.join(remote)} and no mmaddnode")
    elif rendered.deployment.clients and (not ran["mmaddnode"] or any(ran[verb] for verb in remote)):
        yield Break(_STEPS, "clients of the same cluster need mmaddnode and no remote mount")
    names = [option(argv, "-C") for _, argv in rendered.commands("mmcrcluster")]
    if len(set(names)) != len(names):
        yield Break(_STEPS, f"both clusters are named {names[0]}", "set storage.client_cluster to another name")
    for name in names:
        if "." not in (name or ""):
            text = f"cluster name {name} has no dot: the domain of a node would be appended"
            yield Break(_STEPS, text, "write the name with its domain")


@rule("KV-SCL-038", "Clients name storage nodes of the quorum by daemon name as contacts.")
def _contacts(rendered: Rendered) -> Iterator[Break]:
    quorum = {line.daemon for line in rendered.nodes if line.quorum}
    for _, argv in rendered.commands("mmremotecluster", "add"):
        strange = set((option(argv, "-n") or "").split(",")) - quorum
        if strange:
            text = f"{min(strange) or 'no node'} is no daemon name of a quorum node"
            yield Break(_STEPS, text, "name quorum nodes by daemon name: admin names are not reached from clients")


def _code_of(argv: list[str]) -> ErasureCode | None:
    """Read the code of a command; None where there is no such code."""
    try:
        return parse_code(option(argv, "--code") or "")
    except InputError:
        return None
