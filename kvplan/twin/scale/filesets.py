"""Filesets, quotas, policies and callbacks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kvplan.twin.scale.arguments import Arguments
from kvplan.twin.scale.filesystems import known
from kvplan.twin.scale.limits import KIB, size_bytes
from kvplan.twin.scale.output import table
from kvplan.twin.scale.shell import Shell, command

if TYPE_CHECKING:
    from kvplan.twin.scale.doc import Doc

FILESET = (
    "filesystemName filesetName id rootInode status path parentId created inodes dataInKB comment inodeSpace "
    "isInodeSpaceOwner maxInodes allocInodes"
)
QUOTA = (
    "filesystemName quotaType id name blockUsage blockQuota blockLimit blockInDoubt blockGrace filesUsage filesQuota "
    "filesLimit filesInDoubt filesGrace remarks quota defQuota fid filesetname"
)
_INODE_STEP = 1024
_EVENTS = ("lowDiskSpace", "noDiskSpace", "softQuotaExceeded", "nodeJoin", "nodeLeave", "mount", "startup", "shutdown")


@command("mmcrfileset")
def mmcrfileset(shell: Shell, words: list[str]) -> None:
    """Create a fileset; inode limits are rounded up."""
    args = Arguments(shell.name, words, "--inode-space --inode-limit -t", "")
    shell.need_active()
    device, name = args.words
    filesets = known(shell, device)["filesets"]
    if name in filesets:
        shell.refuse(f"6027-2680 Fileset {name} already exists in file system {device}.")
    limit, _, allocated = args.get("--inode-limit", "100000").partition(":")
    filesets[name] = {
        "id": len(filesets),
        "path": "",
        "limit": -(-int(limit) // _INODE_STEP) * _INODE_STEP,
        "allocated": int(allocated or 0),
        "own_space": args.get("--inode-space") == "new",
        "quota": {},
    }
    shell.say(f"Fileset {name} created with id {filesets[name]['id']} root inode 131075.")


@command("mmchfileset")
def mmchfileset(shell: Shell, words: list[str]) -> None:
    """Raise the inode limit of a fileset."""
    args = Arguments(shell.name, words, "--inode-limit", "")
    held = _fileset(shell, *args.words)
    limit, _, allocated = args.need("--inode-limit").partition(":")
    if int(limit) < held["allocated"]:
        shell.refuse("6027-2681 The inode limit is below the inodes that are allocated.")
    held["limit"] = -(-int(limit) // _INODE_STEP) * _INODE_STEP
    held["allocated"] = int(allocated or held["allocated"])


def _fileset(shell: Shell, device: str, name: str) -> Doc:
    """Return a fileset."""
    held: Doc | None = known(shell, device)["filesets"].get(name)
    if held is None:
        shell.refuse(f"6027-2682 Fileset named {name} does not exist.")
    return held


@command("mmlinkfileset")
def mmlinkfileset(shell: Shell, words: list[str]) -> None:
    """Link a fileset at a path of a file system that is mounted here."""
    args = Arguments(shell.name, words, "-J", "")
    device, name = args.words
    held = _fileset(shell, device, name)
    if device not in shell.machine["mounts"]:
        shell.refuse(f"6027-2683 File system {device} is not mounted on this node.")
    if held["path"]:
        shell.refuse(f"6027-2684 Fileset {name} is already linked at {held['path']}.")
    held["path"] = args.need("-J")
    shell.file(args.need("-J")).mkdir(parents=True, exist_ok=True)
    shell.say(f"Fileset {name} linked at {held['path']}")


@command("mmlsfileset")
def mmlsfileset(shell: Shell, words: list[str]) -> None:
    """List filesets."""
    args = Arguments(shell.name, words, "", "-L -Y")
    shell.need_active()
    device, *names = args.words
    filesets = known(shell, device)["filesets"]
    for name in names:
        _fileset(shell, device, name)
    rows = []
    for name, each in filesets.items():
        if not names or name in names:
            linked = "Linked" if each["path"] or name == "root" else "Unlinked"
            state = (device, name, each["id"], 3, linked, each["path"] or "--", 0, "", 0, 0, "")
            rows.append((*state, each["id"], 1, each["limit"], each["allocated"]))
    shell.say(*table(shell.name, "", FILESET, rows))


@command("mmsetquota")
def mmsetquota(shell: Shell, words: list[str]) -> None:
    """Set the block quota of a fileset."""
    args = Arguments(shell.name, words, "--block --files", "")
    shell.need_active()
    device, _, name = args.words[0].partition(":")
    if known(shell, device)["quotas"] != "yes":
        shell.refuse(f"6027-2685 Quota management is not enabled for file system {device}.")
    soft, _, hard = args.need("--block").partition(":")
    try:
        kib = [size_bytes(each) // KIB for each in (soft, hard or soft)]
    except ValueError:
        shell.refuse(f"6027-1253 Incorrect value for --block option: {args.need('--block')}.")
    _fileset(shell, device, name)["quota"] = {"soft": kib[0], "hard": kib[1]}


@command("mmlsquota")
def mmlsquota(shell: Shell, words: list[str]) -> None:
    """Show the quota of a fileset."""
    args = Arguments(shell.name, words, "-j", "-Y")
    shell.need_active()
    (device,) = args.words
    held = _fileset(shell, device, args.need("-j"))
    quota = held["quota"]
    limits = (quota.get("soft", 0), quota.get("hard", 0))
    used = known(shell, device)["used"] // KIB
    name = args.need("-j")
    values = (
        device,
        "FILESET",
        held["id"],
        name,
        used,
        *limits,
        0,
        "none",
        0,
        0,
        0,
        0,
        "none",
        "",
        "on",
        "off",
        "",
        "",
    )
    shell.say(*table(shell.name, "", QUOTA, [values]))


@command("mmchpolicy")
def mmchpolicy(shell: Shell, words: list[str]) -> None:
    """Install rules, or only try them."""
    args = Arguments(shell.name, words, "-I -t", "")
    shell.need_active()
    device, path = args.words
    held = known(shell, device)
    text = _rules(shell, path, held["pools"])
    if args.get("-I", "yes") == "test":
        shell.say("Validated policy: parsed 1 Placement Rules.", "Policy was only tested, not installed.")
        return
    held["policy"] = text
    shell.say(f"Policy `{path.rpartition('/')[2]}' installed and broadcast to all nodes.")


def _rules(shell: Shell, path: str, pools: list[str]) -> str:
    """Return rules that parse and name pools that exist."""
    file = shell.file(path)
    if not file.is_file():
        shell.refuse(f"6027-2686 Cannot open policy file {path}: No such file or directory.")
    text = file.read_text(encoding="utf-8")
    plain = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    for rule in filter(str.strip, re.split(r"(?=\bRULE\b)", plain)):
        verb = re.match(r"RULE\s+'[^']+'\s+(EXCLUDE|DELETE|SET|MIGRATE|LIST|EXTERNAL)\b", rule.strip())
        if not verb:
            shell.refuse(f"[E:-1] Error while loading policy rules. PCSQLERR: near `{rule.strip()[:40]}'.")
        for pool in re.findall(r"POOL\s+'([^']+)'", rule):
            if pool not in pools:
                shell.refuse(f"[E:-1] Error while loading policy rules: pool `{pool}' does not exist.")
    return text


@command("mmlspolicy")
def mmlspolicy(shell: Shell, words: list[str]) -> None:
    """Print the rules of a file system."""
    args = Arguments(shell.name, words, "", "-L -Y")
    shell.need_active()
    held = known(shell, args.words[0])
    shell.say(held["policy"].rstrip("\n") if held["policy"] else "No policy file was installed for this file system.")


@command("mmapplypolicy")
def mmapplypolicy(shell: Shell, words: list[str]) -> None:
    """Apply rules once; a test chooses files and deletes none."""
    args = Arguments(shell.name, words, "-P -I -N -s -L -g", "--single-instance")
    shell.need_active()
    held = known(shell, args.words[0])
    _rules(shell, args.need("-P"), held["pools"])
    shell.nodes(args.get("-N", shell.here["daemon"]))
    shell.say("[I] GPFS Current Data Pool Utilization in KB and %", "[I] Evaluating policy rules.",
              "[I] Chose to delete 0KB: 0 of 0 candidates;")  # fmt: skip
    if args.get("-I") != "test":
        held["used"] = 0


@command("mmaddcallback")
def mmaddcallback(shell: Shell, words: list[str]) -> None:
    """Let a command run on events."""
    args = Arguments(shell.name, words, "--command --event --parms -N --priority --timeout", "--async --sync")
    (name,) = args.words
    callbacks = shell.cluster["callbacks"]
    if name in callbacks:
        shell.refuse(f'6027-2501 Callback identifier "{name}" already exists or was specified multiple times.')
    for event in args.need("--event").split(","):
        if event not in _EVENTS:
            shell.refuse(f"6027-2504 Unknown event: {event}.")
    shell.nodes(args.get("-N", "all"))
    callbacks[name] = {
        "command": args.need("--command"),
        "event": args.need("--event"),
        "node": args.get("-N", "all"),
        "parms": args.get("--parms"),
    }


@command("mmdelcallback")
def mmdelcallback(shell: Shell, words: list[str]) -> None:
    """Remove a callback."""
    if shell.cluster["callbacks"].pop(words[0], None) is None:
        shell.refuse(f'6027-2502 Callback identifier "{words[0]}" was not found.')


@command("mmlscallback")
def mmlscallback(shell: Shell, words: list[str]) -> None:
    """List callbacks."""
    args = Arguments(shell.name, words, "", "-Y")
    callbacks = shell.cluster["callbacks"]
    for name in args.words:
        if name not in callbacks:
            shell.refuse(f'6027-2502 Callback identifier "{name}" was not found.')
    fields = ("command", "event", "node", "parms")
    rows = [(name, *(callbacks[name][field] for field in fields)) for name in args.words or sorted(callbacks)]
    shell.say(*table(shell.name, "", "callbackName command event node parms", rows))
