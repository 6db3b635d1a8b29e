"""What simulated switches show: a wrong configuration at either end shows as what it breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sites import NEW, OLD, deployment_of
from switchtrees import parsed, texts_of

from kvplan.twin.nvue.operation import Operation
from kvplan.twin.nvue.sessions import Fabric, sessions
from kvplan.twin.nvue.switch import Switch
from kvplan.twin.nvue.trees import at, merged, nested, without
from kvplan.twin.nvue.wiring import wiring_of

if TYPE_CHECKING:
    from kvplan.twin.nvue.trees import Tree

LEAF, SPINE, UPLINK, HOST_PORT, HOST = "leaf-001a", "spine-001", "swp59s0", "swp1s0", "10.64.0.1"
BGP = ("vrf", "default", "router", "bgp")
ASN = ("router", "bgp", "autonomous-system")


def fabric(nodes: int = 4, cumulus: str = OLD) -> Fabric:
    deployed = deployment_of(nodes, cumulus)
    switches = {one.name: Switch(one.name, cumulus) for one in deployed.switches}
    for name, switch in switches.items():
        switch.running = parsed(texts_of(nodes, cumulus)[f"switches/{name}.yaml"])
    return Fabric(switches, wiring_of(deployed))


def shown(one: Fabric, name: str = LEAF, *path: str) -> Any:
    return at(Operation(one, name).shown(), path)


def state(one: Fabric, peer: str, name: str = LEAF) -> Any:
    return sessions(one, name)[peer]["state"]


def put(one: Fabric, name: str, path: tuple[str, ...], value: Any) -> None:
    one.switches[name].running = merged(one.switches[name].running, nested(path, value))


@pytest.mark.parametrize(("nodes", "cumulus"), [(4, OLD), (8, NEW)])
def test_what_is_rendered_comes_up_everywhere(nodes: int, cumulus: str) -> None:
    one = fabric(nodes, cumulus)
    for name, switch in one.switches.items():
        states = {session["state"] for session in sessions(one, name).values()}
        assert states == ({"established"} if at(switch.running, BGP) else set())
        for port in deployment_of(nodes, cumulus).ports[name]:
            assert shown(one, name, "interface", port.name, "link", "oper-status") == "up"
            far = shown(one, name, "interface", port.name, "lldp", "neighbor", port.peer_device)
            assert far["port"]["name"] == port.peer_port
        roce = shown(one, name, "qos", "roce")
        assert roce.get("mode") == ("lossless" if at(switch.running, BGP) else None)


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        (SPINE, ("vrf", "default", "router", "bgp", "enable"), "off"),
        (SPINE, ASN, None),
        (LEAF, ASN, 4200000001),
        (SPINE, (*BGP, "neighbor", "swp1s0"), None),
        (SPINE, (*BGP, "peer-group", "underlay", "remote-as"), 1),
        (SPINE, ("interface", "swp1s0", "link", "state"), {"up": None, "down": {}}),
        (SPINE, ("interface", "swp1", "link", "breakout"), {"2x": None}),
        (LEAF, ("interface", "swp59", "link", "breakout"), None),
        (LEAF, ("interface", UPLINK), None),
    ],
)
def test_either_end_can_lose_a_session(name: str, path: tuple[str, ...], value: Any) -> None:
    one = fabric()
    if name == LEAF and path == ASN:
        value = one.switches[SPINE].running["router"]["bgp"]["autonomous-system"]
    put(one, name, path, value)
    assert state(one, UPLINK) == "active"
    assert state(one, HOST) == "established"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*BGP, "neighbor", HOST, "remote-as"), 1),
        (("interface", HOST_PORT, "ip", "address"), {"10.64.0.0/31": None, "10.99.0.0/31": {}}),
        (("interface", HOST_PORT, "ip", "address"), None),
        (("interface", "swp1", "link", "breakout"), {"4x": None, "2x": {}}),
    ],
)
def test_a_hosts_session_needs_address_number_and_port(path: tuple[str, ...], value: Any) -> None:
    one = fabric()
    port = "swp1s3" if path[1] == "swp1" else HOST_PORT
    peer = "10.64.0.25" if path[1] == "swp1" else HOST
    put(one, LEAF, path, value)
    assert state(one, peer) == "active"
    assert shown(one, LEAF, "interface", port, "link", "oper-status") == ("down" if path[1] == "swp1" else "up")


def test_cables_power_and_faults() -> None:
    one = fabric()
    one.switches[LEAF].faults.cut.add(HOST_PORT)
    assert state(one, HOST) == "active"
    assert shown(one, LEAF, "interface", HOST_PORT, "lldp") is None
    one.wiring.silent.add("storage-002")
    assert state(one, "10.64.0.9") == "active"
    one.switches[SPINE].bgp_lost = True
    assert state(one, UPLINK) == "active"
    one.wiring.silent.add(SPINE)
    assert shown(one, LEAF, "interface", UPLINK, "link", "oper-status") == "down"


def test_a_switch_without_a_name_is_seen_as_new() -> None:
    one = fabric()
    one.switches[SPINE].running = without(one.switches[SPINE].running, ("system", "hostname"))
    assert [*shown(one, LEAF, "interface", UPLINK, "lldp", "neighbor")] == ["cumulus"]


def test_older_releases_show_the_state_of_a_link_otherwise() -> None:
    one = fabric()
    one.switches[LEAF].release = (5, 10)
    assert shown(one, LEAF, "interface", HOST_PORT, "link", "state") == {"up": {}}
    assert shown(one, LEAF, "qos", "roce", "pfc", "rx-enabled") == "yes"


@pytest.mark.parametrize(
    ("roce", "seen"), [({"enable": "off"}, {}), ({"mode": "lossy"}, {"enable": "on", "mode": "lossy"})]
)
def test_the_lossless_service_is_shown_as_it_is(roce: Tree, seen: Tree) -> None:
    one = fabric()
    put(one, LEAF, ("qos", "roce"), roce)
    assert shown(one, LEAF, "qos", "roce") == seen


def test_a_storm_counts_more_pauses_at_every_look() -> None:
    one = fabric()
    looking = Operation(one, LEAF)
    assert {frames for each in looking.counters(HOST_PORT).values() for frames in each.values()} == {0}
    one.switches[LEAF].faults.storm.add(HOST_PORT)
    counts = [looking.counters(HOST_PORT)["3"]["rx-pause-frames"] for _ in range(3)]
    assert counts == sorted(set(counts))
    assert looking.counters(HOST_PORT)["0"]["rx-pause-frames"] == 0


def test_a_routing_daemon_behind_a_switch_is_believed() -> None:
    looking = Operation(fabric(), LEAF, lambda _: {UPLINK: "established"})
    found = at(looking.shown(), (*BGP, "neighbor"))
    assert (found[UPLINK]["state"], found[HOST]["state"]) == ("established", "idle")
