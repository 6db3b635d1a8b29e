"""The command line of a rack that stands."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Final

from kvplan.errors import KvplanError
from kvplan.twin.rack.inside import keep
from kvplan.twin.rack.rack import HERE, Rack

USAGE: Final = """\
usage: python -m kvplan.twin.rack DIRECTORY VERB [WHAT]
  status | power | down
  on NODE | off NODE | blank NODE | reinstall NODE | kill-sshd NODE
  fill NODE | free NODE             leave no room on its disk, or make some
  cut LINK | restore LINK          such as link:storage-003:client1p0
  exec WHERE PROGRAM [ARGUMENT]... on a node or a switch; WHERE is - for the machine that deploys
  shell [WHERE]
"""


def main(arguments: list[str]) -> int:
    """Do one thing to a rack.

    Parameters
    ----------
    arguments
        The rack's directory, a verb, and what it needs.

    Returns
    -------
    int
        Exit code.
    """
    match arguments:
        case ["keep", directory]:
            return keep(Path(directory))
        case [directory, verb, *rest]:
            return _said(Path(directory), verb, rest)
    sys.stderr.write(USAGE)
    return 2


def _said(directory: Path, verb: str, rest: list[str]) -> int:
    """Do it, or say why not."""
    try:
        rack = Rack.at(directory)
        match verb, rest:
            case "exec", [where, *command] if command:
                return _become(rack.command(_where(where), *command))
            case "shell", [*where]:
                return _become(rack.command(_where(*where), "bash", "-l"))
        result = rack.request(verb, *rest[:1])
    except (KvplanError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return int(getattr(error, "exit_code", 1))
    if result is not None:
        sys.stdout.write(json.dumps(result, indent=2) + "\n")
    return 0


def _where(name: str = "-") -> str:
    """Read a place."""
    return HERE if name == "-" else name


def _become(command: list[str]) -> int:
    """Become a command."""
    os.execvp(command[0], command)  # noqa: S606 - what the user asked for
