"""Daemons: start, stop, state, parameters stored and running."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from kvplan.twin.scale.arguments import Arguments
from kvplan.twin.scale.cluster import PROPAGATE
from kvplan.twin.scale.output import table
from kvplan.twin.scale.shell import Shell, command, drive
from kvplan.twin.scale.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.twin.scale.doc import Doc

DEFAULTS = {
    "adminMode": "allToAll",
    "autoload": "no",
    "maxblocksize": "4194304",
    "pagepool": "1073741824",
    "verbsRdma": "disable",
    "verbsRdmaCm": "disable",
    "verbsRdmaSend": "no",
    "verbsPorts": "",
    "workerThreads": "512",
    "maxFilesToCache": "4000",
    "maxStatCache": "1000",
    "maxMBpS": "2048",
    "enforceFilesetQuotaOnRoot": "no",
    "nsdRAIDTracks": "0",
    "nsdRAIDBufferPoolSizePct": "50",
    "nsdRAIDStrictPdiskSlotLocation": "1",
    "verbsGPUDirectStorage": "no",
    "tscCmdPortRange": "",
    "autoBuildGPL": "no",
    "subnets": "",
    "verbsRdmaRoCEToS": "-1",
}
"""Parameters that are known, and what the daemon runs without them."""

AT_ONCE = ("maxMBpS", "pagepool", "enforceFilesetQuotaOnRoot", "nsdRAIDBufferPoolSizePct")
"""Parameters of the daemon that `-i` changes while it runs."""

UNSUPPORTED = ("nsdRAIDStrictPdiskSlotLocation",)
"""Parameters for tests only: mmchconfig asks for a number first."""

ALL_DOWN = ("maxblocksize",)
"""Parameters that change only while every daemon is down."""

STATE = "nodeName nodeNumber state quorum nodesUp totalNodes remarks cnfsState"
_SHORT_NAMES_SINCE = (5, 2)
_HEALTH_TEXT_SINCE = (6, 0)


def level(shell: Shell) -> tuple[int, ...]:
    """Return the release of the commands.

    Parameters
    ----------
    shell
        Who asks.

    Returns
    -------
    tuple
        Its numbers.
    """
    return tuple(int(part) for part in shell.state["release"].split("."))


@command("mmstartup")
def mmstartup(shell: Shell, words: list[str]) -> int:
    """Start daemons."""
    args = Arguments(shell.name, words, "-N", "-a")
    nodes = shell.chosen(args)
    missing = [node["daemon"] for node in nodes if not node["licence"]]
    if missing:
        shell.refuse(f"6027-1840 The following nodes are not properly licensed: {','.join(missing)}")
    shell.say(f"{shell.name}: 6027-1642 Starting GPFS ...")
    failed = 0
    for node in nodes:
        held = shell.machine_of(node)
        if not held["up"]:
            shell.err.append(f"{node['admin']}:  ssh: connect to host {node['admin']} port 22: No route to host")
            failed = 1
        elif held["cluster"] != shell.cluster["name"]:
            shell.err.append(f"{node['admin']}:  mmremote: 6027-1382 This node does not belong to a GPFS cluster.")
            failed = 1
        elif not held["gpl"]:
            shell.err.append(f"{node['admin']}:  mmremote: 6027-1591 startSubsys: Unable to start GPFS: the module "
                             "mmfs26 cannot be loaded; run mmbuildgpl.")  # fmt: skip
            failed = 1
        elif not held["daemon"]:
            shell.start(node)
    return failed


@command("mmshutdown")
def mmshutdown(shell: Shell, words: list[str]) -> None:
    """Stop daemons; what they had mounted is gone."""
    args = Arguments(shell.name, words, "-N", "-a")
    nodes = shell.chosen(args)
    shell.need_reach(nodes)
    shell.say(f"{shell.name}: 6027-1341 Starting force unmount of GPFS file systems")
    for node in nodes:
        shell.machine_of(node).update(daemon=False, running={}, mounts=[])
    shell.say(f"{shell.name}: 6027-1344 Shutting down GPFS daemons", f"{shell.name}: 6027-1345 Finished")


@command("mmgetstate")
def mmgetstate(shell: Shell, words: list[str]) -> None:
    """Show the state of daemons; a node that cannot reach the others knows only its own."""
    args = Arguments(shell.name, words, "-N", "-a -Y -L -s")
    cluster = shell.cluster
    quorum = sum(node["quorum"] for node in cluster["nodes"])
    up = sum(shell.machine_of(node)["daemon"] for node in cluster["nodes"])
    short = level(shell) >= _SHORT_NAMES_SINCE
    rows = []
    for node in shell.chosen(args):
        state = _state(shell, node)
        name = node["daemon"].split(".")[0]
        counts = (quorum // 2 + 1, up, len(cluster["nodes"])) if state == "active" else (0, 0, len(cluster["nodes"]))
        remark = "quorum node" if node["quorum"] else ""
        names = (name, node["daemon"]) if short else ()
        rows.append((name, node["number"], state, *counts, remark, "(undefined)", *names))
    fields = STATE + (" daemonShortName daemonNodeName" if short else "")
    if "-Y" in args.flags:
        shell.say(*table(shell.name, "", fields, rows))
    else:
        shell.say(*(f"{row[1]:>6}  {row[0]:<16} {row[2]}" for row in rows))


def _state(shell: Shell, node: Doc) -> str:
    """Return the state of a node as this one sees it."""
    held = shell.machine_of(node)
    here = node["machine"] == shell.machine_name
    if held["cluster"] != shell.cluster["name"]:
        return "unknown"
    if not here and not (held["up"] and held["ssh"] and shell.machine["ssh"]):
        return "unknown"
    if not held["daemon"]:
        return "down"
    return "active" if shell.quorate() else "arbitrating"


@command("mmchconfig")
def mmchconfig(shell: Shell, words: list[str]) -> None:
    """Store parameters; daemons take them when they start, unless `-i` or `-I` lets them do so at once."""
    args = Arguments(shell.name, words, "-N", "-i -I")
    cluster = shell.cluster
    nodes = shell.nodes(args.get("-N", "all"))
    for name, value in _pairs(shell, args.words):
        if name in UNSUPPORTED:
            shell.refuse(f"Changing {name} is not supported. Enter 999 to go on: no answer.")
        if name in ALL_DOWN and any(shell.machine_of(node)["daemon"] for node in cluster["nodes"]):
            shell.refuse(f"6027-1505 The {name} attribute cannot be changed while GPFS is running on any node.")
        at_once = bool(args.flags & {"-i", "-I"})
        if at_once and name not in (*AT_ONCE, "adminMode", "autoload"):
            shell.refuse(f"6027-1506 The {name} attribute cannot be changed with -i: restart the daemon.")
        if "-I" not in args.flags:
            for target in _targets(shell, args.get("-N")):
                store(cluster, name, target, value)
        if at_once:
            for node in nodes:
                shell.machine_of(node)["running"].update({name: value} if shell.machine_of(node)["daemon"] else {})
    shell.say("mmchconfig: Command successfully completed", PROPAGATE.format(shell.name))


def _pairs(shell: Shell, words: list[str]) -> list[tuple[str, str]]:
    """Split `name=value`; names must be known."""
    pairs = []
    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            shell.refuse(f"6027-1253 Incorrect value for {name} option.")
        if name not in DEFAULTS and name != "release":
            shell.refuse(f"6027-1503 Unknown attribute specified: {name}")
        pairs.append((name, value))
    return pairs


def _targets(shell: Shell, wanted: str) -> list[str]:
    """Return under which names a value is stored: classes stay classes."""
    classes = {**shell.cluster["classes"], **shell.cluster["vdisk_classes"]}
    names: list[str] = []
    for word in wanted.split(",") if wanted else [""]:
        names += [word] if not word or word in classes else [node["daemon"] for node in shell.nodes(word)]
    return names


def store(cluster: Doc, name: str, target: str, value: str) -> None:
    """Store the value of a parameter.

    Parameters
    ----------
    cluster
        To be changed.
    name
        The parameter.
    target
        Node, class, or nothing for all.
    value
        DEFAULT takes it out.
    """
    held = cluster["config"].setdefault(name, {})
    if value == "DEFAULT":
        held.pop(target, None)
    else:
        held[target] = value


@command("mmlsconfig")
def mmlsconfig(shell: Shell, words: list[str]) -> None:
    """List stored parameters."""
    args = Arguments(shell.name, words, "", "-Y")
    cluster = shell.cluster
    rows = [("clusterName", cluster["name"], ""), ("minReleaseLevel", shell.state["release"], "")]
    rows += [(name, value, target) for name, held in cluster["config"].items() for target, value in held.items()]
    if args.words:
        (wanted,) = args.words
        rows = [each for each in rows if each[0] == wanted] or [(wanted, DEFAULTS.get(wanted, "(undefined)"), "")]
    if "-Y" in args.flags:
        shell.say(*table(shell.name, "", "configParameter value nodeList", rows))
    else:
        shell.say(*(f"{name} {value} {'[' + target + ']' if target else ''}".strip() for name, value, target in rows))


@command("mmdiag")
def mmdiag(shell: Shell, words: list[str]) -> None:
    """Show what the daemon of this node runs; yes and no are numbers there."""
    args = Arguments(shell.name, words, "", "--config --network -Y")
    if not shell.machine["daemon"]:
        shell.refuse("6027-1209 GPFS is down on this node.")
    running = shell.machine["running"]
    shell.say("", f"=== mmdiag: {'network' if '--network' in args.flags else 'config'} ===")
    if "--config" in args.flags:
        for name in sorted(DEFAULTS):
            value = running.get(name, DEFAULTS[name])
            mark = "!" if name in running else " "
            shell.say(f" {mark} {name} {({'yes': '1', 'no': '0'}).get(value, value)}")


@command("mmdsh")
def mmdsh(shell: Shell, words: list[str]) -> int:
    """Run a command on nodes; each line begins with the node."""
    args = Arguments(shell.name, words[:2], "-N")
    failed = 0
    for node in shell.nodes(args.need("-N")):
        held = shell.machine_of(node)
        if not (held["up"] and held["ssh"]):
            shell.err.append(f"mmdsh: 6027-1615 {node['admin']} remote shell process had return code 255.")
            failed = 1
        elif words[2:] != ["true"]:
            other = Shell(_Held(shell), node["machine"], words[2].rpartition("/")[2])
            failed = drive(other, words[3:], lambda: None) or failed
            shell.say(*(f"{node['admin']}:  {line}" for line in other.out))
            shell.err += [f"{node['admin']}:  {line}" for line in other.err]
    return failed


class _Held(Store):
    """The state as another command holds it: a command within a command must not wait for the lock."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell.store.path)
        self.state = shell.state

    def fault(self, _line: str, _node: str) -> Doc:
        """No fault: the outer command had its chance."""
        return {}

    @contextmanager
    def changed(self) -> Iterator[Doc]:
        """Give the state that the outer command holds."""
        yield self.state

    def wait(self, _seconds: float) -> None:
        """Let no time pass."""


