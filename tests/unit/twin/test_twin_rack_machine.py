"""What a rack takes of the machine below it: control groups, programs, the kernel, and commands that fail."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from pathlib import Path

import pytest
from rack_benches import PLAN

from kvplan.twin.rack import cgroups, needs
from kvplan.twin.rack.keeper import greets
from kvplan.twin.rack.machine import booting
from kvplan.twin.rack.network import forgotten
from kvplan.twin.rack.shell import RackError, run


def test_a_node_boots_in_groups_of_its_own(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    command = booting(PLAN.nodes[0], Path("/disk"), Path("/udev"), [tmp_path / "one", tmp_path / "two"])
    start = command.index("nsenter")
    assert {"--machine=storage-001", "--network-namespace-path=/run/netns/storage-001", "--boot"} <= {*command[start:]}
    done = subprocess.run([*command[:start], "echo", "booted"], capture_output=True, text=True, check=True)
    assert done.stdout == "booted\n"
    assert {(tmp_path / name / "cgroup.procs").read_text(encoding="ascii") for name in ("one", "two")} == {"0\n"}


def test_a_node_that_starts_anew_has_no_rules_and_addresses_from_before() -> None:
    rules = [
        "rule flush",
        "rule add pref 32766 lookup main protocol kernel",
        "rule add pref 32767 lookup default protocol kernel",
    ]
    assert forgotten(PLAN.nodes[0], fabric=True) == rules
    ports = ["lo", *(port.name for port in PLAN.nodes[0].fabric)]
    assert len(ports) > 1
    assert forgotten(PLAN.nodes[0], fabric=False) == [*rules, *(f"address flush dev {p} scope global" for p in ports)]


def test_control_groups_lie_below_one_s_own_and_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own"
    own.write_text("4:memory:/mine\n3:cpuset:/\n2:net_cls:/\n9:name=systemd:/\n0::/\n", encoding="ascii")
    for name in ("memory/mine", "cpuset", "systemd", "unified"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "cpuset/cpuset.cpus").write_text("0-1", encoding="ascii")
    cgroups.join("rack", own, tmp_path)
    joined = {str(path.parent.relative_to(tmp_path)) for path in tmp_path.rglob("cgroup.procs")}
    assert joined == {"memory/mine/rack", "cpuset/rack", "systemd/rack", "unified/rack"}
    assert (tmp_path / "cpuset/rack/cpuset.cpus").read_text(encoding="ascii") == "0-1"
    monkeypatch.setattr(cgroups, "_PATIENCE_S", 0.1)
    with pytest.raises(OSError, match="not empty"):
        cgroups.remove(cgroups.groups_of("rack", own, tmp_path))
    for path in (*tmp_path.rglob("cgroup.procs"), tmp_path / "cpuset/rack/cpuset.cpus"):
        path.unlink()  # as the kernel's own files, which need not be removed
    (tmp_path / "systemd/rack/node/payload").mkdir(parents=True)
    cgroups.remove(cgroups.groups_of("rack", own, tmp_path))
    assert not list(tmp_path.rglob("rack"))


def test_without_hybrid_groups_the_second_version_is_at_the_top(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("0::/mine\n", encoding="ascii")
    assert list(cgroups.groups_of("rack", own, tmp_path)) == [tmp_path / "mine/rack"]


def test_what_a_machine_lacks_is_said_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr("tempfile.gettempdir", lambda: "/long" * 20)
    monkeypatch.setattr("shutil.which", lambda program, path: None if program == "sshd" else path)
    monkeypatch.setattr(needs, "FRR", Path("/nowhere"))
    lacks = needs.missing()
    assert lacks[0] == "not root: run it with sudo"
    assert "set TMPDIR to a shorter one" in lacks[1]
    assert "sshd is not installed: apt install openssh-server" in lacks
    assert "/nowhere/zebra is not there: apt install frr" in lacks


def test_a_kernel_that_refuses_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("shutil.which", lambda program, path: program + path)
    monkeypatch.setattr(needs, "DAEMONS", ())
    tool = tmp_path / "unshare"
    tool.write_text("#!/bin/sh\necho 'Operation not permitted' >&2; exit 1\n", encoding="ascii")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert needs.missing() == [
        "the kernel does not allow namespaces, overlays, veth or bridges here: Operation not permitted"
    ]
    tool.write_text("#!/bin/sh\nexit 0\n", encoding="ascii")
    assert needs.missing() == []


def test_other_systems_and_missing_groups_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda program, path: program + path)
    monkeypatch.setattr(needs, "DAEMONS", ())
    monkeypatch.setattr(Path, "exists", lambda _: False)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert "no control groups" in needs.missing()[0]
    monkeypatch.setattr(Path, "is_dir", lambda _: False)
    assert needs.missing() == ["not Linux: a rack needs its namespaces"]


def test_commands_that_fail_say_why_and_slow_ones_are_ended() -> None:
    assert run("cat", stdin="text") == "text"
    with pytest.raises(RackError, match="sh -c echo no >&2; exit 3: exit code 3: no"):
        run("sh", "-c", "echo no >&2; exit 3")
    with pytest.raises(RackError, match=r"sleep 9: not done after 0.1 s"):
        run("sleep", "9", seconds=0.1)


def saying(server: socket.socket, said: bytes) -> None:
    with server.accept()[0] as connection:
        connection.sendall(said)


def test_only_an_ssh_server_greets() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for said, is_ssh in ((b"SSH-2.0-OpenSSH", True), (b"HTTP", False)):
            thread = threading.Thread(target=saying, args=(server, said))
            thread.start()
            assert greets("127.0.0.1", port) is is_ssh
            thread.join(10)
    assert not greets("127.0.0.1", port)
