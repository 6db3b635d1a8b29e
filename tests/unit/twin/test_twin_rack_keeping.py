"""What is done to a rack that stands: power, cables, configurations and daemons, asked for by a verb."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rack_benches import PLAN, Commands, keeper_in
from sites import deployment_of

from kvplan.twin.rack import cgroups, inside, raising, talk
from kvplan.twin.rack import machine as machines
from kvplan.twin.rack import rack as racks
from kvplan.twin.rack.keeper import inside as entering
from kvplan.twin.rack.lines import served
from kvplan.twin.rack.shell import RackError

if TYPE_CHECKING:
    import socketserver
    from collections.abc import Callable, Iterator

    from kvplan.twin.rack.keeper import Keeper
    from kvplan.twin.rack.machine import Machine

NVUE = {
    "system": {"hostname": "leaf-001a"},
    "interface": {
        "lo": {"ipv4": {"address": {"10.72.4.1/32": {}}}},
        "swp1s0": {"link": {"mtu": 9216}, "ipv4": {"address": {"10.64.0.0/31": {}}}},
        "swp9": {"link": {"mtu": 9216}},
    },
}


@pytest.fixture
def commands() -> Commands:
    return Commands()


@pytest.fixture
def keeper(tmp_path: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch) -> Iterator[Keeper]:
    """Give a keeper whose nodes are shells that wait for their one child."""
    monkeypatch.setattr("kvplan.twin.rack.keeper.lay", lambda _image, upper, _root: (upper / "etc").mkdir())
    monkeypatch.setattr("kvplan.twin.rack.keeper.greets", lambda address: address == PLAN.nodes[0].address)
    monkeypatch.setattr("kvplan.twin.rack.cgroups.made", lambda _: [])
    monkeypatch.setattr("kvplan.twin.rack.machine.booting", lambda *_: ["sh", "-c", "sleep 60; exit 1"])
    keeper = keeper_in(tmp_path, commands, off=("gpu-0001",), files={"gpu-0001": {"etc/frr/frr.conf": "!\n"}})
    keeper.build()
    leader_of(keeper.machines["storage-001"])
    yield keeper
    for machine in keeper.machines.values():
        machine.off()


def until_down(server: socketserver.UnixStreamServer) -> None:
    with pytest.raises(SystemExit):
        server.serve_forever()


def leader_of(machine: Machine) -> int:
    return int(eventually(machine.leader))


def children(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").strip() or 0)


def eventually(reads: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 10
    while not (value := reads()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return value


def test_it_builds_networks_disks_and_switches_on_what_is_ordered(keeper: Keeper, commands: Commands) -> None:
    assert "netns add storage-001" in commands.seen
    assert "ip netns exec leaf-001a sysctl -qw net.ipv4.ip_forward=1" in " ".join(commands.seen)
    assert (keeper.machines["gpu-0001"].upper / "etc/frr/frr.conf").read_text(encoding="utf-8") == "!\n"
    mounted = next(line for line in commands.seen if line.startswith("mount -t overlay gpu-0001"))
    assert f"lowerdir=/,upperdir={keeper.machines['gpu-0001'].upper}" in mounted
    assert keeper.status()["nodes"] == {
        "storage-001": {"on": True, "ssh": True},
        "gpu-0001": {"on": False, "ssh": False},
    }


def test_power_is_taken_and_given(keeper: Keeper, commands: Commands) -> None:
    machine = keeper.machines["storage-001"]
    leader = leader_of(machine)
    assert keeper.answer({"verb": "leader", "what": "storage-001"}) == {"result": leader}
    assert keeper.answer({"verb": "on", "what": "storage-001"}) == {"result": None}
    assert machine.leader() == leader  # it was on already
    assert keeper.answer({"verb": "off", "what": "storage-001"}) == {"result": None}
    assert "link set client1p0 down" in commands.seen
    assert not keeper.status()["nodes"]["storage-001"]["on"]
    assert keeper.answer({"verb": "leader", "what": "storage-001"}) == {"error": "storage-001 is off"}
    keeper.answer({"verb": "on", "what": "storage-001"})
    assert leader_of(machine) != leader


def test_a_node_that_restarts_itself_stays_on(keeper: Keeper, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = f"echo x >>{tmp_path}/boots; [ $(wc -l <{tmp_path}/boots) = 1 ] && exit 133; sleep 60; exit 1"
    monkeypatch.setattr("kvplan.twin.rack.machine.booting", lambda *_: ["sh", "-c", script])
    machine = keeper.machines["gpu-0001"]
    machine.on()
    leader_of(machine)
    eventually(lambda: (tmp_path / "boots").read_text(encoding="ascii") == "x\nx\n")
    assert machine.is_on


def test_a_node_that_does_not_go_off_is_an_error(keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    leader_of(keeper.machines["storage-001"])
    monkeypatch.setattr("kvplan.twin.rack.machine._PATIENCE_S", 0.05)
    with monkeypatch.context() as unkillable:
        unkillable.setattr("os.kill", lambda *_: None)
        assert keeper.answer({"verb": "off", "what": "storage-001"}) == {"error": "storage-001 does not go off"}
    monkeypatch.setattr("kvplan.twin.rack.machine._PATIENCE_S", 10)


def test_a_reinstalled_node_has_a_disk_as_new(keeper: Keeper, commands: Commands) -> None:
    upper = keeper.machines["storage-001"].upper
    (upper / "lost").touch()
    assert keeper.answer({"verb": "reinstall", "what": "storage-001"}) == {"result": None}
    assert upper.is_dir()
    assert not (upper / "lost").exists()
    assert commands.seen[-4:-1] == [
        f"umount {upper.parent / 'root'}",
        f"umount {upper.parent}",
        f"mount -t tmpfs -o mode=755,size={machines._DISK} disk-storage-001 {upper.parent}",
    ]


def test_a_node_is_reinstalled_with_another_key_and_other_files(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[str] = []
    monkeypatch.setattr("kvplan.twin.rack.keeper.image_of", lambda _node, _user, key, *_: keys.append(key))
    asked = {"verb": "reinstall", "what": "gpu-0001"}
    assert keeper.answer({**asked, "host_key": "NEW\n", "files": {"etc/motd": "new\n"}}) == {"result": None}
    upper = keeper.machines["gpu-0001"].upper
    assert (upper / "etc/motd").read_text(encoding="utf-8") == "new\n"
    assert not (upper / "etc/frr").exists()
    keeper.answer(asked)
    assert keys == ["NEW\n", "NEW\n"]
    assert (upper / "etc/motd").is_file()


def test_a_node_with_an_empty_disk_has_power_and_nothing_else(
    tmp_path: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kvplan.twin.rack.keeper.lay", lambda _image, upper, _root: (upper / "etc").mkdir())
    monkeypatch.setattr("kvplan.twin.rack.keeper.greets", lambda _: True)
    keeper = keeper_in(tmp_path, commands, off=("storage-001",), blank=("storage-001", "gpu-0001"))
    keeper.build()
    assert keeper.power() == {"storage-001": {"on": False, "blank": True}, "gpu-0001": {"on": True, "blank": True}}
    assert keeper.status()["nodes"]["gpu-0001"] == {"on": True, "ssh": False}
    assert keeper.answer({"verb": "leader", "what": "gpu-0001"}) == {"error": "gpu-0001 is off"}
    assert "link set nic1p0 up" not in commands.seen
    keeper.answer({"verb": "off", "what": "gpu-0001"})
    assert not keeper.power()["gpu-0001"]["on"]
    keeper.answer({"verb": "reinstall", "what": "gpu-0001"})
    assert keeper.answer({"verb": "power"})["result"]["gpu-0001"] == {"on": False, "blank": False}
    keeper.answer({"verb": "blank", "what": "gpu-0001"})
    keeper.answer({"verb": "blank", "what": "gpu-0001"})
    assert keeper.power()["gpu-0001"] == {"on": False, "blank": True}
    assert not keeper.machines["gpu-0001"].upper.exists()


def test_a_node_that_goes_off_by_itself_darkens_its_ports(keeper: Keeper, commands: Commands) -> None:
    os.kill(leader_of(keeper.machines["storage-001"]), signal.SIGKILL)
    eventually(lambda: not keeper.power()["storage-001"]["on"])
    assert "link set client1p0 down" in commands.seen


def test_a_disk_is_filled_by_taking_its_room_away(keeper: Keeper, commands: Commands) -> None:
    for verb in ("fill", "free"):
        assert keeper.answer({"verb": verb, "what": "storage-001"}) == {"result": None}
    assert [line.split("size=")[0] for line in commands.seen[-2:]] == ["mount -o remount,"] * 2


def test_links_are_cut_and_mended(keeper: Keeper, commands: Commands) -> None:
    for link in ("link:storage-001:client1p0", "storage-001:mgmt1"):
        assert keeper.answer({"verb": "cut", "what": link}) == {"result": None}
    assert commands.seen[-3:] == ["ip -n leaf-001a -batch -", "link set swp1s0 down", "ip link set mg0 down"]
    assert keeper.status()["cut"] == ["storage-001:client1p0", "storage-001:mgmt1"]
    assert keeper.status()["switches"] == {"leaf-001a": {"shut": ["swp1s0"]}}
    keeper.answer({"verb": "configure", "what": "leaf-001a", "settings": NVUE})
    assert "link set swp1s0 up" not in commands.seen
    keeper.answer({"verb": "restore", "what": "link:storage-001:client1p0"})
    keeper.answer({"verb": "restore", "what": "link:storage-001:mgmt1"})
    assert commands.seen[-2:] == ["link set swp1s0 up", "ip link set mg0 up"]
    assert keeper.status()["cut"] == []


def test_a_switch_is_configured_and_routes_afresh_only_when_that_changes(
    keeper: Keeper, commands: Commands, tmp_path: Path
) -> None:
    asked = {"verb": "configure", "what": "leaf-001a", "settings": [{"header": {}}, {"set": NVUE}]}
    assert keeper.answer(asked) == {"result": ["swp9"]}
    assert {
        "address add 10.72.4.1/32 dev lo",
        "address del 10.9.9.8/31 dev swp1s0",
        "address add 10.64.0.0/31 dev swp1s0",
        "ip netns exec leaf-001a vtysh -N leaf-001a -b",
    } <= {*commands.seen}
    assert not [line for line in commands.seen if "tunl0" in line or line.endswith("del 172.24.128.8/14 dev eth0")]
    assert sum("zebra" in line for line in commands.seen) == 1
    keeper.answer(asked)
    assert sum("zebra" in line for line in commands.seen) == 1
    old = subprocess.Popen(["sleep", "60"])
    (tmp_path / "state/leaf-001a/zebra.pid").write_text(str(old.pid), encoding="ascii")
    keeper.answer({**asked, "settings": {**NVUE, "system": {"hostname": "other"}}})
    assert old.wait(10) == -signal.SIGKILL
    assert sum("zebra" in line for line in commands.seen) == 2


def test_ssh_servers_are_killed_by_the_name_of_their_unit(keeper: Keeper, commands: Commands) -> None:
    keeper.machines["gpu-0001"].on()
    for name, unit in (("storage-001", "sshd"), ("gpu-0001", "ssh")):
        leader = leader_of(keeper.machines[name])
        assert keeper.answer({"verb": "kill-sshd", "what": name}) == {"result": None}
        assert commands.seen[-1].startswith(f"nsenter --target={leader} --mount")
        assert commands.seen[-1].endswith(f"systemctl stop {unit}")


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ({"verb": "onn", "what": "storage-001"}, "no verb onn did you mean 'on'?"),
        ({"verb": "on", "what": "storage-01"}, "no node storage-01 in the rack did you mean 'storage-001'?"),
        ({"verb": "configure", "what": "leaf", "settings": {}}, "no switch leaf in the rack"),
        ({"verb": "configure", "what": "leaf-001a", "settings": "text"}, "must have one `set`"),
        ({"verb": "configure", "what": "leaf-001a"}, "settings"),
        ({}, "no verb"),
    ],
)
def test_what_cannot_be_done_is_said(keeper: Keeper, request_: dict[str, Any], error: str) -> None:
    assert error in keeper.answer(request_)["error"]


def test_a_command_that_fails_is_said(keeper: Keeper, commands: Commands) -> None:
    commands.refuses = "ip link"
    assert keeper.answer({"verb": "cut", "what": "storage-001:mgmt1"})["error"].endswith("exit code 1")
    assert keeper.status()["cut"] == []


@pytest.fixture
def standing(keeper: Keeper, tmp_path: Path) -> Iterator[racks.Rack]:
    """Give a rack that listens; its first process is a child of this one's."""
    owner = subprocess.Popen(["sh", "-c", "sleep 60; exit 1"])
    (tmp_path / inside.ORDER).write_text(keeper.order.model_dump_json(), encoding="utf-8")
    (tmp_path / racks.PID).write_text(str(owner.pid), encoding="ascii")
    with served(keeper, tmp_path / inside.CONTROL) as server:
        thread = threading.Thread(target=until_down, args=(server,))
        thread.start()
        rack = racks.Rack.at(tmp_path)
        eventually(lambda: children(owner.pid))
        yield rack
        rack.request("down")
        thread.join(10)
        assert not thread.is_alive()
    os.kill(racks.first_process(owner.pid), signal.SIGKILL)
    owner.wait(10)


