"""What a node's disk holds that the machine it runs on does not, and what of that machine it must not see."""

from __future__ import annotations

import os
import stat
from base64 import b64decode, b64encode
from hashlib import md5
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.twin.rack.faces import FACES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from kvplan.twin.rack.plan import NodePlan

SEEN: Final = ("bin", "etc", "lib", "lib32", "lib64", "libx32", "sbin", "usr", "var")
"""Directories of the machine's root that a node sees, since its programs are there."""
_BARE: Final = ("boot", "dev", "home", "media", "mnt", "opt", "proc", "root", "run", "srv", "sys", "tmp")
"""Directories of a root that a node has, but empty; anything else that lies there it does not see."""
_EMPTY: Final = (
    "etc/apt/apt.conf.d",
    "etc/apt/preferences.d",
    "etc/apt/sources.list.d",
    "etc/cron.d",
    "etc/frr",
    "etc/netplan",
    "etc/NetworkManager",
    "etc/ssh",
    "etc/sudoers.d",
    "etc/sysctl.d",
    "etc/systemd/network",
    "etc/systemd/system",
    *(f"etc/rc{level}.d" for level in "0123456S"),
    "usr/local",
    "var/cache",
    "var/lib/apt",
    "var/lib/dnf",
    "var/lib/dpkg",
    "var/lib/rpm",
    "var/lib/systemd",
    "var/log",
    "var/mail",
    "var/spool",
    "var/tmp",
)
"""Directories that start empty on a node: what the machine configured, logged or keeps there is its own affair."""
_MADE: Final = (
    "etc/systemd/system/multi-user.target.wants",
    "etc/yum.repos.d",
    "usr/local/bin",
    "usr/local/sbin",
    "var/cache/apt/archives/partial",
    "var/lib/apt/lists/partial",
    "var/lib/dpkg/info",
    "var/lib/dpkg/triggers",
    "var/lib/dpkg/updates",
)
_MASKED: Final = (
    "console-getty.service",
    "dev-hugepages.mount",
    "getty.target",
    "modprobe@.service",
    "sys-fs-fuse-connections.mount",
    "sys-kernel-debug.mount",
    "sys-kernel-tracing.mount",
    "systemd-firstboot.service",
    "systemd-networkd-wait-online.service",
    "systemd-resolved.service",
    "systemd-timesyncd.service",
    "systemd-udev-trigger.service",
    "systemd-udevd-control.socket",
    "systemd-udevd-kernel.socket",
    "systemd-udevd.service",
    "systemd-update-utmp-runlevel.service",
    "systemd-update-utmp.service",
)
_SSHD: Final = """\
Include /etc/ssh/sshd_config.d/*.conf
HostKey /etc/ssh/ssh_host_ed25519_key
AuthorizedKeysFile /etc/ssh/rack_keys .ssh/authorized_keys
PasswordAuthentication no
PermitRootLogin prohibit-password
UseDNS no
UsePAM no
PrintMotd no
MaxStartups 100
Subsystem sftp internal-sftp
"""
_SSH_UNIT: Final = """\
[Unit]
Description=OpenSSH server
After=network.target
[Service]
RuntimeDirectory=sshd
ExecStart=/usr/sbin/sshd -D
ExecReload=/bin/kill -HUP $MAINPID
[Install]
WantedBy=multi-user.target
"""
_SEAL_UNIT: Final = """\
[Unit]
Description=Parameters of the machine's own kernel stay as they are
DefaultDependencies=no
Before=sysinit.target systemd-sysctl.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/mount --rbind /proc/sys /proc/sys
ExecStart=/bin/mount --bind /proc/sys/net /proc/sys/net
ExecStart=/bin/mount -o remount,bind,ro /proc/sys
"""
_USER_ID: Final = 5000
_PRIVATE: Final = {"etc/ssh/ssh_host_ed25519_key": 0o600, "etc/shadow": 0o640, "etc/sudoers.d/rack": 0o440}
_COUNT, _FIELDS = 3, 5
_SECRET: Final = ("etc/NetworkManager/system-connections/", "etc/netplan/")
"""Directories of files that only root may read, since they may hold a password."""


class Accounts(NamedTuple):
    """The machine's `passwd` and `group`, whose service accounts the programs of a node need."""

    passwd: str
    group: str


class Image(NamedTuple):
    """Files by path, links by path, directories that hide the machine's, further ones, and what is absent."""

    files: dict[str, str]
    links: dict[str, str]
    empty: tuple[str, ...]
    made: tuple[str, ...]
    absent: tuple[str, ...]


