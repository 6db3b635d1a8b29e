"""Deployments rehearsed from power-off to a mounted file system, over real SSH and real routing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import pytest
from designs import plan_of
from sites import NEW, OLD

from kvplan.api import deployment
from kvplan.catalogue.loader import load_catalogue
from kvplan.core.seal import sealed
from kvplan.rehearsal import breaking
from kvplan.rehearsal.faults import read_fault
from kvplan.rehearsal.invented import invented_site
from kvplan.rehearsal.rehearse import Course
from kvplan.rehearsal.standing import standing
from kvplan.render.data import record_json
from kvplan.twin.rack import HERE, RackError, missing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kvplan.deploy.events import Event
    from kvplan.rehearsal.running import Deploying, Run
    from kvplan.rehearsal.standing import Rehearsal
    from kvplan.schema.rehearsing import Rehearsed, RunAgain

LACKS = missing()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(LACKS), reason="; ".join(LACKS))]
PHASES = ["preflight", "switches", "provision", "base", "storage"]
MOUNT = "/kvfs"
FULL_FRAME = "8972"
"""What a ping sends in a frame of 9000 bytes."""


class Done(NamedTuple):
    """A rehearsal that stands, and how it went."""

    rehearsal: Rehearsal
    result: Rehearsed


def unheard(_: Event) -> None:
    """Take an event and do nothing about it."""


@contextmanager
def stood(directory: Path, nodes: int, gpus: int, cumulus: str = NEW) -> Iterator[Rehearsal]:
    """Let a rehearsal stand: so many storage nodes and GPUs, at a Site that is made up."""
    plan = plan_of(nodes, gpus)
    site = invented_site(plan, load_catalogue().software(plan.request.software), cumulus=cumulus)
    file, place = directory / "plan.json", directory / "r"
    file.write_text(record_json(sealed(plan)), encoding="utf-8")
    place.mkdir()
    with standing(deployment(plan, site), file, place, lambda _: None) as rehearsal:
        yield rehearsal


def gone_through(rehearsal: Rehearsal, *faults: str) -> Rehearsed:
    """Deploy with faults, then again, then as a check."""
    course = Course(rehearsal, unheard)
    run = course.deploy([read_fault(fault) for fault in faults])
    assert run.code == 0, run.said
    return course.result(run, 0.0, course.again(), course.again("--check", "--diff"))


def changed_nothing(run: RunAgain | None) -> bool:
    """Tell whether a further run went through every phase without a change."""
    assert run, "there was none"
    assert not run.message
    return run.result == "ok" and run.changed == 0 and [phase.name for phase in run.phases] == PHASES


@pytest.fixture(scope="module")
def eight(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Done]:
    """Deploy the published system: eight storage nodes, two GPU servers, two leaves and a spine."""
    with stood(tmp_path_factory.mktemp("eight"), 8, 8) as rehearsal:
        yield Done(rehearsal, gone_through(rehearsal))


def test_eight_nodes_go_from_power_off_to_a_mounted_file_system(eight: Done) -> None:
    assert eight.result.result == "ok"
    assert [phase.name for phase in eight.result.phases] == PHASES
    assert all(phase.changed for phase in eight.result.phases[1:])
    assert not any(phase.failed or phase.unreachable for phase in eight.result.phases)
    assert len(eight.rehearsal.rack.plan.nodes) == 11
    assert len(eight.rehearsal.rack.plan.switches) == 3


def test_a_second_run_changes_nothing_and_a_check_foresees_nothing(eight: Done) -> None:
    assert changed_nothing(eight.result.second_run)
    assert changed_nothing(eight.result.check_run)


def test_what_one_node_writes_another_reads(eight: Done) -> None:
    rack = eight.rehearsal.rack
    storage = [node.name for node in rack.plan.nodes if node.face == "rhel"]
    assert [rack.run(name, "mountpoint", MOUNT).strip() for name in storage] == [f"{MOUNT} is a mountpoint"] * 8
    rack.run("storage-001", "sh", "-c", f"echo kept > {MOUNT}/proof")
    assert rack.run("storage-008", "cat", f"{MOUNT}/proof") == "kept\n"


def test_packets_of_full_size_cross_the_fabric_and_survive_a_lost_leaf(eight: Done) -> None:
    rack = eight.rehearsal.rack
    loopback = {node.name: node.loopback.partition("/")[0] for node in rack.plan.nodes}
    ping = ("ping", "-c2", "-W1", "-M", "do", "-s", FULL_FRAME, "-I", loopback["storage-001"], loopback["gpu-0001"])
    assert " 0% packet loss" in rack.run("storage-001", *ping)
    rack.run("gpu-0001", "iperf3", "--server", "--daemon", "--one-off", "--bind", loopback["gpu-0001"])
    told = rack.run("storage-001", "iperf3", "-c", loopback["gpu-0001"], "-B", loopback["storage-001"], "-t1", "--json")
    assert json.loads(told)["end"]["sum_received"]["bytes"] > 10**6
    cut = [f"link:{cable.device}:{cable.port}" for cable in rack.plan.cables if cable.device == "leaf-001b"]
    for link in cut:
        rack.request("cut", link)
    reached = [" 0% packet loss" in _pinged(eight.rehearsal, ping) for _ in range(3)]
    for link in cut:
        rack.request("restore", link)
    assert reached[-1], "one leaf carries what both did"


def _pinged(rehearsal: Rehearsal, command: tuple[str, ...]) -> str:
    """Ping; lost packets are an answer too."""
    try:
        return rehearsal.rack.run("storage-001", *command)
    except RackError as error:
        return error.message


def test_a_node_that_lost_its_power_comes_back_by_itself(eight: Done) -> None:
    rack, node = eight.rehearsal.rack, "storage-004"
    breaking.power_off(eight.rehearsal, node, "")
    with pytest.raises(RackError):
        rack.run(node, "true")
    breaking.power_on(eight.rehearsal, node, "")
    deadline = time.monotonic() + 60
    while not came_back(eight.rehearsal, node):
        assert time.monotonic() < deadline, "sessions and file system are not there again"
        time.sleep(1)


def came_back(rehearsal: Rehearsal, node: str) -> bool:
    """Tell whether a node has a session on each leg, and the file system."""
    try:
        told = json.loads(rehearsal.rack.run(node, "vtysh", "-c", "show bgp summary json"))
        rehearsal.rack.run(node, "mountpoint", MOUNT)
    except RackError:
        return False
    return [peer["state"] for peer in told["ipv4Unicast"]["peers"].values()] == ["Established"] * 3


def test_no_secret_is_left_in_what_a_deployment_writes(eight: Done) -> None:
    directory, environment = eight.rehearsal.directory, eight.rehearsal.environment
    secrets = [value.encode() for name, value in environment.items() if name.startswith("KV_REHEARSAL_")]
    assert len(secrets) > 10
    files = [path for place in ("state", "tree") for path in (directory / place).rglob("*") if path.is_file()]
    assert len(files) > 100
    assert [str(path) for path in files if any(secret in path.read_bytes() for secret in secrets)] == []


def test_one_server_is_installed_anew(eight: Done) -> None:
    rehearsal, rack = eight.rehearsal, eight.rehearsal.rack
    before = rack.run("gpu-0002", "cat", "/etc/ssh/ssh_host_ed25519_key.pub")
    rack.run("gpu-0002", "touch", "/etc/of-the-old-system")
    one = ("--from", "provision", "--to", "base", "--limit", "gpu-0002", "--reinstall", "gpu-0002")
    run = rehearsal.deploy(lambda *_: None, *one)
    assert run.code == 0, run.said
    assert rack.run("gpu-0002", "cat", "/etc/ssh/ssh_host_ed25519_key.pub") != before
    with pytest.raises(RackError):
        rack.run("gpu-0002", "ls", "/etc/of-the-old-system")


def test_four_nodes_with_switches_of_the_older_dialect(tmp_path: Path) -> None:
    with stood(tmp_path, 4, 4, OLD) as rehearsal:
        course = Course(rehearsal, unheard)
        run = course.deploy()
        assert run.code == 0, run.said
        assert changed_nothing(course.again())


EARLY = {
    "secret:bmc_storage_001": (3, "KV_REHEARSAL_BMC_STORAGE_001"),
    "switch:leaf-001a:bgp@switches": (7, "rolled back"),
    "bmc:storage-001:licence@provision": (7, "SFT-DCMS-SINGLE"),
    "bmc:storage-002:sessions@provision": (7, "close sessions"),
    "bmc:storage-003:busy@provision": (7, "503"),
    "bmc:storage-004:override@provision": (7, "boot override"),
    "kill@provision/Wait until": (137, ""),
}
LATE = {
    "clock:storage-002@base": (7, "its clock is 7"),
    "sshd:storage-003@base/Lay files": (7, "answers SSH"),
    "link:storage-001:mgmt1@base/base_packages": (7, "answers SSH"),
    "disk:storage-004@base/Name the repository": (7, "make room"),
    "kill@storage": (137, ""),
    "drive:storage-001:serial@storage": (7, "serial"),
    "drive:storage-002:signature@storage": (7, "xfs"),
    "power:storage-003@storage/Wait until all": (7, "storage-003"),
    "kill@storage/Create the file system": (137, ""),
}
"""Faults in the order of the phases, each with the exit code of the run that it strikes, and what that must say."""


def overcome(rehearsal: Rehearsal, faults: dict[str, tuple[int, str]], last: str) -> Course:
    """Let one fault after the other strike; each is told as it must be, and gone on after."""
    course = Course(rehearsal, unheard, last)
    run = course.deploy([read_fault(fault) for fault in faults])
    assert run.code == 0, run.said
    told = {held.fault: held for held in course.result(run, 0.0, None, None).faults}
    assert {fault: held.exit_code for fault, held in told.items()} == {
        fault: code for fault, (code, _) in faults.items()
    }
    assert [
        (fault, told[fault].message) for fault, (_, words) in faults.items() if words not in told[fault].message
    ] == []
    assert [fault for fault, held in told.items() if not (held.struck and held.overcome)] == []
    return course


def test_faults_until_servers_are_installed_are_told_and_gone_on_after(tmp_path: Path) -> None:
    with stood(tmp_path, 4, 4) as rehearsal:
        overcome(rehearsal, EARLY, "provision")


@pytest.mark.skipif(
    not os.environ.get("KVPLAN_RACK"), reason="takes ten minutes: set KVPLAN_RACK=1, or run `make rack`"
)
def test_faults_until_the_file_system_is_mounted_are_told_and_gone_on_after(tmp_path: Path) -> None:
    with stood(tmp_path, 4, 4) as rehearsal:
        course = overcome(rehearsal, LATE, "storage")
        assert changed_nothing(course.again())
        assert changed_nothing(course.again("--check"))
        machines = json.loads((rehearsal.scale / "state.json").read_text(encoding="utf-8"))["machines"]
    written = {name for name, held in machines.items() for drive in held["drives"] if drive["signature"]}
    assert written == {f"storage-{number:03}" for number in range(1, 5)}


def test_of_two_deployments_at_once_the_second_is_refused(tmp_path: Path) -> None:
    seconds: list[Run] = []
    with stood(tmp_path, 4, 4) as rehearsal:

        def tell(event: Event, _: Deploying) -> None:
            if not seconds:
                seconds.append(rehearsal.deploy(lambda *_: None, "--to", "preflight"))

        first = rehearsal.deploy(tell, "--to", "preflight")
    assert first.code == 0, first.said
    assert (seconds[0].code, seconds[0].result) == (3, {})
    assert "is being deployed by process" in seconds[0].said


def test_the_verb_rehearses_a_site_of_one_s_own(tmp_path: Path) -> None:
    compact = ("examples/compact/plan.json", "examples/compact/site.yaml")
    command = [
        sys.executable,
        "-m",
        "kvplan",
        "rehearse",
        *compact,
        "--phase",
        "switches",
        "--again",
        "--format",
        "json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["result"] == "ok"
    assert [phase["name"] for phase in result["phases"]] == ["preflight", "switches"]
    assert result["phases"][0].keys() == {"name", "seconds", "ok", "changed", "failed", "unreachable"}
    assert result["second_run"]["changed"] == 0
    assert HERE == ""