def test_a_rack_is_asked_over_its_socket(standing: racks.Rack) -> None:
    assert standing.request("status")["nodes"]["storage-001"] == {"on": True, "ssh": True}
    assert standing.configure("leaf-001a", NVUE) == ["swp9"]
    standing.wait()
    standing.wait(["storage-001"])
    with pytest.raises(RackError, match=r"no answer over SSH after 0.1 s: gpu-0001"):
        standing.wait(["gpu-0001"], seconds=0.1)
    with pytest.raises(RackError, match="no verb"):
        standing.request("explode")


def test_a_caller_that_breaks_off_does_no_harm(standing: racks.Rack) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(standing.directory / inside.CONTROL))
        connection.sendall(b"{not json\n")
    assert standing.request("status")


def test_commands_enter_the_rack_and_then_the_machine(standing: racks.Rack) -> None:
    first = racks.first_process(standing.pid)
    enter = ["nsenter", f"--target={first}", "--mount", "--net", "--pid", "--wdns=/", "--"]
    assert standing.command(racks.HERE, "id") == [*enter, "id"]
    assert standing.command("leaf-001a", "id") == [*enter, "ip", "netns", "exec", "leaf-001a", "id"]
    leader = eventually(lambda: standing.request("leader", "storage-001"))
    assert standing.command("storage-001", "id") == [*enter, *entering(leader), "id"]


