"""What lies on a node's disk, and what of the machine below it is hidden."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from sites import deployment_of

from kvplan.twin.rack.image import Accounts, Image, image_of, lay, lay_files
from kvplan.twin.rack.plan import rack_plan

STORAGE, GPU = rack_plan(deployment_of(8), ["storage-001", "gpu-0001"]).nodes
USER = "kvplan"
ACCOUNTS = Accounts(
    "root:x:0:0::/root:/bin/bash\nkvplan:x:1000:1000::/srv/k:/bin/sh\nguest:x:5000:5000::/:/bin/sh\nfrr:x:107:111::/:\n",
    "root:x:0:\nkvplan:x:1000:\nfrr:x:111:\n",
)


def image(node: object = STORAGE) -> Image:
    return image_of(node, USER, "HOST KEY\n", "ssh-ed25519 AAAA deployer\n", ACCOUNTS)  # type: ignore[arg-type]


class Marks:
    """Stands in for what only root may do, and notes it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opaque: set[Path] = set()
        self.absent: set[Path] = set()
        self.owned: dict[Path, int] = {}
        monkeypatch.setattr("os.setxattr", lambda path, _name, _value: self.opaque.add(path))
        monkeypatch.setattr("os.mknod", lambda path, _mode: self.absent.add(path))
        monkeypatch.setattr("os.chown", lambda path, user, _: self.owned.update({path: user}))


@pytest.fixture
def marks(monkeypatch: pytest.MonkeyPatch) -> Marks:
    return Marks(monkeypatch)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "machine"
    for path in (
        "etc/ssh",
        "etc/apt",
        "usr/bin",
        "usr/local",
        "var/tmp",
        "home/me",
        "work/secret",
        "root",
        "tmp",
        "dev",
    ):
        (root / path).mkdir(parents=True)
    for path in ("etc/debian_version", "usr/bin/apt-get", "usr/bin/dnf", "note.txt"):
        (root / path).touch()
    (root / "bin").symlink_to("usr/bin")
    (root / "vmlinuz").symlink_to("boot/nothing")
    return root


def test_storage_nodes_look_like_rhel_and_gpu_servers_like_ubuntu() -> None:
    rhel, ubuntu = image(STORAGE), image(GPU)
    assert 'VERSION_ID="9.6"' in rhel.files["etc/os-release"]
    assert rhel.files["etc/redhat-release"] == "Red Hat Enterprise Linux release 9.6 (Plow)\n"
    assert {"usr/bin/apt", "usr/bin/dpkg", "etc/debian_version"} <= {*rhel.absent}
    assert 'ID="ubuntu"' in ubuntu.files["usr/lib/os-release"]
    assert {"usr/bin/dnf", "usr/bin/rpm", "etc/redhat-release"} <= {*ubuntu.absent}
    for held in (rhel, ubuntu):
        assert not {*held.absent} & held.files.keys()


def test_the_ssh_server_has_the_name_that_the_system_gives_it() -> None:
    rhel, ubuntu = image(STORAGE).links, image(GPU).links
    assert rhel["etc/systemd/system/multi-user.target.wants/sshd.service"] == "/etc/systemd/system/sshd.service"
    assert rhel["etc/systemd/system/ssh.service"] == "/dev/null"
    assert ubuntu["etc/systemd/system/multi-user.target.wants/ssh.service"] == "/etc/systemd/system/ssh.service"
    assert ubuntu["etc/systemd/system/sshd.service"] == "/dev/null"


def test_nodes_differ_in_what_tells_machines_apart() -> None:
    one, other = image(STORAGE).files, image(GPU).files
    assert one["etc/hostname"] == "storage-001-adm.kv.example\n"
    assert one["etc/machine-id"] != other["etc/machine-id"]
    assert len(one["etc/machine-id"]) == 33


def test_accounts_are_the_machine_s_services_and_the_deployer() -> None:
    files = image().files
    assert files["etc/passwd"].splitlines() == [
        "root:x:0:0::/root:/bin/bash",
        "frr:x:107:111::/:",
        f"kvplan:x:5000:5000::/home/{USER}:/bin/bash",
    ]
    assert files["etc/group"].splitlines() == ["root:x:0:", "frr:x:111:", "kvplan:x:5000:"]
    assert {line.split(":")[1] for line in files["etc/shadow"].splitlines()} == {"*"}


def test_the_layer_hides_what_the_machine_keeps(marks: Marks, root: Path, tmp_path: Path) -> None:
    upper = tmp_path / "upper"
    lay(image(), upper, root)
    assert {upper / path for path in ("home", "root", "tmp", "dev", "etc/ssh", "usr/local", "var/tmp")} <= marks.opaque
    assert upper / "etc" not in marks.opaque
    assert upper / "bin" not in marks.opaque
    gone = {str(path.relative_to(upper)) for path in marks.absent}
    assert gone == {"work", "note.txt", "vmlinuz", "etc/debian_version", "usr/bin/apt-get"}


def test_files_have_the_modes_that_their_readers_demand(marks: Marks, root: Path, tmp_path: Path) -> None:
    upper = tmp_path / "upper"
    lay(image(), upper, root)
    modes = {
        "etc/ssh/ssh_host_ed25519_key": 0o600,
        "etc/shadow": 0o640,
        "etc/sudoers.d/rack": 0o440,
        "etc/hostname": 0o644,
        "root": 0o700,
        "var/tmp": 0o1777,
    }
    assert {path: stat.S_IMODE((upper / path).stat().st_mode) for path in modes} == modes
    assert marks.owned == {upper / "home/kvplan": 5000}
    assert (upper / "etc/systemd/system/getty.target").readlink() == Path("/dev/null")


def test_further_files_are_laid_and_scripts_run(tmp_path: Path) -> None:
    lay_files({"/etc/frr/frr.conf": "! nothing\n", "usr/local/sbin/tool": "#!/bin/sh\n"}, tmp_path)
    assert (tmp_path / "etc/frr/frr.conf").read_text(encoding="utf-8") == "! nothing\n"
    assert stat.S_IMODE((tmp_path / "usr/local/sbin/tool").stat().st_mode) == 0o755
