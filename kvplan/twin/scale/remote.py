"""Two clusters: keys, grants, and file systems of the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.twin.scale.arguments import Arguments
from kvplan.twin.scale.output import table
from kvplan.twin.scale.shell import Shell, command

if TYPE_CHECKING:
    from kvplan.twin.scale.doc import Doc

PUBLIC = "/var/mmfs/ssl/id_rsa_committed.pub"


@command("mmauth")
def mmauth(shell: Shell, words: list[str]) -> None:
    """Make keys, and say who may use which file system."""
    args = Arguments(shell.name, words[1:], "-k -l -f -a", "-Y")
    auth = shell.cluster["auth"]
    verbs = {"genkey": _genkey, "update": _update, "add": _add, "grant": _grant, "show": _show}
    if not words or words[0] not in verbs:
        shell.refuse(f"Incorrect action {' '.join(words[:1])}")
    verbs[words[0]](shell, args, auth)


def _genkey(shell: Shell, args: Arguments, auth: Doc) -> None:
    """Make a new key, or commit it and write its public half."""
    mine = auth.setdefault(".", {"generation": 0, "committed": "", "cipher": "", "pending": ""})
    if args.words == ["new"]:
        if mine["pending"]:
            shell.refuse("6027-1768 A new key was already generated and is not committed.")
        mine["generation"] += 1
        mine["pending"] = f"{shell.cluster['name']} generation {mine['generation']}"
    elif not mine["pending"]:
        shell.refuse("6027-1769 There is no new key to commit.")
    else:
        mine["committed"], mine["pending"] = mine["pending"], ""
    path = shell.file(PUBLIC)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"clusterName={shell.cluster['name']}\nkey={mine['committed'] or mine['pending']}\n", encoding="utf-8"
    )


def _update(shell: Shell, args: Arguments, auth: Doc) -> None:
    """Set how connections are authenticated."""
    if args.words != ["."] or not auth.get(".", {}).get("committed"):
        shell.refuse("6027-1770 There is no committed key: run mmauth genkey first.")
    auth["."]["cipher"] = args.need("-l")


def key_of(shell: Shell, path: str, cluster: str) -> str:
    """Read the key of a cluster.

    Parameters
    ----------
    shell
        Who reads it.
    path
        Its file.
    cluster
        Whose key it must be.

    Returns
    -------
    str
        The key.

    Raises
    ------
    Refusal
        When the file is missing or belongs to another cluster.
    """
    file = shell.file(path)
    if not file.is_file():
        shell.refuse(f"6027-1771 The key file {path} does not exist.")
    held = dict(line.split("=", 1) for line in file.read_text(encoding="utf-8").splitlines() if "=" in line)
    if held.get("clusterName") != cluster or "key" not in held:
        shell.refuse(f"6027-1772 The key file {path} is not that of cluster {cluster}.")
    return held["key"]


def _add(shell: Shell, args: Arguments, auth: Doc) -> None:
    """Let another cluster be known."""
    (name,) = args.words
    if name in auth:
        shell.refuse(f"6027-1773 Cluster {name} is already authorized.")
    auth[name] = {"key": key_of(shell, args.need("-k"), name), "grants": {}}


def _grant(shell: Shell, args: Arguments, auth: Doc) -> None:
    """Give another cluster a file system."""
    (name,) = args.words
    if name not in auth:
        shell.refuse(f"6027-1774 Cluster {name} is not authorized: run mmauth add first.")
    if args.need("-f") not in shell.cluster["file_systems"]:
        shell.refuse(f"6027-1388 File system {args.need('-f')} is not known to the GPFS cluster.")
    auth[name]["grants"][args.need("-f")] = args.get("-a", "rw")


def _show(shell: Shell, args: Arguments, auth: Doc) -> None:
    """List keys and grants."""
    mine = auth.get(".", {})
    rows = [(f"{shell.cluster['name']} (this cluster)", mine.get("cipher", ""), mine.get("committed", ""), "")]
    if args.words == ["all"]:
        for name, held in auth.items():
            grants = ",".join(f"{device} ({how})" for device, how in held.get("grants", {}).items())
            rows += [(name, "", held["key"], grants)] if name != "." else []
    shell.say(*table(shell.name, "", "clusterName cipherList shaDigest fileSystemAccess", rows))


@command("mmremotecluster")
def mmremotecluster(shell: Shell, words: list[str]) -> None:
    """Name a cluster that owns file systems."""
    args = Arguments(shell.name, words[1:], "-n -k", "-Y")
    held = shell.cluster["remote_clusters"]
    if words[0] == "show":
        rows = [(name, each["nodes"], each["key"]) for name, each in held.items()]
        shell.say(*table(shell.name, "", "clusterName contactNodes shaDigest", rows))
        return
    (name,) = args.words
    if name in held:
        shell.refuse(f"6027-1775 The remote cluster {name} is already defined.")
    held[name] = {"nodes": args.need("-n"), "key": key_of(shell, args.need("-k"), name)}


@command("mmremotefs")
def mmremotefs(shell: Shell, words: list[str]) -> None:
    """Name a file system of another cluster."""
    args = Arguments(shell.name, words[1:], "-f -C -T -A -o", "-Y")
    held = shell.cluster["remote_file_systems"]
    if words[0] == "show":
        rows = [
            (name, each["device"], each["cluster"], each["mount_point"], each["automount"])
            for name, each in held.items()
        ]
        shell.say(*table(shell.name, "", "localName remoteName clusterName mountPoint automount", rows))
        return
    (name,) = args.words
    if name in held:
        shell.refuse(f"6027-1776 The remote file system {name} is already defined.")
    if args.need("-C") not in shell.cluster["remote_clusters"]:
        shell.refuse(f"6027-1777 The remote cluster {args.need('-C')} is not known.")
    held[name] = {
        "device": args.need("-f"),
        "cluster": args.need("-C"),
        "mount_point": args.need("-T"),
        "automount": args.get("-A", "no"),
    }
