"""All simulated commands together, and the file in which they are shipped."""

from __future__ import annotations

import io
import marshal
import zipfile
from importlib.util import MAGIC_NUMBER, source_hash
from pathlib import Path
from typing import TYPE_CHECKING

# each registers its commands
import kvplan.twin.scale.cluster
import kvplan.twin.scale.daemon
import kvplan.twin.scale.drives
import kvplan.twin.scale.filesets
import kvplan.twin.scale.filesystems
import kvplan.twin.scale.kernel
import kvplan.twin.scale.remote
import kvplan.twin.scale.servers
import kvplan.twin.scale.vdisks  # noqa: F401
from kvplan.twin.scale.shell import COMMANDS, run
from kvplan.twin.scale.shell import main as run_and_print
from kvplan.twin.scale.watching import serve

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "mmsim"
"""Name under which the file is the service of a node and no command."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
_PACKAGE = "kvplan/twin/scale"
_OUTSIDE = ("planned.py", "shipping.py")
_MAIN = "import sys\nfrom kvplan.twin.scale.commands import main\nsys.exit(main(sys.argv))\n"
_EMPTY = "from __future__ import annotations\n"
_UNCHECKED = (1).to_bytes(4, "little")
"""What marks compiled code that is taken as it is."""


def main(argv: Sequence[str]) -> int:
    """Run what the file is called as.

    Parameters
    ----------
    argv
        Name and arguments; `mmsim watch` is the service of a node.

    Returns
    -------
    int
        Return code.
    """
    return serve(argv[1]) if Path(argv[0]).name == PROGRAM else run_and_print(argv)


def entry(interpreter: str = "/usr/bin/python3 -IS") -> bytes:
    """Return one executable file that is every command: link it under each name of `COMMANDS`.

    Parameters
    ----------
    interpreter
        Python 3.9 or newer of the simulated node; another one than this compiles anew at each start.

    Returns
    -------
    bytes
        A zip archive that Python runs; equal code gives equal bytes.
    """
    texts = {"__main__.py": _MAIN, "kvplan/__init__.py": _EMPTY, "kvplan/twin/__init__.py": _EMPTY}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.name not in _OUTSIDE:
            texts[f"{_PACKAGE}/{path.name}"] = path.read_text(encoding="utf-8")
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), text)
            archive.writestr(zipfile.ZipInfo(f"{name}c", _EPOCH), _compiled(name, text.encode()))
    return f"#!{interpreter}\n".encode() + held.getvalue()


def _compiled(name: str, source: bytes) -> bytes:
    """Compile a module as Python keeps it: a command starts in half the time."""
    code = compile(source, name, "exec", dont_inherit=True, optimize=0)
    return MAGIC_NUMBER + _UNCHECKED + source_hash(source) + marshal.dumps(code)


__all__ = ["COMMANDS", "entry", "main", "run"]