def test_the_command_line(
    standing: racks.Rack, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(standing.directory)
    became: list[list[str]] = []
    monkeypatch.setattr("os.execvp", lambda _, command: became.append(command))
    assert talk.main([place, "status"]) == 0
    assert json.loads(capsys.readouterr().out)["nodes"]
    assert talk.main([place, "on", "gpu-0001"]) == 0
    assert talk.main([place, "on", "gpu"]) == 1
    assert "no node gpu in the rack" in capsys.readouterr().err
    assert talk.main(["/nowhere", "status"]) == 1
    assert talk.main([]) == 2
    assert "usage:" in capsys.readouterr().err
    talk.main([place, "exec", "leaf-001a", "ip", "link"])
    talk.main([place, "shell"])
    assert [command[-3:] for command in became] == [["leaf-001a", "ip", "link"], ["--", "bash", "-l"]]
    monkeypatch.setattr("kvplan.twin.rack.talk.keep", lambda directory: directory == Path(place))
    assert talk.main(["keep", place]) == 1


def test_a_rack_that_is_gone_says_so() -> None:
    with pytest.raises(RackError, match="the rack is gone"):
        racks.first_process(2**22 + 1)


def test_a_rack_that_does_not_come_up_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raising, "starting", lambda _: ["sh", "-c", "echo the bridge is up >&2; exit 1"])
    with pytest.raises(RackError, match="does not come up: the bridge is up"), raising._standing(tmp_path):
        pass


