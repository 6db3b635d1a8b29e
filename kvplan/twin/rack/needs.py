"""What a machine must have to carry a rack, and what of it this one lacks."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kvplan.twin.rack.switch import DAEMONS, FRR

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAMS: Final = {
    "ip": "iproute2",
    "mount": "mount",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "sshd": "openssh-server",
    "sudo": "sudo",
    "sysctl": "procps",
    "systemd-nspawn": "systemd-container",
    "dbus-daemon": "dbus",
    "unshare": "util-linux",
    "vtysh": "frr",
    "rpm": "rpm",
    "dnf": "dnf",
    "apt-get": "apt",
    "rpmbuild": "rpm",
    "createrepo_c": "createrepo-c",
    "dpkg-deb": "dpkg",
    "dpkg-scanpackages": "dpkg-dev",
    "tar": "tar",
}
"""Programs that a rack starts or shows its nodes, and the Debian package of each."""
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_LONGEST: Final = 80
_PROBE: Final = """\
set -e
mount -t tmpfs kv-probe /run
mkdir /run/upper /run/work /run/root
mount -t overlay kv-probe -o lowerdir=/,upperdir=/run/upper,workdir=/run/work /run/root
ip link add kv-a type veth peer name kv-b
ip link add kv-c type bridge
"""


def missing() -> list[str]:
    """Say exactly what this machine lacks.

    Returns
    -------
    list of str
        A sentence each, with what puts it right; empty where a rack can stand.
    """
    lacks = [*_machine(), *_programs()]
    return lacks or [*_kernel()]


def _machine() -> Iterator[str]:
    """Ask for Linux, its administrator, control groups and a short name."""
    if not Path("/proc/self/ns").is_dir():
        yield "not Linux: a rack needs its namespaces"
        return
    if os.geteuid() != 0:
        yield "not root: run it with sudo"
    groups = ("/sys/fs/cgroup/cgroup.controllers", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified")
    if not any(Path(group).exists() for group in groups):
        yield "no control groups that systemd can use at /sys/fs/cgroup: mount cgroup2 there"
    if len(tempfile.gettempdir()) > _LONGEST:
        yield f"the directory for temporary files has more than {_LONGEST} characters: set TMPDIR to a shorter one"


def _programs() -> Iterator[str]:
    """Ask for the programs."""
    for program, package in PROGRAMS.items():
        if not shutil.which(program, path=_PATH):
            yield f"{program} is not installed: apt install {package}"
    for daemon in DAEMONS:
        if not (FRR / daemon).is_file():
            yield f"{FRR / daemon} is not there: apt install frr"


def _kernel() -> Iterator[str]:
    """Try what the kernel must allow, in namespaces that end at once."""
    command = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", _PROBE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - kvplan's own command
    if done.returncode:
        yield f"the kernel does not allow namespaces, overlays, veth or bridges here: {done.stderr.strip()}"
