"""What a kernel starts from in a virtual machine of a test: a shell, modules, and a script to run."""

from __future__ import annotations

import gzip
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

TOOLS = ("busybox", "bash-static", "modprobe")
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
BEGIN = """#!/bin/bash
export PATH=/bin
busybox mount -t proc proc /proc
busybox mount -t sysfs sysfs /sys
busybox mount -t devtmpfs devtmpfs /dev
exec < /dev/null > /dev/ttyS0 2>&1
for module in $(< /modules/order); do
    busybox insmod "/modules/$module"
done
[ -d /sys/firmware/efi ] && echo "firmware UEFI"
"""


def initial_system(
    folder: Path, script: str, files: Mapping[str, str], modules: Mapping[str, Path] | None = None
) -> Path:
    """Pack a shell with a script, files, and modules in their order; return the archive."""
    root = folder / "root"
    for name in ("bin", "dev", "modules", "proc", "sys", "tmp"):
        (root / name).mkdir(parents=True)
    for tool, name in (("busybox", "busybox"), ("bash-static", "bash")):
        shutil.copy(str(shutil.which(tool)), root / "bin" / name)
    (root / "bin" / "cat").symlink_to("busybox")
    for name, path in (modules or {}).items():
        shutil.copy(path, root / "modules" / name)
    held = {"init": BEGIN + script, "modules/order": " ".join(modules or {}) + "\n", **files}
    for name, text in held.items():
        (root / name).write_text(text, encoding="utf-8")
    (root / "init").chmod(0o755)
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    packed = subprocess.run(
        ["busybox", "cpio", "-o", "-H", "newc"], input=names.encode(), cwd=root, capture_output=True, check=True
    )
    archive = folder / "initrd"
    archive.write_bytes(gzip.compress(packed.stdout))
    return archive


def modules_of(release: str, *names: str) -> dict[str, Path]:
    """Find modules of a kernel with all that they need, in the order to load them; none where one is not there."""
    found: dict[str, Path] = {}
    for name in names:
        command = [str(shutil.which("modprobe", path=PATH)), "-S", release, "--show-depends", name]
        shown = subprocess.run(command, capture_output=True, text=True, check=False)
        if shown.returncode:
            return {}
        paths = [Path(line.split()[1]) for line in shown.stdout.splitlines() if line.startswith("insmod ")]
        found |= {path.name: path for path in paths if path.name not in found}
    return found