def image_of(node: NodePlan, user: str, host_key: str, authorised: str, accounts: Accounts) -> Image:
    """Work out what is on a node's disk.

    Parameters
    ----------
    node
        The node.
    user
        The deployer's account, which may become root.
    host_key
        The private key that the node shows itself by.
    authorised
        The public key that logs in.
    accounts
        Accounts of the machine.

    Returns
    -------
    Image
        A layer to lay over the machine's root.
    """
    face = FACES[node.face]
    system = "etc/systemd/system"
    return Image(
        files={
            **face.files(node.version),
            **_logins(user, accounts),
            "etc/fstab": "",
            "etc/hostname": f"{node.hostname}\n",
            "etc/hosts": f"127.0.0.1 localhost\n127.0.1.1 {node.hostname} {node.hostname.partition('.')[0]}\n",
            "etc/machine-id": f"{md5(node.name.encode(), usedforsecurity=False).hexdigest()}\n",
            "etc/resolv.conf": "",
            "etc/ssh/rack_keys": authorised,
            "etc/ssh/ssh_host_ed25519_key": host_key,
            "etc/ssh/ssh_host_ed25519_key.pub": f"{public_half(host_key)} {node.name}\n",
            "etc/ssh/sshd_config": _SSHD,
            f"{system}/{face.ssh_unit}.service": _SSH_UNIT,
            f"{system}/kv-seal.service": _SEAL_UNIT,
        },
        links={
            **{f"{system}/{unit}": "/dev/null" for unit in _MASKED},
            **{f"{system}/{unit}.service": "/dev/null" for unit in ("ssh", "sshd") if unit != face.ssh_unit},
            f"{system}/sysinit.target.wants/kv-seal.service": f"/{system}/kv-seal.service",
            f"{system}/default.target": "/lib/systemd/system/multi-user.target",
            f"{system}/multi-user.target.wants/{face.ssh_unit}.service": f"/{system}/{face.ssh_unit}.service",
        },
        empty=_EMPTY,
        made=(*_MADE, f"home/{user}"),
        absent=face.absent,
    )


def lay(image: Image, upper: Path, root: Path) -> None:
    """Write an image into the upper directory of an overlay.

    Parameters
    ----------
    image
        What to write.
    upper
        An empty directory on a file system that takes `trusted` attributes.
    root
        The lower directory; what of it a node must not see is hidden.
    """
    for path in (*image.empty, *_BARE):
        if (root / path).is_dir() and not (root / path).is_symlink():
            (upper / path).mkdir(parents=True, exist_ok=True)
            os.setxattr(upper / path, "trusted.overlay.opaque", b"y")
    for path in image.made:
        (upper / path).mkdir(parents=True, exist_ok=True)
    lay_files(image.files, upper)
    for path, target in image.links.items():
        _place(upper / path).symlink_to(target)
    strange = [entry.name for entry in root.iterdir() if entry.name not in (*SEEN, *_BARE)]
    for path in (*image.absent, *strange):
        if os.path.lexists(root / path):
            os.mknod(_place(upper / path), stat.S_IFCHR)
    _permissions(image, upper)


def lay_files(files: Mapping[str, str], upper: Path) -> None:
    """Write files; a directory they are in is made where it is missing.

    Parameters
    ----------
    files
        Text by path below the root.
    upper
        Where the root is.
    """
    for path, text in files.items():
        place = _place(upper / path.lstrip("/"))
        place.write_text(text, encoding="utf-8")
        usual = 0o600 if path.lstrip("/").startswith(_SECRET) else 0o755 if text.startswith("#!") else 0o644
        place.chmod(_PRIVATE.get(path.lstrip("/"), usual))


def public_half(private: str) -> str:
    """Read the public half of a key out of the file of its private half.

    Parameters
    ----------
    private
        A key as `ssh-keygen` writes it, without a password.

    Returns
    -------
    str
        Type and key, as a line of known hosts has them; empty for text that is no such key.
    """
    body = "".join(line for line in private.splitlines() if not line.startswith("-----"))
    try:
        rest = b64decode(body, validate=True).removeprefix(b"openssh-key-v1\0")
    except ValueError:
        return ""
    fields: list[bytes] = []
    while len(fields) < _FIELDS and rest:
        # behind cipher, key derivation and its options is a number of keys, then the public one
        size = int.from_bytes(rest[:4], "big") if len(fields) != _COUNT else 0
        fields.append(rest[4 : 4 + size])
        rest = rest[4 + size :]
    key = fields[-1] if len(fields) == _FIELDS else b""
    kind = key[4 : 4 + int.from_bytes(key[:4], "big")].decode("ascii", errors="replace")
    return f"{kind} {b64encode(key).decode('ascii')}" if key else ""


def _permissions(image: Image, upper: Path) -> None:
    """Set what differs from the usual: homes are private, and of their users; temporary files are everybody's."""
    for path in image.made:
        if path.startswith("home/"):
            os.chown(upper / path, _USER_ID, _USER_ID)
    modes = {"root": 0o700, "var/tmp": 0o1777, "tmp": 0o1777}
    for path, mode in modes.items():
        if (upper / path).is_dir():
            (upper / path).chmod(mode)


def _place(path: Path) -> Path:
    """Make the directory of a path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _logins(user: str, accounts: Accounts) -> dict[str, str]:
    """Write the accounts: the machine's own with no password at all, and the deployer's, which may become root."""
    passwd = [*_others(accounts.passwd, user), f"{user}:x:{_USER_ID}:{_USER_ID}::/home/{user}:/bin/bash"]
    group = [*_others(accounts.group, user), f"{user}:x:{_USER_ID}:"]
    return {
        "etc/passwd": "\n".join(passwd) + "\n",
        "etc/group": "\n".join(group) + "\n",
        "etc/shadow": "".join(f"{line.partition(':')[0]}:*:20000:0:99999:7:::\n" for line in passwd),
        "etc/sudoers.d/rack": f"{user} ALL=(ALL) NOPASSWD: ALL\n",
    }


def _others(text: str, user: str) -> Iterable[str]:
    """List the accounts that are neither the deployer's nor one with the same number."""
    for line in text.splitlines():
        name, *rest = line.split(":")
        if name != user and str(_USER_ID) not in rest[1:2]:
            yield line
