"""What holds of every design: each port has one peer, nothing stands in the same place, counts agree with the Plan."""

from __future__ import annotations

from collections import Counter

import pytest
from designs import SIZES, design_for, plan_of

from kvplan.api import design
from kvplan.schema.design import Design

NODES = sorted(SIZES)
SWITCH_ROLES = {"leaf", "spine", "super-spine"}


@pytest.mark.parametrize("nodes", NODES)
def test_equal_plans_give_equal_designs(nodes: int) -> None:
    assert design(plan_of(nodes)).model_dump_json() == design_for(nodes).model_dump_json()


@pytest.mark.parametrize("nodes", NODES)
def test_a_design_reads_back_as_it_was_written(nodes: int) -> None:
    assert Design.model_validate_json(design_for(nodes).model_dump_json()) == design_for(nodes)


@pytest.mark.parametrize("nodes", NODES)
def test_every_port_is_one_end_of_one_link(nodes: int) -> None:
    ports = {(port.device, port.name): port for port in design_for(nodes).ports}
    assert len(ports) == len(design_for(nodes).ports)
    for port in ports.values():
        peer = ports[port.peer_device, port.peer_port]
        assert (peer.peer_device, peer.peer_port) == (port.device, port.name)
        assert (peer.bits_per_s, peer.network, peer.cables, peer.lanes) == (
            port.bits_per_s,
            port.network,
            port.cables,
            port.lanes,
        )


@pytest.mark.parametrize("nodes", NODES)
def test_every_leg_lies_in_exactly_one_cable(nodes: int) -> None:
    built = design_for(nodes)
    assert len({cable.id for cable in built.cables}) == len(built.cables)
    for end in ("a", "b"):
        legs = [
            (cable_end.device, port)
            for cable in built.cables
            for cable_end in ((cable.a,) if end == "a" else cable.b)
            for port in cable_end.ports
        ]
        assert max(Counter(legs).values()) == 1
        assert 2 * len(legs) == len(built.ports)


@pytest.mark.parametrize("nodes", NODES)
def test_nothing_stands_in_the_place_of_something_else(nodes: int) -> None:
    built = design_for(nodes)
    taken = [(device.rack, device.position_u + unit) for device in built.devices for unit in range(device.rack_units)]
    assert max(Counter(taken).values()) == 1
    assert all(1 <= unit <= built.racks[0].units for _, unit in taken)
    assert {rack for rack, _ in taken} == {rack.name for rack in built.racks}


@pytest.mark.parametrize("nodes", NODES)
def test_racks_keep_their_limits_and_add_up(nodes: int) -> None:
    built = design_for(nodes)
    for rack in built.racks:
        inside = [device for device in built.devices if device.rack == rack.name]
        assert rack.power_max_w == pytest.approx(sum(device.power_max_w for device in inside))
        assert rack.weight_kg == pytest.approx(sum(device.weight_kg for device in inside))
        assert rack.used_units == sum(device.rack_units for device in inside)
        assert rack.power_max_w <= rack.power_limit_w
        assert rack.power_typical_w <= rack.power_max_w


@pytest.mark.parametrize("nodes", NODES)
def test_counts_are_those_of_the_plan(nodes: int) -> None:
    plan, built = plan_of(nodes), design_for(nodes)
    count = Counter(device.role for device in built.devices)
    assert count["storage"] == plan.profile.nodes == nodes
    assert count["client"] == plan.network.client_servers
    assert count["leaf"] == built.switches.leaves == plan.network.leaf_switches
    assert count["spine"] == built.switches.spines == plan.network.spine_switches
    assert count["management-switch"] == built.switches.management
    cages = {(port.device, port.cage) for port in built.ports if port.network == "uplink" and "leaf" in port.device}
    assert len(cages) == plan.network.inter_switch_cables


@pytest.mark.parametrize("nodes", NODES)
def test_no_switch_uses_more_cages_or_ports_than_it_has(nodes: int) -> None:
    plan, built = plan_of(nodes), design_for(nodes)
    fabric = {device.name for device in built.devices if device.role in SWITCH_ROLES}
    ports = [port for port in built.ports if port.device in fabric and port.network != "management"]
    cages = {(port.device, port.cage, port.cage_legs) for port in ports}
    used = Counter(device for device, _, _ in cages)
    # One cage has one breakout.
    assert len(cages) == len({(device, cage) for device, cage, _ in cages})
    assert max(used.values()) <= plan.parts.switch.cages
    legs = Counter(port.device for port in ports)
    assert max(legs.values()) <= (plan.parts.switch.max_ports or 0)
    for cage in cages:
        share = cage[2]
        assert sum((port.device, port.cage) == cage[:2] for port in ports) <= share


@pytest.mark.parametrize("nodes", NODES)
def test_rails_are_kept(nodes: int) -> None:
    """Port 0 of every machine is on rail a and port 1 on rail b; single ports alternate by machine."""
    for port in design_for(nodes).ports:
        if port.network in {"storage-client", "storage", "client"} and port.device.startswith("leaf"):
            assert port.device.endswith(port.rail)
            if port.network == "storage-client":
                assert port.peer_port == ("client1p0" if port.rail == "a" else "client1p1")
            elif port.network == "client":
                assert port.peer_port == ("nic1p0" if port.rail == "a" else "nic2p0")
            else:
                assert int(port.peer_device[-3:]) % 2 == (1 if port.rail == "a" else 0)


@pytest.mark.parametrize("nodes", NODES)
def test_every_cable_reaches(nodes: int) -> None:
    for cable in design_for(nodes).cables:
        assert cable.length_m >= cable.needed_m > 0
        assert cable.family


@pytest.mark.parametrize("nodes", NODES)
def test_fibre_has_a_module_at_each_end_and_copper_none(nodes: int) -> None:
    for cable in design_for(nodes).cables:
        fibre = cable.medium in {"multimode", "single-mode"}
        assert all(bool(end.transceiver) == fibre for end in (cable.a, *cable.b))


def test_the_published_system() -> None:
    """IBM Redbook MD260021: eight ASG-1115S-NE316R, three SN5600, four SYS-212GB-FNR with two ports of 400G each."""
    built = design_for(8)
    count = Counter((device.role, device.model) for device in built.devices)
    assert count["storage", "ASG-1115S-NE316R"] == 8
    assert count["leaf", "sn5600"] + count["spine", "sn5600"] == 3
    assert count["client", "SYS-212GB-FNR"] == 4
    rates = Counter((port.device, port.bits_per_s) for port in built.ports if port.network != "management")
    assert (rates["storage-001", 200e9], rates["storage-001", 400e9], rates["gpu-0001", 400e9]) == (2, 1, 2)
    # 8 x (controller, host, BlueField) + 4 x (controller, host, two BlueFields) + 3 switches + a control node with two
    assert sum(port.network == "management" for port in built.ports) == 2 * (8 * 3 + 4 * 4 + 3 + 2)
