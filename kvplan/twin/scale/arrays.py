"""What is listed of recovery groups, and what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.twin.scale.arguments import Arguments
from kvplan.twin.scale.limits import CODES, OVERHEAD
from kvplan.twin.scale.output import table

if TYPE_CHECKING:
    from kvplan.twin.scale.doc import Doc
    from kvplan.twin.scale.shell import Shell

ARRAY = "DA1"
MIRRORED_DESCRIPTOR = 5
"""Servers from which on the descriptor of a group survives two of them."""
SUMMARY = (
    "rgName nodeClass active currentServers needsService userVdisks remarks AddNode rebalanceStatus suspendedServer"
)
DISKS = "recoveryGroup pdiskName declusteredArray server state capacity freeSpace fru"
DA = (
    "recoveryGroup declusteredArray needsService vdisks pdisks spares replaceThreshold capacity freeSpace "
    "backgroundTask"
)


def group_of(shell: Shell, name: str) -> Doc:
    """Return a recovery group.

    Parameters
    ----------
    shell
        Who asks.
    name
        Of the group.

    Returns
    -------
    Doc
        The group.

    Raises
    ------
    Refusal
        When there is none.
    """
    held: Doc | None = shell.cluster["groups"].get(name)
    if held is None:
        shell.refuse(f"Recovery group '{name}' does not exist.")
    return held


def pdisks(shell: Shell, group: Doc) -> list[tuple[str, str, Doc]]:
    """Return name, server and drive of each pdisk.

    Parameters
    ----------
    shell
        Who asks.
    group
        The recovery group.

    Returns
    -------
    list of tuple
        In the order of servers and slots.
    """
    return [
        (f"n{number:03}p{position:03}", daemon, drive)
        for number, daemon in enumerate(group["servers"], 1)
        for position, drive in enumerate(shell.machine_of(shell.nodes(daemon)[0])["drives"], 1)
    ]


def pdisk_bytes(shell: Shell, group: Doc) -> int:
    """Return what a pdisk holds [B].

    Parameters
    ----------
    shell
        Who asks.
    group
        The recovery group.

    Returns
    -------
    int
        Bytes.
    """
    smallest: int = min(drive["size_gb"] for _, _, drive in pdisks(shell, group))
    return int(smallest * 10**9 * (1 - OVERHEAD))


def raw_bytes(shell: Shell, group: Doc) -> int:
    """Return what the array holds besides its spares [B].

    Parameters
    ----------
    shell
        Who asks.
    group
        The recovery group.

    Returns
    -------
    int
        Bytes.
    """
    spares: int = group["spares"]
    return (len(pdisks(shell, group)) - spares) * pdisk_bytes(shell, group)


def free_bytes(shell: Shell, group: Doc) -> int:
    """Return what no vdisk set takes [B].

    Parameters
    ----------
    shell
        Who asks.
    group
        The recovery group.

    Returns
    -------
    int
        Bytes.
    """
    taken = 0
    for each in shell.cluster["vdisk_sets"].values():
        data, parity, *_ = CODES[each["code"]]
        if each["group"] == group["name"]:
            taken += each["bytes"] * (data + parity) // data
    return raw_bytes(shell, group) - taken


def list_groups(shell: Shell, words: list[str]) -> None:
    """List groups, or an aspect of one."""
    flags = "-Y --not-ok --declustered-array --log-group --server --pdisk --fault-tolerance"
    valued = "--recovery-group"
    args = Arguments(shell.name, words, valued, flags)
    groups = shell.cluster["groups"]
    if "--recovery-group" not in args.values:
        shell.say(*table("mmvdisk", "rgSummary", SUMMARY, [_summary(shell, each) for each in groups.values()]))
        return
    group = group_of(shell, args.values["--recovery-group"])
    if "--declustered-array" in args.flags:
        shell.say(*table("mmvdisk", "rgDeclusteredArray", DA, [_array(shell, group)]))
    if "--fault-tolerance" in args.flags:
        shell.say(*_tolerance(shell, group))
    if "--log-group" in args.flags:
        names = ["root", *(f"LG{number:03}" for number in range(1, group["logs"]))][: group["logs"]]
        servers = [group["master"], *(server for server in group["servers"] for _ in range(2))]
        rows = [(group["name"], name, servers[index]) for index, name in enumerate(names)]
        shell.say(*table("mmvdisk", "rgLogGroup", "recoveryGroup logGroup server", rows))


def _bad(shell: Shell, group: Doc) -> list[str]:
    """Return the pdisks that are not ok, as far as their server tells."""
    return [name for name, _, drive in pdisks(shell, group) if drive["state"] != "ok"]


def _summary(shell: Shell, group: Doc) -> tuple[object, ...]:
    """Return a group as a row."""
    down = [name for name in group["servers"] if not shell.active(shell.nodes(name)[0])]
    sets = sum(each["created"] for each in shell.cluster["vdisk_sets"].values() if each["group"] == group["name"])
    needs = bool(down or _bad(shell, group) or group["half_made"])
    balance = "running" if group["task"] == "rebalance" else "none"
    remark = "half made" if group["half_made"] else ""
    return (
        group["name"], group["node_class"], not group["half_made"], group["master"], needs,
        2 * len(group["servers"]) * sets, remark, group["adding"], balance, group["suspended"],
    )  # fmt: skip


def _tolerance(shell: Shell, group: Doc) -> list[str]:
    """Return what each vdisk survives, as a table for people: no other form of it is public."""
    servers = len(group["servers"])
    descriptor = "1 node + 1 pdisk" if servers < MIRRORED_DESCRIPTOR else "2 node"
    lines = [
        f"{'configuration data':18}  {'disk group fault tolerance':33}  remarks",
        f"{'-' * 18}  {'-' * 33}  -------",
        f"{'rg descriptor':18}  {descriptor:33}  limiting fault tolerance",
        f"{'system index':18}  {descriptor:33}  limited by rg descriptor",
        "",
        f"{'vdisk':18}  {'RAID code':15}  {'disk group fault tolerance':33}  remarks",
        f"{'-' * 18}  {'-' * 15}  {'-' * 33}  -------",
    ]
    name = group["name"].upper()
    lines += [f"{name + 'LOGHOME':18}  {'4WayReplication':15}  {descriptor:33}  limited by rg descriptor"]
    for held in shell.cluster["vdisk_sets"].values():
        for number in range(1, group["logs"] if held["created"] and held["group"] == group["name"] else 0):
            vdisk = f"{name}LG{number:03}{held['name'].upper()}"
            lines.append(f"{vdisk:18}  {held['code']:15}  {_survives(shell, group, held['code'])}")
    return lines


def _survives(shell: Shell, group: Doc, code: str) -> str:
    """Return what a code survives on the servers of a group, with those that are down and pdisks that are not ok."""
    data, parity, *_ = CODES[code]
    strips = -(-(data + parity) // len(group["servers"]))
    down = [name for name in group["servers"] if not shell.active(shell.nodes(name)[0])]
    bad = sum(drive["state"] != "ok" and server not in down for _, server, drive in pdisks(shell, group))
    nodes, devices = divmod(max(0, parity - len(down) * strips - bad), strips)
    parts = ([f"{nodes} node"] if nodes else []) + ([f"{devices} pdisk"] if devices or not nodes else [])
    return " + ".join(parts)


def _array(shell: Shell, group: Doc) -> tuple[object, ...]:
    """Return the declustered array as a row; a rebalance is over once it was seen."""
    down = [name for name in group["servers"] if not shell.active(shell.nodes(name)[0])]
    task = "rebuild-1r" if down or _bad(shell, group) else group["task"]
    if group["task"] == "rebalance":
        group["task"] = "scrub"
    sets = sum(each["created"] for each in shell.cluster["vdisk_sets"].values() if each["group"] == group["name"])
    return (
        group["name"], ARRAY, bool(_bad(shell, group)), 2 * len(group["servers"]) * sets, len(pdisks(shell, group)),
        group["spares"], 2, raw_bytes(shell, group), free_bytes(shell, group), task,
    )  # fmt: skip


def pdisk(shell: Shell, verb: str, words: list[str]) -> None:
    """Run `mmvdisk pdisk list`.

    Parameters
    ----------
    shell
        Who runs it.
    verb
        list.
    words
        The rest.
    """
    args = Arguments(shell.name, words, "--recovery-group", "-Y --not-ok")
    wanted = args.need("--recovery-group")
    rows = []
    for name, group in shell.cluster["groups"].items():
        for disk, server, drive in pdisks(shell, group) if wanted in (name, "all") and verb == "list" else []:
            if drive["state"] != "ok" or "--not-ok" not in args.flags:
                rows.append((name, disk, ARRAY, server, drive["state"], drive["size_gb"] * 10**9, 0, "NVMe"))
    if wanted != "all":
        group_of(shell, wanted)
    shell.say(*(table("mmvdisk", "pdiskSummary", DISKS, rows) if rows or "--not-ok" not in args.flags else []))


def version_of(group: Doc) -> tuple[int, ...]:
    """Return the version of a recovery group.

    Parameters
    ----------
    group
        The recovery group.

    Returns
    -------
    tuple
        Its numbers.
    """
    return tuple(int(part) for part in group["version"].split("."))
