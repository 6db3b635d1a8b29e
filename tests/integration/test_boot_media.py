"""A built medium starts: a machine reads it over HTTP from kvplan's own server, and its kernel sees the arguments."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import media_isos
import pytest
from redfish_cases import MACHINE

from kvplan.site.media.build import build_media
from kvplan.site.media.server import Served, serving
from kvplan.twin.bmc import qemu

if TYPE_CHECKING:
    from collections.abc import Iterator

KERNELS = sorted(Path("/boot").glob("vmlinuz-*"))
PATIENCE_S = 240
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
        not (media_isos.can_build() and KERNELS) or bool(qemu.missing()),
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
    log = list[Served]()
    machine = qemu.Virtual(MACHINE, tmp_path)
    with serving(root, "127.0.0.1", 0, log.append) as server:
        try:
            machine.boot(MACHINE, f"{server.url}/kv/x.iso")
            _wait(machine)
            yield machine.consoles[0], log
        finally:
            machine.off()


def _wait(machine: qemu.Virtual) -> None:
    """Wait until the kernel has said its command line."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and machine.is_on:
        if b"\n" in machine.consoles[0].read_bytes().partition(SAID)[2]:
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