def test_no_rack_on_a_machine_that_cannot_carry_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raising, "missing", lambda: ["not root: run it with sudo", "no sshd"])
    with (
        pytest.raises(RackError, match="cannot carry a rack: not root: run it with sudo; no sshd"),
        raising.raised(deployment_of(8)),
    ):
        pass


def test_directories_of_dead_racks_are_swept(tmp_path: Path) -> None:
    alive = subprocess.Popen(["sh", "-c", "sleep 60; exit 1", "kv-rack-alive"])
    child = eventually(lambda: children(alive.pid))  # before it has begun, its command line is empty
    # A number that is another process's by now is a dead rack's too.
    for name, pid in {"dead": 2**22 + 1, "reused": os.getpid(), "alive": alive.pid}.items():
        (tmp_path / f"kv-rack-{name}").mkdir()
        (tmp_path / f"kv-rack-{name}" / racks.PID).write_text(str(pid), encoding="ascii")
    (tmp_path / "kv-rack-young").mkdir()
    (tmp_path / "groups/inner").mkdir(parents=True)
    (tmp_path / "kv-rack-dead" / inside.GROUPS).write_text(f"{tmp_path}/groups\n", encoding="utf-8")
    raising.swept(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kv-rack-alive", "kv-rack-young"]
    os.kill(child, signal.SIGKILL)
    alive.wait(10)


def test_the_rack_is_built_in_private_and_kept_until_told_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], commands: Commands
) -> None:
    inside.privately(commands)
    assert commands.seen[0] == "mount -t tmpfs -o mode=755 kv-run /run"
    assert "/run/netns" in commands.seen[-1]
    monkeypatch.setattr(inside, "privately", lambda: None)
    monkeypatch.setattr(cgroups, "join", lambda _: None)
    assert inside.main(tmp_path) == 1
    assert "order.json" in capsys.readouterr().err
    monkeypatch.setattr(inside, "Keeper", lambda *_: keeper_in(tmp_path, commands, off=()))
    monkeypatch.setattr("kvplan.twin.rack.keeper.Keeper.build", lambda _: None)
    (tmp_path / inside.ORDER).write_text(keeper_in(tmp_path, commands).order.model_dump_json(), encoding="utf-8")
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(inside.main(tmp_path)))
    thread.start()
    eventually((tmp_path / inside.CONTROL).exists)
    racks.Rack(PLAN, tmp_path, 0).request("down")
    thread.join(10)
    assert codes == [0]


def test_the_first_process_ends_as_the_other_does(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["sh", "-c", "exit 7"]) as other:
        monkeypatch.setattr("os.fork", lambda: other.pid)
        assert inside.keep(Path("/nowhere")) == 7


def test_the_first_process_waits_for_all_that_is_left_to_it() -> None:
    script = (
        "import os, sys, time; from kvplan.twin.rack import inside; from pathlib import Path\n"
        "os.fork() or os._exit(9)\n"
        "inside.main = lambda directory: time.sleep(0.2) or 5\n"
        "sys.exit(inside.keep(Path('/nowhere')))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 5
