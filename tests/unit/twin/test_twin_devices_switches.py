"""Switches of a rack: configurations handed to it, and sessions and links seen in it."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest
from device_benches import FakeRack, order_in
from sites import deployment_of

from kvplan.twin.devices import switches as module
from kvplan.twin.devices.switches import Switches
from kvplan.twin.nvue.operation import Operation
from kvplan.twin.nvue.refusal import ApplyError
from kvplan.twin.nvue.sessions import Fabric
from kvplan.twin.nvue.trees import at
from kvplan.twin.rack.plan import rack_plan
from kvplan.twin.rack.shell import RackError

if TYPE_CHECKING:
    from pathlib import Path

PLAN = rack_plan(deployment_of(8), ["storage-001", "gpu-0001"])
LEAF, OOB = "leaf-001a", "oob-01"
UP_ALL = {"link": {"state": "up"}}


class Kernel:
    """Answers what a rack's machine is asked: states of interfaces, and sessions of a routing daemon."""

    def __init__(self) -> None:
        self.states = {"eth0": "UP", "swp1s0": "UP", "swp1s1": "LOWERLAYERDOWN"}
        self.bridge = {"mg0": "UP", "mg1": "LOWERLAYERDOWN", "mg2": "UP"}
        self.peers = {"10.64.0.1": "Established", "10.64.0.9": "Active"}
        self.routes = True
        self.asked: list[tuple[str, ...]] = []

    def __call__(self, *command: str, stdin: str = "", seconds: float = 60) -> str:
        """Answer a command."""
        assert (stdin, seconds) == ("", 60)
        self.asked.append(command)
        if command[0] == "vtysh":
            if not self.routes:
                message = "vtysh: exit code 1"
                raise RackError(message)
            return json.dumps({"peers": {peer: {"state": state} for peer, state in self.peers.items()}})
        held = self.bridge if "master" in command else self.states
        return json.dumps([{"ifname": name, "operstate": state} for name, state in held.items()])


@pytest.fixture
def rack() -> FakeRack:
    return FakeRack()


@pytest.fixture
def kernel() -> Kernel:
    return Kernel()


