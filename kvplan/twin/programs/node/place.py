"""The node that a program runs on: its root, what it was delivered as, and other programs of it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

ROOT = "KV_TWIN_ROOT"
"""Variable that names another root, to try a program out."""
FACTS = "/etc/kvplan-twin/machine.json"
"""What the machine was delivered as: serial number, memory, ports, adapters."""
SHARED = "/var/lib/kvplan-twin"
"""What outlives the disk of a node, on a rack that shares a directory."""
STATE = "/run/kvplan-twin"
"""What lasts until the next start."""


class Refused(Exception):  # noqa: N818 - what a program says, no fault of this code
    """What a program says when it will not, and the code that it ends with."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


class Node:
    """The node.

    Parameters
    ----------
    root
        Where its root directory is.
    """

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or Path(os.environ.get(ROOT, "/"))
        self.facts: dict[str, Any] = self.document(FACTS, {})

    @property
    def name(self) -> str:
        """Its name in the inventory."""
        return str(self.facts.get("name", ""))

    def path(self, path: str) -> Path:
        """Return where a file of it is."""
        return self.root / path.lstrip("/")

    def text(self, path: str, default: str = "") -> str:
        """Read a file, or return the default where there is none."""
        try:
            return self.path(path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return default

    def write(self, path: str, text: str) -> None:
        """Write a file in one step, and make the directory that it is in."""
        place = self.path(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        beside = place.with_name(f".{place.name}.{os.getpid()}")
        beside.write_text(text, encoding="utf-8")
        beside.replace(place)

    def document(self, path: str, default: Any) -> Any:
        """Read a JSON file, or return the default where there is none."""
        text = self.text(path)
        return json.loads(text) if text else default

    def keep(self, path: str, document: Any) -> None:
        """Write a JSON file."""
        self.write(path, json.dumps(document, indent=1) + "\n")

    def run(self, *argv: str, stdin: str = "", check: bool = True) -> str:
        """Run another program of the node and return what it wrote.

        Parameters
        ----------
        *argv
            Program and arguments.
        stdin
            What it reads.
        check
            Whether it must end well.

        Returns
        -------
        str
            Its output.

        Raises
        ------
        Refused
            When it must end well and does not.
        """
        done = subprocess.run(argv, input=stdin, capture_output=True, text=True, check=False)  # noqa: S603 - kvplan's own
        if check and done.returncode:
            message = f"{argv[0]}: {done.stderr.strip() or done.returncode}"
            raise Refused(message)
        return done.stdout


def said(*lines: str) -> None:
    """Print lines."""
    for line in lines:
        print(line)  # noqa: T201 - a program's output
