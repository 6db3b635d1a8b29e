"""A built medium starts: a machine reads it over HTTP from kvplan's own server, and its kernel sees the arguments."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import media_isos
import pytest

from kvplan.site.media.build import build_media
from kvplan.site.media.server import Served, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRMWARE = Path("/usr/share/OVMF/OVMF_CODE_4M.fd")
VARIABLES = Path("/usr/share/OVMF/OVMF_VARS_4M.fd")
HTTP_DRIVER = Path("/usr/lib/x86_64-linux-gnu/qemu/block-curl.so")
KERNELS = sorted(Path("/boot").glob("vmlinuz-*"))
PATIENCE_S = 60
SAID = b"Command line: "
SOURCES = {
    "rhel": media_isos.rhel_iso,
    "ubuntu": media_isos.ubuntu_iso,
}
# The last kind a kernel that is told to be quiet say its command line.
_LOUD = ("console=ttyS0,115200", "ignore_loglevel")
ARGUMENTS = {
    "rhel": ("inst.ks=cdrom:/ks.cfg", "inst.text", *_LOUD),
    "ubuntu": ("autoinstall", "ds=nocloud;s=/cdrom/kv/", *_LOUD),
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (media_isos.can_build() and KERNELS and shutil.which("qemu-system-x86_64"))
        or not all(path.is_file() for path in (FIRMWARE, VARIABLES, HTTP_DRIVER)),
        reason="needs QEMU with its HTTP driver, OVMF, a kernel, and what builds an image",
    ),
]


@pytest.fixture
def root(kind: str, tmp_path: Path) -> Path:
    """Build a medium whose kernel is the machine's own, below a root to serve."""
    source = SOURCES[kind](tmp_path, kernel=KERNELS[-1].read_bytes())
    medium = media_isos.medium_for(source, kind, menu_timeout_s=0, arguments=ARGUMENTS[kind])
    (tmp_path / "root" / "kv").mkdir(parents=True)
    build_media(medium, source, media_isos.FILES, tmp_path / "root" / "kv" / "x.iso")
    return tmp_path / "root"


@pytest.fixture
def console(root: Path, tmp_path: Path) -> Iterator[tuple[Path, list[Served]]]:
    """Start a machine from the medium over HTTP; give its serial console and the server's log."""
    console, log = tmp_path / "console", list[Served]()
    shutil.copy(VARIABLES, tmp_path / "variables.fd")
    with serving(root, "127.0.0.1", 0, log.append) as server:
        drive = f"if=none,id=cd,file={server.url}/kv/x.iso,format=raw,media=cdrom,readonly=on"
        command = (
            *("qemu-system-x86_64", "-machine", "q35,accel=tcg", "-cpu", "max", "-smp", "1", "-m", "512"),
            *("-nic", "none", "-display", "none", "-monitor", "none", "-serial", f"file:{console}", "-no-reboot"),
            *("-drive", f"if=pflash,format=raw,readonly=on,file={FIRMWARE}"),
            *("-drive", f"if=pflash,format=raw,file={tmp_path / 'variables.fd'}"),
            *("-device", "qemu-xhci", "-drive", drive),
            *("-device", "usb-storage,drive=cd,removable=on,bootindex=1"),
        )
        machine = subprocess.Popen(command, stderr=subprocess.PIPE)
        try:
            _wait(machine, console)
            yield console, log
        finally:
            machine.kill()
            machine.communicate()


def _wait(machine: subprocess.Popen[bytes], console: Path) -> None:
    """Wait until the kernel has said its command line."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and machine.poll() is None:
        said = console.read_bytes() if console.is_file() else b""
        if b"\n" in said.partition(SAID)[2]:
            return
        time.sleep(0.2)


@pytest.mark.parametrize("kind", SOURCES)
def test_a_machine_starts_its_installer_unattended(kind: str, console: tuple[Path, list[Served]]) -> None:
    path, log = console
    line = path.read_bytes().partition(SAID)[2].partition(b"\n")[0].decode()
    wanted = ["quiet", *ARGUMENTS[kind]] if kind == "rhel" else [*ARGUMENTS[kind], "---"]
    assert line.split()[-len(wanted) :] == wanted
    assert "rd.live.check" not in line
    statuses = {served.status for served in log}
    assert 206 in statuses
    assert statuses <= {200, 206}
