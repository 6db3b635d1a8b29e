"""Which machines, ports and cables a rack has, what they are called, and how the kernel is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from sites import deployment_of, deployment_with

from kvplan.errors import UsageError
from kvplan.twin.rack.frr import PortSetting
from kvplan.twin.rack.network import building, configured, powered, waking
from kvplan.twin.rack.plan import RackPlan, rack_plan
from kvplan.twin.rack.ssh import inventory, known_hosts, made_key, ssh_config

NODES = ("storage-001", "storage-002", "gpu-0001")
PLAN = rack_plan(deployment_of(8), NODES)
HERE = Path("/racks/one")


def test_a_rack_has_the_named_nodes_and_every_fabric_switch() -> None:
    assert tuple(node.name for node in PLAN.nodes) == NODES
    assert [switch.name for switch in PLAN.switches] == ["leaf-001a", "leaf-001b", "spine-001"]
    storage, _, gpu = PLAN.nodes
    assert (storage.face, storage.version, gpu.face, gpu.version) == ("rhel", "9.6", "ubuntu", "24.04")
    assert (storage.hostname, storage.address) == ("storage-001-adm.kv.example", "172.24.64.9")
    assert storage.management[0].mtu_bytes == 1500
    assert {port.mtu_bytes for port in storage.fabric} == {9000}
    assert PLAN.here == ("172.24.0.10/14",)
    assert len(PLAN.controllers) == 3


def test_all_of_the_deployment_without_names() -> None:
    whole = rack_plan(deployment_of(8))
    assert len(whole.nodes) == 13
    assert not whole.loose
    assert whole.nodes[-1].loopback == ""  # the control node's


def test_management_switches_have_an_address_on_the_bridge_and_nothing_else() -> None:
    assert [(switch.name, switch.address) for switch in PLAN.managers] == [("oob-01", "172.25.64.8/14")]
    lines = building(PLAN)
    assert "address add 172.25.64.8/32 dev br-mgmt" in lines
    assert "netns add oob-01" not in lines
    assert rack_plan(deployment_of(8), NODES, ["leaf-001a"]).managers == ()
    assert rack_plan(deployment_of(8), NODES, ["oob-01"]).switches == ()


def test_each_cable_is_there_once_and_cut_at_its_switch() -> None:
    ends = [end for cable in PLAN.cables for end in ((cable.device, cable.port), (cable.peer, cable.peer_port))]
    assert len(ends) == len(set(ends)) == 2 * (2 * 12 + 3 + 3 + 2)
    assert PLAN.end_of("link:storage-001:client1p0") == ("leaf-001a", "swp1s0")
    assert PLAN.end_of("leaf-001a:swp1s0") == ("leaf-001a", "swp1s0")
    assert PLAN.end_of("spine-001:swp1s0") == PLAN.end_of("leaf-001a:swp59s0") == ("leaf-001a", "swp59s0")


def test_a_management_cable_is_cut_at_the_bridge() -> None:
    assert PLAN.end_of("link:storage-002:mgmt1") == ("", "mg1")
    assert PLAN.end_of("leaf-001a:eth0") == ("", "mg3")


def test_an_unknown_link_is_refused_with_the_nearest() -> None:
    with pytest.raises(
        UsageError, match=r"no link storage-001:client1p7 in the rack did you mean 'storage-001:client1p"
    ):
        PLAN.end_of("link:storage-001:client1p7")


@pytest.mark.parametrize("names", [{"nodes": ["storage-01"]}, {"switches": ["leaf-01a"]}])
def test_unknown_machines_are_refused(names: dict[str, list[str]]) -> None:
    with pytest.raises(UsageError, match="is not in the deployment did you mean"):
        rack_plan(deployment_of(8), **names)


def test_ports_whose_far_end_is_elsewhere_hang_loose() -> None:
    alone = rack_plan(deployment_of(8), ["storage-001"], [])
    assert (alone.cables, alone.switches) == ((), ())
    assert [port for _, port in alone.loose] == ["client1p0", "storage1p0", "client1p1"]
    assert ("leaf-001a", "swp1s2") in PLAN.loose
    lines = building(alone)
    assert (
        "link add client1p0 address 02:00:01:00:01:00 netns storage-001 type veth peer name no0 netns nowhere" in lines
    )
    assert "netns add nowhere" in lines


def test_names_too_long_for_the_kernel_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kvplan.twin.rack.plan.NAME_LENGTH", 8)
    with pytest.raises(UsageError, match="client1p0 of storage-001: an interface's name has at most 8 characters"):
        rack_plan(deployment_of(8), ["storage-001"], [])


def test_it_survives_being_written_down() -> None:
    assert RackPlan.model_validate_json(PLAN.model_dump_json()) == PLAN


def test_the_networks_are_built_as_planned() -> None:
    lines = building(PLAN)
    assert lines.count("netns add storage-001") == lines.count("netns add spine-001") == 1
    assert "address add 172.24.0.10/14 dev br-mgmt" in lines
    mac = "02:00:01:00:01:00"
    assert f"link add swp1s0 netns leaf-001a type veth peer name client1p0 address {mac} netns storage-001" in lines
    assert "link add mg0 type veth peer name mgmt1 address 02:00:01:00:01:03 netns storage-001" in lines
    assert "link add mg3 type veth peer name eth0 netns leaf-001a" in lines
    assert waking("172.24.128.8/14")[1] == "address add 172.24.128.8/14 dev eth0"


def test_ports_follow_the_power_of_their_node() -> None:
    on = powered(PLAN.nodes[0], on=True, fabric=True)
    assert "link set client1p0 mtu 9000 up" in on
    assert "address replace 10.64.0.1/31 dev client1p0" in on
    assert "address replace 10.72.16.1/32 dev lo" in on
    bare = powered(PLAN.nodes[0], on=True, fabric=False)
    assert "address replace 172.24.64.9/14 dev mgmt1" in bare
    assert "link set client1p0 up" in bare
    assert not [line for line in bare if "10." in line and "172" not in line]
    off = powered(PLAN.nodes[0], on=False, fabric=True)
    assert {"link set mgmt1 down", "link set client1p0 down", "address flush dev client1p0"} <= {*off}
    control = rack_plan(deployment_of(8), ["control-1"], []).nodes[0]
    assert powered(control, on=True, fabric=True) == powered(control, on=True, fabric=False)


def test_a_configuration_changes_only_what_differs() -> None:
    wanted = {"lo": PortSetting(None, ("10.0.0.1/32",)), "swp1": PortSetting(9216, ()), "swp2": PortSetting(None, ())}
    held = {
        "lo": frozenset({"10.0.0.1/32"}),
        "swp1": frozenset({"10.9.0.0/31"}),
        "swp2": frozenset(),
        "swp3": frozenset(),
    }
    assert configured(wanted, held, frozenset({"swp2"})) == [
        "link set lo up",
        "link set swp1 mtu 9216",
        "address del 10.9.0.0/31 dev swp1",
        "link set swp1 up",
        "link set swp2 down",  # cut
        "link set swp3 down",  # not in the configuration
    ]


def test_a_port_without_address_is_brought_up_alone() -> None:
    planned = rack_plan(deployment_with(8), ["storage-001"], []).nodes[0]
    bare = planned.model_copy(update={"fabric": (planned.fabric[0].model_copy(update={"address": ""}),)})
    assert powered(bare, on=True, fabric=True)[-2] == "link set client1p0 mtu 9000 up"


def test_every_name_leads_to_the_management_address() -> None:
    text = ssh_config(PLAN, HERE)
    assert "Host storage-001 storage-001-adm storage-001-adm.kv.example\n  HostName 172.24.64.9\n" in text
    assert "StrictHostKeyChecking yes" in text
    assert inventory(PLAN, HERE)["gpu-0001"] == {
        "ansible_host": "172.26.0.9",
        "ansible_user": "kvplan",
        "ansible_ssh_private_key_file": "/racks/one/id_ed25519",
        "ansible_ssh_common_args": "-F /racks/one/ssh_config",
        "ansible_control_path_dir": "/run/kv/cm",
    }


def test_keys_are_made_and_known(tmp_path: Path) -> None:
    private, public = made_key(tmp_path / "key", "storage-001")
    assert private.startswith("-----BEGIN OPENSSH PRIVATE KEY-----")
    known = known_hosts(PLAN, dict.fromkeys(NODES, public)).splitlines()
    assert known[0].startswith("172.24.64.9,storage-001,storage-001-adm,storage-001-adm.kv.example ssh-ed25519 AAAA")
    assert not known[0].endswith("storage-001")  # the comment is left out
