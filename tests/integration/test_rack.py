"""A rack of real containers and real routing on this machine: reached, disturbed, and gone without a trace."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from sites import deployment_of

from kvplan.site.render import rendered_tree
from kvplan.twin.rack import HERE, RackError, missing, raised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kvplan.twin.rack import Rack

# Until deploying needs it, a rack is raised on request only: it looks for traces on the whole machine, which other
# work on the machine leaves too.
LACKS = missing() if os.environ.get("KVPLAN_RACK") else ["set KVPLAN_RACK=1, or run `make rack`"]
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(LACKS), reason="; ".join(LACKS))]

NODES = ("storage-001", "storage-002", "gpu-0001")
SWITCHES = ("leaf-001a", "leaf-001b", "spine-001")
STORAGE, GPU = "10.72.16.1", "10.73.0.1"
"""Loopbacks of storage-001 and gpu-0001."""
WATCHED = ("/run", "/run/netns", "/run/systemd", "/etc/frr", "/sys/class/net")
FULL = ("-M", "do", "-s", "8972")
"""A frame of 9000 bytes in one piece: 8972 and the headers of IP and ICMP."""
TREE = rendered_tree(deployment_of(8)) if not LACKS else {}


def routing(node: str, role: str) -> dict[str, str]:
    held = {
        f"/etc/frr/{path.rpartition('/')[2]}": text
        for path, text in TREE.items()
        if "/etc/frr/" in path and path.startswith((f"hosts/_common/{role}/", f"hosts/{node}/"))
    }
    assert {"/etc/frr/frr.conf", "/etc/frr/daemons"} <= held.keys()
    return held


def pinged(rack: Rack, *options: str) -> bool:
    try:
        return " 0% packet loss" in rack.run("storage-001", "ping", "-c1", "-W1", "-I", STORAGE, *options, GPU)
    except RackError:
        return False


def until(holds: Callable[[], bool], seconds: float = 30) -> float:
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < seconds, "not so in time"
        time.sleep(0.1)
    return time.monotonic() - began


@pytest.fixture(scope="module")
def rack() -> Iterator[Rack]:
    files = {node: routing(node, "client" if node.startswith("gpu") else "storage") for node in NODES}
    with raised(deployment_of(8), NODES, files=files) as rack:
        for switch in SWITCHES:
            lacking = rack.configure(switch, yaml.safe_load(TREE[f"switches/{switch}.yaml"]))
            assert lacking == []  # ports without a far end are there too
        for node in NODES:
            rack.run(node, "chown", "-R", "frr:frr", "/etc/frr")
            rack.run(node, "systemctl", "enable", "--now", "frr")
        until(lambda: pinged(rack))
        yield rack


@pytest.mark.parametrize(
    ("node", "system"),
    [("storage-001", ("rhel", "9.6")), ("storage-002", ("rhel", "9.6")), ("gpu-0001", ("ubuntu", "24.04"))],
)
def test_each_node_answers_as_itself(rack: Rack, node: str, system: tuple[str, str]) -> None:
    planned = next(held for held in rack.plan.nodes if held.name == node)
    for name in (node, planned.address, f"{node}-adm.kv.example"):
        lines = rack.ssh(name, "hostname; . /etc/os-release; echo $ID $VERSION_ID; sudo id -u").split()
        assert lines == [f"{node}-adm.kv.example", *system, "0"]
    assert rack.ssh(node, "systemctl", "is-system-running").strip() == "running"


def test_each_node_has_control_groups_of_its_own(rack: Rack) -> None:
    for node in NODES:
        groups = rack.run(HERE, "cat", f"/proc/{rack.request('leader', node)}/cgroup")
        assert f"{rack.directory.name}/{node}/payload" in groups


def test_nothing_of_the_machine_is_seen_on_a_node(rack: Rack) -> None:
    seen = rack.run("storage-001", "sh", "-c", "ls / /home /root /srv /var/log; cat /etc/shadow; ip -br link")
    assert "work" not in seen.split()
    assert "$" not in seen  # no hash of a password
    assert {line.split("@")[0] for line in seen.splitlines() if "@if" in line} == {
        "mgmt1", "client1p0", "client1p1", "storage1p0"
    }  # fmt: skip


def test_ansible_finds_the_systems_and_their_package_managers(rack: Rack, tmp_path: Path) -> None:
    inventory = tmp_path / "hosts.json"
    hosts = {
        name: {**values, "ansible_python_interpreter": "/usr/bin/python3"} for name, values in rack.inventory.items()
    }
    inventory.write_text(json.dumps({"all": {"hosts": hosts}}), encoding="utf-8")
    program = str(Path(sys.executable).with_name("ansible"))
    options = ("-i", str(inventory), "-b", "-m", "setup", "-a", "gather_subset=!all,pkg_mgr,service_mgr", "--one-line")
    environment = ("env", f"HOME={tmp_path}", "ANSIBLE_HOST_KEY_CHECKING=True", f"PATH={os.environ['PATH']}")
    said = rack.run(HERE, *environment, program, "storage-001,gpu-0001", *options)
    facts = {line.split(" ")[0]: json.loads(line.partition("=>")[2])["ansible_facts"] for line in said.splitlines()}
    found = {node: (held["ansible_pkg_mgr"], held["ansible_service_mgr"]) for node, held in facts.items()}
    assert found == {"storage-001": ("dnf", "systemd"), "gpu-0001": ("apt", "systemd")}


def test_full_frames_cross_the_fabric_and_larger_ones_do_not(rack: Rack) -> None:
    assert pinged(rack, *FULL)
    assert not pinged(rack, "-M", "do", "-s", "8973")
    neighbours = json.loads(
        rack.run("spine-001", "vtysh", "-N", "spine-001", "-c", "show bgp ipv4 unicast summary json")
    )
    assert {peer["state"] for peer in neighbours["peers"].values()} == {"Established"}


def test_there_is_no_way_out(rack: Rack) -> None:
    assert "default" not in rack.run(HERE, "ip", "route")
    links = rack.run(HERE, "ip", "-br", "link").split("\n")
    assert all(line.startswith(("lo ", "br-mgmt ", "mg")) for line in links if line)


def test_traffic_takes_the_spine_when_cut_links_leave_no_leaf_in_common(rack: Rack) -> None:
    near, far = ("-t", "2"), ("-t", "4")
    assert pinged(rack, *near)
    cuts = ("link:storage-001:client1p0", "link:storage-001:storage1p0", "link:gpu-0001:nic2p0")
    for link in cuts:
        rack.request("cut", link)
    assert rack.request("status")["cut"] == sorted(link.removeprefix("link:") for link in cuts)
    assert "NO-CARRIER" in rack.run("storage-001", "ip", "link", "show", "client1p0")
    assert until(lambda: pinged(rack, *far, *FULL)) < 10
    assert not pinged(rack, *near)  # three switches on the way, so not the leaves alone
    for link in cuts:
        rack.request("restore", link)
    until(lambda: pinged(rack, *near))


def test_a_cut_link_stays_cut_when_its_switch_is_configured_again(rack: Rack) -> None:
    settings = yaml.safe_load(TREE["switches/leaf-001a.yaml"])
    rack.request("cut", "link:gpu-0001:nic1p0")
    rack.configure("leaf-001a", settings)
    assert "NO-CARRIER" in rack.run("gpu-0001", "ip", "link", "show", "nic1p0")
    rack.request("restore", "link:gpu-0001:nic1p0")
    assert "NO-CARRIER" not in rack.run("gpu-0001", "ip", "link", "show", "nic1p0")


def test_a_power_cycle_keeps_the_disk_and_loses_carrier_meanwhile(rack: Rack) -> None:
    rack.ssh("gpu-0001", "echo kept > kept")
    rack.request("off", "gpu-0001")
    assert rack.request("status")["nodes"]["gpu-0001"] == {"on": False, "ssh": False}
    port = next(cable.port for cable in rack.plan.cables if cable.peer_port == "nic1p0")
    assert "NO-CARRIER" in rack.run("leaf-001a", "ip", "link", "show", port)
    with pytest.raises(RackError, match="gpu-0001 is off"):
        rack.run("gpu-0001", "true")
    rack.request("on", "gpu-0001")
    rack.wait(["gpu-0001"])
    assert rack.ssh("gpu-0001", "cat kept") == "kept\n"
    until(lambda: rack.ssh("gpu-0001", "systemctl is-active frr || true") == "active\n")


def test_a_node_restarts_itself(rack: Rack) -> None:
    began = rack.run("storage-002", "cat", "/proc/1/stat").split()[21]
    with pytest.raises(RackError):  # the connection breaks off
        rack.ssh("storage-002", "sudo systemctl reboot; sleep 20")
    rack.wait(["storage-002"])
    assert rack.run("storage-002", "cat", "/proc/1/stat").split()[21] != began


def test_a_reinstalled_node_is_as_new_under_its_old_key(rack: Rack) -> None:
    rack.ssh("storage-002", "echo lost > lost")
    rack.request("reinstall", "storage-002")
    assert not rack.request("status")["nodes"]["storage-002"]["on"]
    rack.request("on", "storage-002")
    rack.wait(["storage-002"])
    assert rack.ssh("storage-002", "ls") == ""


def test_a_full_disk_is_one_node_s_alone(rack: Rack) -> None:
    rack.request("fill", "storage-002")
    full = rack.run("storage-002", "sh", "-c", "head -c 8M /dev/zero >/var/full; echo $?; df --output=pcent /")
    assert full.split() == ["1", "Use%", "100%"]
    rack.ssh("storage-001", "sudo touch /var/room")
    rack.request("free", "storage-002")
    rack.ssh("storage-002", "sudo rm /var/full && sudo touch /var/room")


def test_a_node_without_ssh_server_is_mended_by_restarting_it(rack: Rack) -> None:
    for node, unit in (("storage-002", "sshd"), ("gpu-0001", "ssh")):
        rack.request("kill-sshd", node)
        seen = rack.request("status")["nodes"]
        assert [name for name, held in seen.items() if not held["ssh"]] == [node]
        assert seen[node]["on"]
        rack.run(node, "systemctl", "start", unit)
    rack.wait()


def test_the_command_line_talks_to_it(rack: Rack) -> None:
    def said(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "kvplan.twin.rack", str(rack.directory), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)

    assert said("exec", "storage-001", "hostname").stdout == "storage-001-adm.kv.example\n"
    assert said("exec", "leaf-001a", "ip", "-br", "link").stdout.count("swp") > 12
    wrong = said("off", "storage-01")
    assert (wrong.returncode, wrong.stderr) == (
        1,
        "no node storage-01 in the rack did you mean 'storage-001' or 'storage-002'?\n",
    )


def test_a_second_rack_stands_beside_and_leaves_nothing(rack: Rack) -> None:
    before = traces()
    with raised(deployment_of(8), ["storage-001"], switches=()) as other:
        spaces = {reading(pid, "ns/net") for pid in below(other.pid)}
        # Without those of processes that have just ended, there are the rack's and the node's.
        assert len(spaces - {"", reading(os.getpid(), "ns/net")}) == 2
        other.run("storage-001", "touch", "/etc/of-the-other")
        assert other.ssh("storage-001", "hostname") == rack.ssh("storage-001", "hostname")
        with pytest.raises(RackError):
            rack.ssh("storage-001", "ls", "/etc/of-the-other")
        name = other.directory.name
    assert traces() == before
    assert not kept(name)
    spaces -= {"", reading(os.getpid(), "ns/net")}
    assert not [pid for pid in processes() if reading(pid, "ns/net") in spaces or name in reading(pid, "cmdline")]
    assert rack.ssh("storage-001", "true") == ""


def test_a_rack_ends_with_a_killed_owner_and_the_next_one_sweeps_up(rack: Rack, tmp_path: Path) -> None:
    before = traces()
    script = tmp_path / "owner.py"
    script.write_text(
        "import os, signal, sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n"
        "from sites import deployment_of\n"
        "from kvplan.twin.rack import raised\n"
        "with raised(deployment_of(8), ['storage-001'], switches=(), off=['storage-001']) as rack:\n"
        "    print(rack.pid, rack.directory.name, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n",
        encoding="utf-8",
    )
    killed = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    pid, name = killed.stdout.split()
    until(lambda: not Path(f"/proc/{pid}").exists())
    assert kept(name)
    with raised(deployment_of(8), ["storage-001"], switches=(), off=["storage-001"]) as other:
        assert other.request("status")["nodes"]["storage-001"]["on"] is False
    assert traces() == before
    assert not kept(name)


def kept(name: str) -> list[Path]:
    """List the directory and the control groups of a rack."""
    return [*Path(tempfile.gettempdir()).glob(name), *Path("/sys/fs/cgroup").rglob(name)]


def traces() -> dict[str, list[str]]:
    """List what a rack could leave on the machine besides processes and what bears its name."""
    return {
        "mounts": sorted(line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()),
        **{place: sorted(path.name for path in Path(place).glob("*")) for place in WATCHED},
    }


def processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def reading(pid: int, what: str) -> str:
    try:
        path = Path(f"/proc/{pid}/{what}")
        return str(path.readlink()) if what.startswith("ns/") else path.read_bytes().decode(errors="replace")
    except OSError:
        return ""


def below(pid: int) -> list[int]:
    threads = [path.name for path in Path(f"/proc/{pid}/task").glob("*")]
    children = [int(child) for thread in threads for child in reading(pid, f"task/{thread}/children").split()]
    return [pid, *(inner for child in children for inner in below(child))]
