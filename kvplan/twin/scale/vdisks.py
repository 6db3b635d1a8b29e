"""Vdisk sets, and the one command that all of mmvdisk is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.twin.scale.arguments import Arguments
from kvplan.twin.scale.arrays import ARRAY, free_bytes, group_of, pdisk, pdisks, raw_bytes, version_of
from kvplan.twin.scale.filesystems import filesystem
from kvplan.twin.scale.groups import recoverygroup
from kvplan.twin.scale.limits import CODES, FINE_CHECKSUM_BLOCK, WIDE_CODES_SINCE, size_bytes
from kvplan.twin.scale.output import table
from kvplan.twin.scale.servers import nodeclass, server
from kvplan.twin.scale.shell import Shell, command
from kvplan.twin.scale.world import effective

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.twin.scale.doc import Doc

_VALUED = (
    "--vdisk-set --recovery-group --code --block-size --set-size --checksum-granularity --declustered-array "
    "--nsd-usage --storage-pool"
)
ATTRIBUTES = "vdisksetName recoveryGroups raidCode blockSize checksumGranularity setSize nsdUsage storagePool"
SIZING = "vdisksetName recoveryGroup declusteredArray hardwareType setSizeBytes freeBytes freePercent"
_CREATE_SECONDS = 60.0
_PERCENT = 100


@command("mmvdisk")
def mmvdisk(shell: Shell, words: list[str]) -> Iterator[float]:
    """Run the part of mmvdisk that is meant."""
    parts = {
        "nodeclass": nodeclass,
        "nc": nodeclass,
        "server": server,
        "recoverygroup": recoverygroup,
        "rg": recoverygroup,
        "vdiskset": vdiskset,
        "vs": vdiskset,
        "filesystem": filesystem,
        "fs": filesystem,
        "pdisk": pdisk,
    }
    if len(words) < 2 or words[0] not in parts:  # noqa: PLR2004
        shell.refuse(f"Unknown command '{' '.join(words[:2])}'.")
    shell.cluster  # noqa: B018  refused outside a cluster
    steps = parts[words[0]](shell, words[1], words[2:])
    if steps is not None:
        yield from steps


def vdiskset(shell: Shell, verb: str, words: list[str]) -> Iterator[float]:
    """Run `mmvdisk vdiskset`.

    Parameters
    ----------
    shell
        Who runs it.
    verb
        define, create, list, delete, undefine.
    words
        The rest.

    Yields
    ------
    float
        Seconds that the creation takes.
    """
    args = Arguments(shell.name, words, _VALUED, "-Y --confirm -p")
    sets = shell.cluster["vdisk_sets"]
    if verb == "list":
        _list(shell, args)
        return
    shell.need_active()
    name = args.need("--vdisk-set")
    if verb == "define":
        _define(shell, args, name)
        return
    if name not in sets:
        shell.refuse(f"Vdisk set '{name}' is not defined.")
    held = sets[name]
    if verb == "create":
        if held["created"]:
            shell.refuse(f"Vdisk set '{name}' already exists.")
        yield _CREATE_SECONDS
        shell.cluster["vdisk_sets"][name]["created"] = True
        shell.say(f"mmvdisk: Created all vdisks in vdisk set '{name}'.")
    elif held["file_system"]:
        shell.refuse(f"Vdisk set '{name}' is in use by file system '{held['file_system']}'.")
    elif verb == "delete":
        held["created"] = False
    elif held["created"] or "--confirm" not in args.flags:
        shell.refuse(f"Vdisk set '{name}' is created, or --confirm is missing.")
    else:
        del sets[name]


def _define(shell: Shell, args: Arguments, name: str) -> None:
    """Define a set; nothing of it can be changed later."""
    sets = shell.cluster["vdisk_sets"]
    if name in sets:
        shell.refuse(f"Vdisk set '{name}' already exists.")
    group = group_of(shell, args.need("--recovery-group"))
    if group["half_made"] or group["logs"] < 2 * len(group["servers"]) + 1:
        shell.refuse(f"The log vdisks of recovery group '{group['name']}' are not formatted.")
    code = args.need("--code").lower()
    block = _block(shell, args, group, code)
    size = _size(shell, args, group, code)
    sets[name] = {
        "name": name,
        "group": group["name"],
        "code": code,
        "block": block,
        "size": args.need("--set-size"),
        "bytes": size,
        "checksum": size_bytes(args.get("--checksum-granularity", "32k")),
        "usage": args.get("--nsd-usage", "dataAndMetadata"),
        "pool": args.get("--storage-pool", "system"),
        "created": False,
        "file_system": "",
    }
    shell.say(f"mmvdisk: Vdisk set '{name}' has been defined.")


def _block(shell: Shell, args: Arguments, group: Doc, code: str) -> int:
    """Return the block size [B], refused outside what code, cluster and checksum take."""
    if code not in CODES:
        shell.refuse(f"Invalid RAID code '{args.need('--code')}'.")
    data, parity, low, high = CODES[code]
    if data == max(FINE_CHECKSUM_BLOCK) and version_of(group) < WIDE_CODES_SINCE:
        shell.refuse(f"6027-3815 RAID code {code} requires a newer version of recovery group '{group['name']}'.")
    if len(pdisks(shell, group)) < data + parity + group["spares"]:
        shell.refuse(f"Declustered array '{ARRAY}' has too few pdisks for {code}.")
    block = size_bytes(args.need("--block-size"))
    if not low <= block <= high:
        shell.refuse(f"6027-1887 The block size of {code} must be from {low} to {high}, not {block}.")
    most = int(effective(shell.cluster, shell.here["daemon"]).get("maxblocksize", "4194304"))
    if block > most:
        shell.refuse(f"6027-1886 The block size {block} is larger than maxblocksize {most}.")
    fine = size_bytes(args.get("--checksum-granularity", "8k")) == size_bytes("8k")
    if fine and block > FINE_CHECKSUM_BLOCK.get(data, block):
        shell.refuse(f"A checksum granularity of 8k does not suit blocks of {block} with {code}.")
    return block


def _size(shell: Shell, args: Arguments, group: Doc, code: str) -> int:
    """Return the size to use [B]: a share of the free space, or bytes without redundancy."""
    data, parity, *_ = CODES[code]
    text = args.need("--set-size")
    free = free_bytes(shell, group) * data // (data + parity)
    size = free * int(text[:-1]) // _PERCENT if text.endswith("%") else size_bytes(text)
    if size > free:
        shell.refuse(f"There is not enough space in declustered array '{ARRAY}': {size} asked, {free} free.")
    return size


def _list(shell: Shell, args: Arguments) -> None:
    """List the sets; the form for one set has no summary."""
    sets = shell.cluster["vdisk_sets"]
    if "--vdisk-set" in args.values:
        held = sets.get(args.values["--vdisk-set"])
        if held is None:
            shell.refuse(f"Vdisk set '{args.values['--vdisk-set']}' is not defined.")
        values = (
            held["name"],
            held["group"],
            held["code"],
            held["block"],
            held["checksum"],
            held["size"],
            held["usage"],
        )
        shell.say(*table("mmvdisk", "vdisksetAttributes", ATTRIBUTES, [(*values, held["pool"])]))
        shell.say(*table("mmvdisk", "vdisksetDaSizing", SIZING, [_sizing(shell, held["name"], held["group"])]))
    elif "--recovery-group" in args.values:
        shell.say(*table("mmvdisk", "vdisksetDaSizing", SIZING, [_sizing(shell, "", args.values["--recovery-group"])]))
    else:
        rows = [(each["name"], each["created"], each["file_system"], each["group"]) for each in sets.values()]
        shell.say(*table("mmvdisk", "vdisksetSummary", "vdisksetName created fsName recoveryGroups", rows))


def _sizing(shell: Shell, name: str, group_name: str) -> tuple[object, ...]:
    """Return how much of the array is taken."""
    group = group_of(shell, group_name)
    free = free_bytes(shell, group)
    size = shell.cluster["vdisk_sets"].get(name, {}).get("bytes", 0)
    return (name, group_name, ARRAY, "NVMe", size, free, f"{free * _PERCENT // raw_bytes(shell, group)}%")
