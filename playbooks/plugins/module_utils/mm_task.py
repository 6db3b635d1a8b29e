"""What all modules for Storage Scale share: reading, changing, check mode, the report at the end."""
# ruff: noqa: INP001

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.mm import BIN, MmError, cause, rows, yes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LOCKED = "6027-1227"
"""Another command changes the configuration; the refused one did nothing and may be repeated."""
LOCK_PAUSES = (5, 15, 30)
"""Pauses before it is [s]."""
LIMIT_SAYS = {124: "{0} did not end within {1} s: ssh may wait for an answer", 127: "{0} is not installed"}
"""What timeout(1) means by its return codes."""

NOT_YET = r"6027-1382|6027-1209|6027-1388|is not installed|does not exist|is not defined|no quorum"
"""What reading says before the steps that check mode only foresaw."""


class Task:
    """A module at work: what it read, what it changed, and how both are told."""

    def __init__(self, spec: dict[str, Any], **extra: Any) -> None:
        self.module = AnsibleModule(argument_spec=spec, supports_check_mode=True, **extra)
        self.commands: list[list[str]] = []
        self.limit_s = 0
        self.before: dict[str, Any] = {}
        self.after: dict[str, Any] = {}

    @property
    def check(self) -> bool:
        """Whether nothing may be changed."""
        return bool(self.module.check_mode)

    def __getitem__(self, name: str) -> Any:
        """Return a parameter of the module."""
        return self.module.params[name]

    def read(self, *argv: str, absent: str = "") -> str | None:
        """Run a command that changes nothing.

        Parameters
        ----------
        *argv
            The command.
        absent
            Pattern of the message that means: there is no such thing.

        Returns
        -------
        str or None
            Its output; None for no such thing.

        Raises
        ------
        MmError
            When it failed otherwise.
        """
        try:
            return self._run(argv)
        except MmError as failed:
            patterns = [pattern for pattern in (absent, NOT_YET if self.check else "") if pattern]
            if any(re.search(pattern, failed.message) for pattern in patterns):
                return None
            raise

    def rows(
        self,
        argv: list[str],
        section: str,
        columns: Mapping[str, Callable[[str], Any]],
        absent: str = "",
        *,
        header: bool = True,
    ) -> list[dict[str, Any]]:
        """Read rows of `-Y` output; none where there is no such thing."""
        text = self.read(*argv, absent=absent)
        return [] if text is None else rows(text, argv[0], section, columns, header=header)

    def change(self, *argv: str) -> str:
        """Run a command that changes something; in check mode only note it."""
        self.commands.append(list(argv))
        return "" if self.check else self._run(argv)

    def _run(self, argv: tuple[str, ...]) -> str:
        """Run a command; while another one holds the configuration, pause and run it again."""
        for pause in LOCK_PAUSES:
            try:
                return self._once(argv)
            except MmError as failed:
                if LOCKED not in failed.message:
                    raise
            time.sleep(pause)
        return self._once(argv)

    def _once(self, argv: tuple[str, ...]) -> str:
        """Run a command with nothing to read from, so that no question can hold it up."""
        limited = ["timeout", "--kill-after", "10", str(self.limit_s)] if self.limit_s else []
        try:
            code, out, err = self.module.run_command(
                [*limited, *argv], data="", path_prefix=BIN, handle_exceptions=False
            )
        except OSError as wrong:
            message = f"{argv[0]} is not installed: {wrong.strerror}"
            raise MmError(message, argv) from wrong
        if limited and code in LIMIT_SAYS:
            message = LIMIT_SAYS[code].format(argv[0], self.limit_s)
            raise MmError(message, argv, code)
        if code:
            raise MmError(cause(out, err), argv, code)
        return str(out)

    def states(self) -> dict[str, str]:
        """Return the state of each daemon by daemon name."""
        nodes = self.rows(["mmgetstate", "-a", "-Y"], "", {"nodeName": str, "nodeNumber": str, "state": str})
        by_number = {node["nodeNumber"]: node["state"] for node in nodes}
        return {node["daemonNodeName"]: by_number.get(node["nodeNumber"], "unknown") for node in self.members()}

    def members(self) -> list[dict[str, Any]]:
        """Return the nodes of the cluster, as it names them."""
        names = ("nodeNumber", "daemonNodeName", "adminNodeName", "designation")
        return self.rows(["mmlscluster", "-Y"], "clusterNode", dict.fromkeys(names, str))

    def groups(self) -> list[dict[str, Any]]:
        """Return the recovery groups."""
        kinds = {"rgName": str, "nodeClass": str, "currentServers": str, "needsService": yes, "AddNode": yes}
        columns = {**kinds, "rebalanceStatus": str, "suspendedServer": str, "remarks": str}
        return self.rows(["mmvdisk", "recoverygroup", "list", "-Y"], "rgSummary", columns)

    def vdisk_classes(self, absent: str = "") -> list[dict[str, Any]]:
        """Return the node classes of mmvdisk."""
        columns = {"nodeClass": str, "members": str, "recoveryGroups": str}
        return self.rows(["mmvdisk", "nodeclass", "list", "-Y"], "nodeclass", columns, absent=absent)

    def known_nodes(self, wanted: list[str]) -> list[str]:
        """Return names that the cluster knows, or fail with those that it does not; check mode may foresee them."""
        known = [node["daemonNodeName"] for node in self.members()]
        unknown = [name for name in wanted if name not in known]
        if unknown and not self.check:
            message = f"6027-1628 Incorrect node name {', '.join(unknown)}; the cluster knows {', '.join(known)}"
            raise MmError(message)
        return wanted

    def end(self, **facts: Any) -> None:
        """Report."""
        self.module.exit_json(
            changed=bool(self.commands),
            commands=[" ".join(each) for each in self.commands],
            diff={"before": self.before, "after": self.after},
            **facts,
        )


def run(work: Callable[[Task], None], spec: dict[str, Any], **extra: Any) -> None:
    """Run a module: its failures are the command's own message and what helps.

    Parameters
    ----------
    work
        What it does.
    spec
        Its arguments.
    **extra
        More for AnsibleModule, such as `required_if`.
    """
    task = Task(spec, **extra)
    try:
        work(task)
    except MmError as failed:
        command = " ".join(failed.command)
        advice = failed.remedy
        text = f"{failed.message}\n{advice}" if advice else failed.message
        task.module.fail_json(msg=text, message=failed.message, remedy=advice, command=command, rc=failed.rc)
