"""A server of a deployment as a virtual machine behind its controller, its medium, and a script as its installer."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import time
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import cache, partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import media_isos
from initial_systems import PATH as TOOLS_PATH
from initial_systems import TOOLS, initial_system, modules_of
from mm_modules import loaded
from redfish_cases import CREDENTIALS
from sites import deployment_with

from kvplan.deploy.redfish.timing import Timing
from kvplan.site.install import install_files
from kvplan.site.media.build import build_media
from kvplan.site.media.recipe import recipe_of
from kvplan.site.media.server import Served, serving
from kvplan.site.secrets import PLACEHOLDER
from kvplan.twin.bmc import qemu
from kvplan.twin.bmc.machine import Machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.twin.bmc.machine import State
    from kvplan.twin.bmc.profiles import Profile

SERVER = "storage-001"
DRIVES = (qemu.Drive("DATAS0001A", 7_680), qemu.Drive("BOOTS0001B", 480), qemu.Drive("BOOTS0001A", 480))
MODULES = ("usb-storage", "xhci-pci", "sr_mod", "isofs", "nvme")
PATIENCE_S = 240
NO_SYSTEM = "Not Found"
"""What the firmware says of a drive that nothing can be started from."""
# What Anaconda does first: the disc by its label, the Kickstart file on it by its path, and then the file's %pre.
INSTALLER = r"""
say() { echo "installer: $*"; }
line=$(< /proc/cmdline)
say "arguments $line"
[[ $line =~ inst.stage2=hd:LABEL=([^ ]+) ]] && label=${BASH_REMATCH[1]}
[[ $line =~ inst.ks=cdrom:([^ ]+) ]] && path=${BASH_REMATCH[1]}
for try in {1..300}; do
    found=$(busybox dd if=/dev/sr0 bs=1 skip=32808 count=32 2> /dev/null)
    [ "${found%% *}" = "$label" ] && break
    busybox sleep 0.1
done
say "disc ${found%% *}"
busybox mkdir /disc
busybox mount -t iso9660 -o ro /dev/sr0 /disc
busybox cp "/disc$path" /tmp/ks.cfg
say "read $(busybox sha256sum /tmp/ks.cfg)"
say "serial $(< /sys/class/dmi/id/product_serial)"
for drive in /sys/block/nvme*; do
    say "drive ${drive##*/} $(< "$drive/device/serial")"
done
busybox sed -n '/^%pre /,/^%end/p' /tmp/ks.cfg | busybox sed '1d;$d' > /tmp/pre
bash /tmp/pre
say "status $?"
busybox head -n 1 /tmp/kvplan-drives.ks
busybox umount /disc
"""
RESTARTS = """
say "restarts"
busybox reboot -f
"""
WAITS = """
say "waits"
while busybox dd if=/dev/sr0 of=/dev/null bs=2048 count=1 iflag=direct 2> /dev/null; do
    busybox sleep 0.2
