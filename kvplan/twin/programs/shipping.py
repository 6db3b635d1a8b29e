"""How programs reach a node: their text as a library, and a short script for each name."""

from __future__ import annotations

from pathlib import Path
from typing import Final

LIBRARY: Final = "/usr/local/lib/kvplan-twin"
"""Where the library is on a node."""
_PACKAGE: Final = "kvplan/twin/programs/node"
_EMPTY: Final = "from __future__ import annotations\n"
_MAIN: Final = """\
from __future__ import annotations

import sys

from kvplan.twin.programs.node.commands import main

sys.exit(main(sys.argv[1:]))
"""


def library() -> dict[str, str]:
    """Return the library that every script of `script` needs.

    Returns
    -------
    dict of str
        Text by absolute path.
    """
    held = {"__main__.py": _MAIN}
    for package in ("kvplan", "kvplan/twin", "kvplan/twin/programs"):
        held[f"{package}/__init__.py"] = _EMPTY
    for path in sorted((Path(__file__).parent / "node").glob("*.py")):
        held[f"{_PACKAGE}/{path.name}"] = path.read_text(encoding="utf-8")
    return {f"{LIBRARY}/{path}": text for path, text in held.items()}


def script(name: str) -> str:
    """Write the script that is a program.

    Parameters
    ----------
    name
        The program's name.

    Returns
    -------
    str
        Text of an executable file.
    """
    return f'#!/bin/sh\nexec /usr/bin/python3 -I {LIBRARY} {name} "$@"\n'
