"""A long command that runs on by itself: it outlives the module, and its output and return code are kept."""
# ruff: noqa: INP001

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from ansible.module_utils.mm import BIN, MmError, cause

if TYPE_CHECKING:
    from ansible.module_utils.mm_task import Task

_SCRIPT = '"$@" >"$JOB.out" 2>"$JOB.err" </dev/null; echo $? >"$JOB.rc.new"; mv "$JOB.rc.new" "$JOB.rc"'


class Job:
    """A command by the name of what it makes."""

    def __init__(self, task: Task, directory: str, name: str) -> None:
        self.task, self.stem = task, Path(directory) / name

    def _file(self, kind: str) -> Path:
        """Return a file of the job."""
        return self.stem.with_name(f"{self.stem.name}.{kind}")

    @property
    def mark(self) -> Path:
        """A file that outlives jobs: what is made was deleted half made, so that traces of it are its own."""
        return self._file("cleared")

    def running(self) -> bool:
        """Whether its process lives and has not ended.

        Returns
        -------
        bool
            False also for a job that died with the node.
        """
        pid = self._file("pid")
        if not pid.is_file() or self._file("rc").is_file():
            return False
        try:
            words = Path(f"/proc/{pid.read_text(encoding='utf-8').strip()}/environ").read_bytes()
        except OSError:
            return False
        return f"JOB={self.stem}".encode() in words

    def need_no_failure(self) -> None:
        """Tell once of a command that failed.

        Raises
        ------
        MmError
            With what it said.
        """
        ended = self._file("rc")
        if not ended.is_file() or self.task.check:
            return
        code = int(ended.read_text(encoding="utf-8"))
        argv = self._file("cmd").read_text(encoding="utf-8").split()
        ended.unlink()
        self._file("pid").unlink()
        if code:
            texts = [self._file(kind).read_text(encoding="utf-8") for kind in ("out", "err")]
            raise MmError(cause(*texts), argv, code)

    def start(self, *argv: str) -> None:
        """Start a command in a session of its own.

        Parameters
        ----------
        *argv
            The command.
        """
        self.task.commands.append(list(argv))
        self.stem.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file("rc").unlink(missing_ok=True)
        self._file("cmd").write_text(" ".join(argv), encoding="utf-8")
        place = {**os.environ, "JOB": str(self.stem), "PATH": f"{BIN}:{os.environ.get('PATH', '')}"}
        process = subprocess.Popen(  # noqa: S603
            ["/bin/sh", "-c", _SCRIPT, "job", *argv],
            env=place,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._file("pid").write_text(str(process.pid), encoding="utf-8")
