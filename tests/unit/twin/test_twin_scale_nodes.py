"""What a node is told by packages and power, and what its service makes real of the state."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sites import deployment_of

from kvplan.twin.packages import Contents
from kvplan.twin.scale import planned, watching
from kvplan.twin.scale.commands import COMMANDS, PROGRAM, entry, main
from kvplan.twin.scale.settling import record, settle, wanted
from kvplan.twin.scale.shell import NODE, ROOT, called, run
from kvplan.twin.scale.shipping import BIN, contents
from kvplan.twin.scale.store import DIRECTORY, Store
from kvplan.twin.scale.watching import CONFIGURATION, RAID, Watcher, tell

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "storage-001"
CLUSTER = "kvstore.kv.example"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Give the state of a deployment of four nodes."""
    return planned.prepared(tmp_path, deployment_of(4))


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> int:
    """Let the daemon listen on a port that is free."""
    with socket.socket() as free:
        free.bind(("", 0))
        number: int = free.getsockname()[1]
    monkeypatch.setattr(watching.listen, "__defaults__", (number,))
    return number


@pytest.fixture
def mounted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Keep what would be mounted."""
    said: list[tuple[str, ...]] = []
    monkeypatch.setattr(watching, "_run", lambda *command: said.append(command))
    return said


@pytest.fixture
def watcher(store: Store, tmp_path: Path) -> Iterator[Watcher]:
    """Give the service of a node that is in a cluster with a file system."""
    with store.changed() as state:
        state["clusters"][CLUSTER] = {
            "name": CLUSTER,
            "nodes": [{"machine": NAME, "daemon": "storage-001-kv.kv.example"}],
            "config": {},
            "file_systems": {"kvfs": {"mount_point": "/kvfs", "automount": "yes"}},
            "remote_file_systems": {},
            "classes": {},
            "vdisk_classes": {},
        }
        state["machines"][NAME].update(cluster=CLUSTER, watched=True, daemon=True, mounts=["kvfs"])
    held = Watcher(store, NAME, tmp_path / "root")
    fcntl.flock(held.lock, fcntl.LOCK_EX)
    yield held
    held._end()
    held.lock.close()


def test_machines_are_those_of_the_site(store: Store) -> None:
    deployment = deployment_of(4)
    machines = store.seen()["machines"]

    assert list(machines) == [server.name for server in deployment.servers]
    held = machines[NAME]
    assert held["names"][:2] == ["storage-001-kv.kv.example", "storage-001-adm.kv.example"]
    assert held["ip"] == deployment.storage[0].loopback
    assert [each["size_gb"] for each in held["drives"]] == [7680] * 16
    assert len({each["serial"] for machine in machines.values() for each in machine["drives"]}) == 64
    assert [each["serial"] for each in held["boot_drives"]] == list(deployment.storage[0].site.boot_drives.serials)
    assert [held[name] for name in ("base", "gnr", "gpl")] == [False, False, False]
    assert machines["gpu-0001"]["drives"] == []


def test_faults_of_drives(store: Store) -> None:
    planned.drive(store.path, NAME, 2, serial="OTHER", write_cache=True)
    planned.pulled(store.path, NAME, 1)

    drives = store.seen()["machines"][NAME]["drives"]

    assert (drives[0]["serial"], drives[0]["write_cache"], len(drives)) == ("OTHER", True, 15)


def test_growth_adds_machines_and_leaves_the_others(store: Store) -> None:
    planned.drive(store.path, NAME, 1, serial="MINE")

    fresh = planned.grown(store, deployment_of(8))

    machines = store.seen()["machines"]
    assert [name for name in fresh if name.startswith("storage")] == [f"storage-00{number}" for number in range(5, 9)]
    assert machines[NAME]["drives"][0]["serial"] == "MINE"


def test_commands_come_with_their_packages() -> None:
    held = contents()

    assert all(isinstance(each, Contents) for each in held.values())
    assert {f"{BIN}/mmlscluster", f"{BIN}/mmbuildgpl"} <= held["gpfs.base"].links.keys()
    assert f"{BIN}/mmvdisk" not in held["gpfs.base"].links
    assert held["gpfs.gnr"].links[f"{BIN}/mmvdisk"] == PROGRAM
    shipped = {Path(path).name for each in held.values() for path in each.links}
    assert {name for name in COMMANDS if name.startswith(("mm", "ece"))} <= shipped


def test_a_program_of_another_python_still_starts(tmp_path: Path, store: Store) -> None:
    program = tmp_path / "mmlscluster"
    spoilt = tmp_path / "spoilt.zip"
    with zipfile.ZipFile(tmp_path / planned.COMMANDS) as shipped, zipfile.ZipFile(spoilt, "w") as other:
        for each in shipped.namelist():
            data = shipped.read(each)
            other.writestr(each, b"\0\0\0\0" + data[4:] if each.endswith("c") else data)
    program.write_bytes(f"#!{sys.executable} -IS\n".encode() + spoilt.read_bytes())
    program.chmod(0o755)

    done = subprocess.run([program, "-Y"], capture_output=True, text=True, check=False,
                          env={**os.environ, NODE: NAME, DIRECTORY: str(store.path)})  # fmt: skip

    assert (done.returncode, "6027-1382" in done.stderr) == (1, True)
    assert entry().startswith(b"#!/usr/bin/python3 -IS\n")


def test_a_host_is_known_by_each_of_its_names(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NODE, raising=False)
    monkeypatch.setattr(socket, "gethostname", lambda: "storage-003-adm.kv.example")
    assert called(store) == "storage-003"
    monkeypatch.setattr(socket, "gethostname", lambda: "elsewhere.kv.example")
    assert called(store) == "elsewhere"


def test_packages_tell_what_they_brought(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    monkeypatch.setenv(DIRECTORY, str(store.path))
    monkeypatch.setenv(NODE, NAME)
    monkeypatch.setenv(ROOT, str(root))

    assert main([f"{BIN}/{PROGRAM}", "tell"]) == 0
    held = store.seen()["machines"][NAME]
    assert (held["base"], held["gnr"], held["gpl"]) == (True, False, False)
    (root / RAID.lstrip("/")).parent.mkdir(parents=True)
    (root / RAID.lstrip("/")).symlink_to(PROGRAM)
    assert main([f"{BIN}/{PROGRAM}", "tell"]) == 0
    assert store.seen()["machines"][NAME]["gnr"]
    assert run(["modinfo", "mmfs26"])[0] == 1
    assert run(["mmbuildgpl"])[0] == 0
    assert run(["modinfo", "mmfs26"])[0] == 0


def test_a_node_without_the_package_is_not_taken(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DIRECTORY, str(store.path))
    monkeypatch.setenv(NODE, NAME)
    create = ["mmcrcluster", "-N", "storage-001-kv.kv.example:quorum,storage-002-kv.kv.example:quorum", "-C", CLUSTER]
    with store.changed() as state:
        state["machines"][NAME]["base"] = True

    code, _, said = run(create)

    assert (code, "storage-002-kv.kv.example: it lacks the package gpfs.base" in said) == (1, True)


def test_a_disk_that_knows_no_cluster_is_a_new_one(store: Store, tmp_path: Path) -> None:
    with store.changed() as state:
        state["machines"][NAME].update(cluster=CLUSTER, slot_map=16)

    tell(store, NAME, tmp_path / "root")

    assert (store.seen()["machines"][NAME]["cluster"], store.seen()["machines"][NAME]["slot_map"]) == ("", 0)


def test_traces_of_another_cluster_are_seen_until_they_are_removed(store: Store, tmp_path: Path) -> None:
    trace = tmp_path / "root" / CONFIGURATION.lstrip("/")
    trace.parent.mkdir(parents=True)
    trace.write_text("another", encoding="utf-8")
    tell(store, NAME, tmp_path / "root")
    assert store.seen()["machines"][NAME]["leftover"]

    watcher = Watcher(store, NAME, tmp_path / "root")
    watcher.step()
    assert trace.exists()
    trace.unlink()
    watcher.step()
    watcher.lock.close()

    assert store.seen()["machines"][NAME]["leftover"] == ""


def test_the_service_makes_daemon_and_mount_real(
    watcher: Watcher, mounted: list[tuple[str, ...]], port: int, tmp_path: Path
) -> None:
    watcher.step()

    with socket.create_connection(("127.0.0.1", port), timeout=5):
        pass
    assert Path(f"/proc/{watcher.daemon}/comm").read_text(encoding="ascii") == "mmfsd\n"
    assert mounted == [("mount", "--bind", str(tmp_path / "filesystems/kvfs"), str(tmp_path / "root/kvfs"))]
    assert CLUSTER in (tmp_path / "root" / CONFIGURATION.lstrip("/")).read_text(encoding="utf-8")
    settle(watcher.store)
    with watcher.store.changed() as state:
        state["machines"][NAME].update(daemon=False, mounts=[])
    watcher.step()
    assert (watcher.daemon, mounted[-1]) == (0, ("umount", "--lazy", str(tmp_path / "root/kvfs")))
    assert json.loads(record(watcher.store, NAME).read_text(encoding="utf-8")) == wanted(watcher.store.seen(), NAME)


@pytest.mark.usefixtures("mounted", "port")
def test_a_daemon_that_was_killed_is_told(watcher: Watcher) -> None:
    watcher.step()
    os.kill(watcher.daemon, 9)
    os.waitid(os.P_PID, watcher.daemon, os.WEXITED | os.WNOWAIT)
    watcher.step()

    held = watcher.store.seen()["machines"][NAME]
    assert (held["daemon"], held["mounts"]) == (False, [])


@pytest.mark.usefixtures("mounted")
def test_a_port_that_is_taken_keeps_the_daemon_down(watcher: Watcher, port: int) -> None:
    with socket.socket() as taken:
        taken.bind(("", port))
        taken.listen()
        watcher.step()

    assert (watcher.daemon, watcher.store.seen()["machines"][NAME]["daemon"]) == (0, False)


def test_power_that_is_lost_is_noticed_by_the_next_command(watcher: Watcher) -> None:
    with watcher.store.changed() as state:
        assert state["machines"][NAME]["up"]
    watcher.lock.close()

    with watcher.store.changed() as state:
        held = state["machines"][NAME]

    assert (held["up"], held["daemon"], held["mounts"]) == (False, False, [])
    planned.on(watcher.store.path, NAME)
    assert not watcher.store.seen()["machines"][NAME]["up"]