@command("mmhealth")
def mmhealth(shell: Shell, words: list[str]) -> None:
    """Show states and events; servers of other makers always have an event about their parts."""
    args = Arguments(shell.name, words, "-N", "-Y -a")
    lines: list[str] = []
    text = level(shell) >= _HEALTH_TEXT_SINCE
    fields = "node component entityname entitytype status laststatuschange" + (" lastcheck" if text else "")
    events = "node component entityname entitytype event arguments activesince identifier ishidden"
    for node in shell.nodes(args.get("-N", "all" if "cluster" in args.words else shell.here["daemon"])):
        for component, status, event in _health(shell, node):
            stamp = "2026-10-01 00:00:00.000000 UTC"
            name = node["daemon"]
            lines += table(
                "mmhealth", "State", fields, [(name, component, name, "NODE", status, stamp, *[stamp] * text)]
            )
            if event:
                extra = ("", "", "WARNING", "") if text else ()
                found = (name, component, name, "NODE", event, "", stamp, "", False, *extra)
                wide = events + (" message eventtype severity fullidentifier" if text else "")
                lines += table("mmhealth", "Event", wide, [found])
    shell.say(*lines)


def _health(shell: Shell, node: Doc) -> list[tuple[str, str, str]]:
    """Return component, status and event of a node."""
    if not shell.active(node):
        return [("GPFS", "FAILED", "gpfs_down" if not shell.machine_of(node)["daemon"] else "quorum_down")]
    found = [("GPFS", "HEALTHY", "")]
    for group in shell.cluster["groups"].values():
        if node["daemon"] in group["servers"]:
            found.append(("NATIVE_RAID", "DEGRADED", "ess_config_mismatch"))
        if node["daemon"] == group["servers"][0] != group["master"]:
            found.append(("NATIVE_RAID", "TIPS", "gnr_rg_not_primary"))
    return found