done
say "the disc is out"
busybox poweroff -f
"""


@cache
def kernel() -> tuple[bytes, dict[str, Path]] | None:
    """Read the newest kernel that has what the installer loads, and name that."""
    for path in sorted(Path("/boot").glob("vmlinuz-*"), reverse=True):
        modules = modules_of(path.name.removeprefix("vmlinuz-"), *MODULES)
        if modules:
            return path.read_bytes(), modules
    return None


def lacking() -> list[str]:
    """List what this machine lacks for such a server."""
    missing = [*qemu.missing(), *(tool for tool in TOOLS if not shutil.which(tool, path=TOOLS_PATH))]
    missing += [] if media_isos.can_build() else [f"one of {', '.join(media_isos.BUILDERS)}"]
    return missing or ([] if kernel() else ["a kernel in /boot with modules for USB"])


@dataclass
class Bench:
    """One server under test: its medium, its controller, the machine, and what the media server sent."""

    medium: str
    kickstart: str
    arguments: tuple[str, ...]
    url: str
    state: State
    machine: qemu.Virtual
    log: list[Served]

    def bmc(self, **wanted: Any) -> dict[str, Any]:
        """Run the module kv_bmc on it, as a playbook does."""
        return bmc(self.url, serial=self.machine.machine.serial, **wanted)

    def said(self, start: int, *, until: str) -> list[str]:
        """Wait until something was said at a start, counted from 1, and return what was."""
        end = time.monotonic() + PATIENCE_S
        while True:
            lines = self._lines(start)
            if any(until in line for line in lines):
                return lines
            assert time.monotonic() < end, f"{until!r} is not said at start {start}: {lines}"
            time.sleep(0.1)

    def _lines(self, start: int) -> list[str]:
        """Read what was said, without what moves the cursor."""
        if len(self.machine.consoles) < start or not self.machine.consoles[start - 1].is_file():
            return []
        text = self.machine.consoles[start - 1].read_text(encoding="utf-8", errors="replace")
        return re.sub(r"\x1b\[[0-9;=]*[A-Za-z]", "", text).replace("\r", "\n").splitlines()


@contextmanager
def server(directory: Path, profile: Profile, ending: str = WAITS) -> Iterator[Bench]:
    """Build the medium of a storage node with what kvplan renders, serve it, and run the node behind its controller."""
    source = _source(directory, ending)
    sha256 = hashlib.sha256(source.read_bytes()).hexdigest()
    images = {"url": "http://172.24.0.10:8080/x.iso", "sha256": sha256, "version": "9.6"}
    deployment = deployment_with(8, images={"rhel": images, "ubuntu": {**images, "version": "24.04"}})
    planned = next(medium for medium in recipe_of(deployment).media if medium.server == SERVER)
    medium = planned.model_copy(update={"menu_timeout_s": 0})
    serial = next(one.site.serial for one in deployment.servers if one.name == SERVER)
    texts = {file.path: file.text for file in install_files(deployment)}
    files = {path: PLACEHOLDER.sub("$6$salt$hash", texts[path]).encode() for path in medium.files.values()}
    output = directory / "root" / medium.output
    output.parent.mkdir(parents=True)
    build_media(medium, source, files, output)
    log: list[Served] = []
    machine = Machine(SERVER, serial)
    behind = qemu.virtual(machine, directory, DRIVES, profile, CREDENTIALS)
    with serving(directory / "root", "127.0.0.1", 0, log.append) as web, behind as (emulation, virtual):
        yield Bench(
            f"{web.url}/{medium.output}",
            hashlib.sha256(next(iter(files.values()))).hexdigest(),
            medium.arguments,
            emulation.urls[SERVER],
            emulation.states[SERVER],
            virtual,
            log,
        )


def until(power: str, state: State) -> None:
    """Wait until a controller shows a power state."""
    end = time.monotonic() + PATIENCE_S
    while state.power_shown() != power:
        assert time.monotonic() < end, f"the power is not {power}"
        time.sleep(0.1)


def bmc(url: str, **wanted: Any) -> dict[str, Any]:
    """Run the module kv_bmc in this process, and read what it prints."""
    from ansible.module_utils.testing import patch_module_args  # noqa: PLC0415 - only where it is there

    user, password = CREDENTIALS
    module = loaded("kv_bmc")
    vars(module)["Timing"] = partial(Timing, poll_s=0.2, retry_s=0.1)
    printed = StringIO()
    with patch_module_args({"address": url, "username": user, "password": password, **wanted}):
        try:
            with redirect_stdout(printed):
                module.main()
        except SystemExit:
            pass
    result: dict[str, Any] = json.loads(printed.getvalue())
    return result


def _source(directory: Path, ending: str) -> Path:
    """Make an image as RHEL's maker does, whose installer is the script."""
    found = kernel()
    assert found
    image, modules = found
    (directory / "initial").mkdir()
    archive = initial_system(directory / "initial", INSTALLER + ending, {}, modules)
    return media_isos.rhel_iso(directory, kernel=image, initrd=archive.read_bytes())
