"""A machine of QEMU while it runs, asked and told over its own input and output."""

from __future__ import annotations

import json
import subprocess
from contextlib import suppress
from queue import Empty, Queue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final

from kvplan.errors import KvplanError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_PATIENCE_S: Final = 30


class QemuError(KvplanError):
    """QEMU does not run, or does not do what it is told."""


class Running:
    """One process of QEMU; `restarting` tells that it ended because the guest restarts.

    Parameters
    ----------
    command
        Program and arguments, with its monitor at `stdio`.
    log
        Where its complaints go.
    on_end
        Called with this when it ended by itself, in a thread of its own.
    """

    def __init__(self, command: Sequence[str], log: Path, on_end: Callable[[Running], None]) -> None:
        self.restarting = False
        self._command = command
        self._log = log
        self._on_end = on_end
        self._ending = False
        self._answers: Queue[dict[str, Any]] = Queue()
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: Thread | None = None
        self._lock = Lock()

    @property
    def pid(self) -> int:
        """Its process; 0 before there is one."""
        return self._process.pid if self._process else 0

    def start(self) -> None:
        """Start it, unless it was ended before; it runs when this returns.

        Raises
        ------
        QemuError
            When it does not start, with what it said.
        """
        with self._lock:
            if self._ending:
                return
            with self._log.open("wb") as complaints:
                self._process = subprocess.Popen(  # noqa: S603 - kvplan's own command
                    self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints
                )
            self._reader = Thread(target=self._read, args=(self._process,), name=f"qemu-{self._process.pid}")
            self._reader.start()
        # The answer comes when everything is opened, the medium too.
        self.ask("qmp_capabilities")

    def ask(self, command: str, **arguments: Any) -> Any:
        """Tell it something, and wait for its answer.

        Parameters
        ----------
        command
            A command of the monitor.
        **arguments
            Its arguments.

        Returns
        -------
        object
            What it returns.

        Raises
        ------
        QemuError
            When it refuses, or is gone.
        """
        text = json.dumps({"execute": command, "arguments": arguments})
        try:
            if self._process and self._process.stdin:
                self._process.stdin.write(f"{text}\n".encode())
                self._process.stdin.flush()
            answer = self._answers.get(timeout=_PATIENCE_S)
        except (OSError, ValueError, Empty):
            answer = {}
        if "return" not in answer:
            said = answer.get("error", {}).get("desc") or self._log.read_text(encoding="utf-8", errors="replace")
            message = f"QEMU does not do {command}: {' '.join(said.split()) or 'it is gone'}"
            raise QemuError(message)
        return answer["return"]

    def end(self) -> None:
        """End it at once, as a machine ends without power."""
        with self._lock:
            self._ending = True
        if self._process and self._reader:
            self._process.kill()
            self._reader.join()

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        """Read what it says until it ends."""
        for line in process.stdout or ():
            self._take(json.loads(line))
        process.wait()
        for stream in (process.stdin, process.stdout):
            # What it was told last may never have been read.
            with suppress(OSError):
                if stream:
                    stream.close()
        self._answers.put({})
        if not self._ending:
            self._on_end(self)

    def _take(self, said: dict[str, Any]) -> None:
        """Take an answer, or note that the guest restarts."""
        if "return" in said or "error" in said:
            self._answers.put(said)
        elif said.get("event") == "SHUTDOWN":
            self.restarting = said["data"]["reason"] == "guest-reset"