@pytest.fixture
def switches(tmp_path: Path, rack: FakeRack, kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> Switches:
    """Give the switches of a rack with two nodes, looked at anew each time."""
    monkeypatch.setattr(module, "_FRESH_S", -1)
    return Switches(order_in(tmp_path), PLAN, rack.request, kernel)


def test_every_switch_of_the_rack_is_there_and_knows_the_planned_password(switches: Switches) -> None:
    assert [*switches.switches] == ["leaf-001a", "leaf-001b", "spine-001", OOB]
    assert switches.addresses[LEAF] == "172.24.128.8"
    leaf = switches.switches[LEAF]
    assert (leaf.version, leaf.password_changed) == ("5.15.0", True)
    assert leaf.knows("cumulus", "switch_password-made-up")
    assert not leaf.knows("cumulus", "cumulus")
    assert switches.status()[LEAF]["state"] == "applied_and_saved"


def test_only_switches_of_the_rack_are_there(tmp_path: Path, rack: FakeRack) -> None:
    few = rack_plan(deployment_of(8), ["storage-001"], [LEAF])
    assert [*Switches(order_in(tmp_path), few, rack.request, Kernel()).switches] == [LEAF]


def test_what_is_applied_reaches_the_rack(switches: Switches, rack: FakeRack) -> None:
    config = {"vrf": {"default": {"router": {"bgp": {"state": "enabled"}}}}, "system": {"hostname": LEAF}}
    switches.switches[LEAF].on_applied(config)
    switches.switches[OOB].on_applied(config)
    assert (rack.asked, rack.settings) == ([("configure", LEAF)], [config])
    switches.switches[LEAF].bgp_lost = True
    switches.switches[LEAF].on_applied(config)
    assert at(rack.settings[1], ("vrf", "default", "router", "bgp")) is None
    assert rack.settings[1]["system"] == config["system"]
    rack.refuses = "configure"
    with pytest.raises(ApplyError, match="configure does not work"):
        switches.switches[LEAF].on_applied(config)


def test_sessions_are_those_of_the_routing_daemon(switches: Switches, kernel: Kernel) -> None:
    assert switches.sessions(LEAF) == {"10.64.0.1": "established", "10.64.0.9": "active"}
    assert kernel.asked == [("vtysh", "-N", LEAF, "-c", "show bgp ipv4 unicast summary json")]
    kernel.routes = False
    assert switches.sessions(LEAF) == {}
    assert switches.sessions(OOB) == {}


def test_links_are_those_of_the_namespace_or_the_bridge(switches: Switches) -> None:
    assert switches.links(LEAF) == {"eth0": True, "swp1s0": True, "swp1s1": False}
    far = {peer: port for (device, port), peer in switches.wiring.far.items() if device == OOB}
    seen = switches.links(OOB)
    assert seen[far["storage-001", "mgmt1"]]
    assert not seen[far["gpu-0001", "mgmt1"]]
    assert seen[far[LEAF, "eth0"]]
    assert seen[far["gpu-0001", "bmc"]]  # a controller has power although its server is off
    assert not seen[far["storage-002", "bmc"]]  # not in this rack


def test_what_was_seen_a_moment_ago_is_not_asked_again(
    switches: Switches, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FRESH_S", 60)
    assert switches.links(LEAF) is switches.links(LEAF)
    assert len(kernel.asked) == 1
    switches.switches[LEAF].on_applied({})
    switches.links(LEAF)
    assert len(kernel.asked) == 2


def test_a_switch_shows_links_and_neighbours_that_are_seen(
    switches: Switches, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaf = switches.switches[LEAF]
    leaf.running = {"interface": {"swp1": {"link": {"breakout": {"4x": {}}}}, "swp1s0": UP_ALL, "swp1s1": UP_ALL}}
    monkeypatch.setattr(switches.speakers, "neighbours", lambda _: {"swp1s0": ("storage-001", "client1p0")})
    fabric = Fabric(switches.switches, switches.wiring, switches.links)
    operation = Operation(fabric, LEAF, switches.sessions, switches.heard)

    def shown() -> dict[str, Any]:
        found: dict[str, Any] = operation.shown()["interface"]
        return found

    assert shown()["swp1s0"]["link"]["oper-status"] == "up"
    assert [*shown()["swp1s0"]["lldp"]["neighbor"]] == ["storage-001"]
    assert shown()["swp1s1"]["link"]["oper-status"] == "down"
    kernel.states["swp1s0"] = "LOWERLAYERDOWN"
    assert shown()["swp1s0"]["link"]["oper-status"] == "down"
    assert "lldp" not in shown()["swp1s0"]
    kernel.states |= {"swp1s0": "UP", "swp1s1": "UP"}
    assert "lldp" in shown()["swp1s0"]
    assert "lldp" not in shown()["swp1s1"]  # a link, and nobody who speaks


def test_what_a_controller_would_say_is_computed(switches: Switches, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = switches.heard(OOB)
    assert {peer for peer in heard.values() if peer[0] == "gpu-0001"} == {
        ("gpu-0001", "bmc"),
        ("gpu-0001", "nic1-bmc"),
        ("gpu-0001", "nic2-bmc"),
    }
    assert not {peer for peer in heard.values() if peer[0] in {LEAF, "storage-002"}}
    port = next(port for (device, port), peer in switches.wiring.far.items() if (device, peer) == (OOB, (LEAF, "eth0")))
    monkeypatch.setattr(switches.speakers, "neighbours", lambda _: {port: ("cumulus", "eth0")})
    assert switches.heard(OOB)[port] == ("cumulus", "eth0")


def test_switches_speak_by_the_name_and_as_often_as_they_are_configured(switches: Switches) -> None:
    assert (switches._hostname(LEAF), switches._interval(LEAF)) == ("cumulus", 30.0)
    config: dict[str, Any] = {"system": {"hostname": LEAF, "lldp": {"tx-interval": 10}}}
    leaf = switches.switches[LEAF]
    leaf.on_applied(config)
    leaf.running = config
    assert (switches._hostname(LEAF), switches._interval(LEAF)) == (LEAF, 10.0)
    leaf.running = {"service": {"lldp": {"tx-interval": 20}}}
    assert switches._interval(LEAF) == 20.0


def test_every_port_with_a_link_in_the_rack_is_listened_at(switches: Switches) -> None:
    links = {(link.switch, link.port): link.interface for link in switches._ports(PLAN)}
    assert links[LEAF, "swp1s0"] == "swp1s0"
    assert links["spine-001", "swp1s0"] == "swp1s0"
    assert links[LEAF, "eth0"] == "eth0"
    assert (LEAF, "swp1s2") not in links  # its far end is not in the rack
    assert sorted(interface for (name, _), interface in links.items() if name == OOB) == [
        "mg0",
        "mg1",
        "mg2",
        "mg3",
        "mg4",
    ]


def test_switches_listen_where_they_are(switches: Switches, monkeypatch: pytest.MonkeyPatch) -> None:
    entered: list[str] = []

    def enter(name: str) -> nullcontext[None]:
        entered.append(name)
        return nullcontext()

    monkeypatch.setattr(module, "within", enter)
    for name in (LEAF, OOB):
        with switches.within(name):
            pass
    assert entered == [LEAF]
