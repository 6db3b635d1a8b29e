"""The real `kvplan deploy`, run on the machine of a rack that deploys; its events are passed on as they come."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from kvplan.deploy.events import event_from
from kvplan.errors import ExitCode
from kvplan.twin.rack import HERE
from kvplan.twin.rack.shell import children

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kvplan.deploy.events import Event
    from kvplan.twin.rack import Rack

_TAIL: Final = 4_000
"""Characters of what a run said last that are kept."""


@dataclass(slots=True)
class Run:
    """How a deployment ended: its exit code, its result as JSON, and what it said."""

    code: int = ExitCode.UNEXPECTED
    result: dict[str, Any] = field(default_factory=dict)
    said: str = ""

    @property
    def outcome(self) -> Literal["ok", "failed", "stopped"]:
        """How it ended, in a word."""
        if self.code == ExitCode.INTERRUPTED:
            return "stopped"
        return "failed" if self.code else "ok"

    @property
    def changed(self) -> int:
        """How many tasks changed something, over all phases and hosts."""
        return sum(phase["changed"] for phase in self.result.get("phases", ()))


class Deploying:
    """A deployment that runs.

    Parameters
    ----------
    process
        The process outside the rack that waits for it.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def kill(self) -> None:
        """End it as the kernel does when memory is short: without a word."""
        for pid in children(self.process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def deployed(
    rack: Rack, arguments: Sequence[str], environment: Mapping[str, str], tell: Callable[[Event, Deploying], None]
) -> Run:
    """Run `kvplan deploy` to its end.

    Parameters
    ----------
    rack
        Where.
    arguments
        What follows `deploy`.
    environment
        Its variables, the secrets among them.
    tell
        Takes each event while it runs.

    Returns
    -------
    Run
        How it ended.
    """
    command = rack.command(HERE, sys.executable, "-P", "-m", "kvplan", "deploy", *arguments, "--format", "json")
    run = Run()
    with subprocess.Popen(  # noqa: S603 - kvplan's own command
        command,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        deploying = Deploying(process)
        for line in process.stdout or ():
            data = json.loads(line)
            if data.get("event") == "result":
                run.result = data
            elif event := event_from(data):
                tell(event, deploying)
        run.said = (process.stderr.read() if process.stderr else "")[-_TAIL:]
    run.code = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return run
