"""All simulated commands together, and the file in which they are shipped."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

# each registers its commands
import kvplan.twin.scale.cluster
import kvplan.twin.scale.daemon
import kvplan.twin.scale.drives
import kvplan.twin.scale.filesets
import kvplan.twin.scale.filesystems
import kvplan.twin.scale.remote
import kvplan.twin.scale.servers
import kvplan.twin.scale.vdisks  # noqa: F401
from kvplan.twin.scale.shell import COMMANDS, main, run

_EPOCH = (1980, 1, 1, 0, 0, 0)
_PACKAGE = "kvplan/twin/scale"
_MAIN = "import sys\nfrom kvplan.twin.scale.commands import main\nsys.exit(main(sys.argv))\n"
_EMPTY = "from __future__ import annotations\n"


def entry(interpreter: str = "/usr/bin/python3") -> bytes:
    """Return one executable file that is every command: link it under each name of `COMMANDS`.

    Parameters
    ----------
    interpreter
        Python 3.9 or newer of the simulated node.

    Returns
    -------
    bytes
        A zip archive that Python runs; equal code gives equal bytes.
    """
    texts = {"__main__.py": _MAIN, "kvplan/__init__.py": _EMPTY, "kvplan/twin/__init__.py": _EMPTY}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        texts[f"{_PACKAGE}/{path.name}"] = path.read_text(encoding="utf-8")
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), text)
    return f"#!{interpreter}\n".encode() + held.getvalue()


__all__ = ["COMMANDS", "entry", "main", "run"]
