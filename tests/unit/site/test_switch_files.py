from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sites import NEW, OLD, deployment_of, deployment_with, site_data
from switchtrees import CASES, parsed, texts, texts_of, with_able_receivers

from kvplan.site.secrets import PLACEHOLDER
from kvplan.site.switches.files import switch_files
from kvplan.site.tree import EXECUTABLE, PRIVATE, READABLE

if TYPE_CHECKING:
    from collections.abc import Callable

ROLES = ["leaf-001a", "spine-001", "oob-01"]


@pytest.mark.parametrize(("nodes", "cumulus"), CASES)
@pytest.mark.parametrize("name", [f"{role}.yaml" for role in ROLES] + ["ztp.sh", "topology.dot"])
def test_golden(golden: Callable[[str, str], None], nodes: int, cumulus: str, name: str) -> None:
    golden(f"site/switches/{nodes}-{cumulus}/{name}", texts_of(nodes, cumulus)[f"switches/{name}"])


def interfaces(name: str, nodes: int = 8, cumulus: str = NEW) -> Any:
    return parsed(texts_of(nodes, cumulus)[f"switches/{name}.yaml"])["interface"]


def test_equal_input_gives_equal_files() -> None:
    assert list(switch_files(deployment_of(8))) == list(switch_files(deployment_with(8)))


def test_each_switch_has_a_file_and_modes_keep_secrets_private() -> None:
    modes = {file.path: file.mode for file in switch_files(deployment_of(8))}
    assert modes == {
        "switches/leaf-001a.yaml": PRIVATE,
        "switches/leaf-001b.yaml": PRIVATE,
        "switches/spine-001.yaml": PRIVATE,
        "switches/oob-01.yaml": PRIVATE,
        "switches/ztp.sh": EXECUTABLE,
        "switches/topology.dot": READABLE,
    }


def quiet(cumulus: str) -> Any:
    data = site_data(deployment_of(8).plan)["network"]
    network = {**data, "snmp": None, "syslog": [], "telemetry": None, "management_gateway": None}
    return deployment_with(8, network=network, cumulus=cumulus)


@pytest.mark.parametrize("cumulus", ["5.9.2", OLD, "5.12.0", "5.14.0", NEW])
def test_what_the_site_lacks_is_left_out(cumulus: str) -> None:
    deployed = quiet(cumulus)
    for text in texts(deployed).values():
        assert not any(word in text for word in ("snmp", "syslog", "telemetry", "gateway", "static"))


def test_a_release_below_both_dialects_is_not_written() -> None:
    assert list(texts(deployment_with(8, cumulus="5.8.1"))) == ["switches/ztp.sh", "switches/topology.dot"]


@pytest.mark.parametrize(
    ("cumulus", "paths"),
    [
        ("5.9.1", ["service.dns.mgmt.server", "service.syslog.mgmt.server", "service.snmp-server.enable"]),
        ("5.10.0", ["service.dns.mgmt.server", "system.telemetry.enable", "system.config.auto-save.state"]),
        ("5.11.1", ["system.dns.server", "system.snmp-server.state", "service.syslog.mgmt.server", "system.timezone"]),
        ("5.13.0", ["system.syslog.server", "service.ntp.mgmt.server", "service.lldp.tx-interval"]),
        ("5.15.0", ["system.date-time.timezone", "system.ntp.server", "system.lldp.state", "router.bfd.profile"]),
    ],
)
def test_each_release_has_its_paths(cumulus: str, paths: list[str]) -> None:
    content = parsed(texts(deployment_with(8, cumulus=cumulus))["switches/leaf-001a.yaml"])
    for path in paths:
        inside = content
        for key in path.split("."):
            assert key in inside, f"{cumulus} lacks {path}"
            inside = inside[key]


def test_telemetry_is_left_out_where_the_release_has_none() -> None:
    assert "telemetry" not in texts(deployment_with(8, cumulus="5.9.1"))["switches/leaf-001a.yaml"]


def test_speeds_are_set_where_that_leaves_autonegotiation_on() -> None:
    assert interfaces("leaf-001a")["swp1s0"]["link"]["speed"] == "200G"
    assert "speed" not in interfaces("leaf-001a", 4, OLD)["swp1s0"]["link"]


def test_adaptive_routing_is_on_for_links_between_switches_only_and_never_at_800g() -> None:
    asked = {"fabric": {"adaptive_routing": True}}
    able = with_able_receivers(deployment_with(8, build=asked))
    content = parsed(texts(able)["switches/leaf-001a.yaml"])
    adaptive = {name for name, port in content["interface"].items() if "adaptive-routing" in port.get("router", {})}
    assert adaptive == {f"swp{cage}s{leg}" for cage in range(59, 65) for leg in (0, 1)}
    assert content["router"]["adaptive-routing"] == {"state": "enabled"}
    fast = {"fabric": {"adaptive_routing": True, "uplink_legs": "1x800G"}}
    assert "adaptive-routing" not in "".join(texts(with_able_receivers(deployment_with(8, build=fast))).values())
    assert "adaptive-routing" not in "".join(texts_of(8, NEW).values())


def test_adaptive_routing_stays_off_with_receivers_that_the_design_warns_of() -> None:
    deployed = deployment_with(8, build={"fabric": {"adaptive_routing": True}})
    assert "adaptive-routing" not in "".join(texts(deployed).values())


def test_each_rule_of_a_list_has_one_prefix() -> None:
    rules = parsed(texts_of(8, NEW)["switches/leaf-001a.yaml"])["router"]["policy"]["prefix-list"]["own-routes"]["rule"]
    assert list(rules) == [str(10 * place) for place in range(1, 8)]
    assert [list(rule["match"]) for rule in rules.values()][-1] == ["10.70.0.0/15"]
    assert {len(rule["match"]) for rule in rules.values()} == {1}


def test_every_priority_has_a_traffic_class() -> None:
    mapping = parsed(texts_of(8, NEW)["switches/leaf-001a.yaml"])["qos"]["egress-queue-mapping"]["default-global"]
    classes = {int(key): value["traffic-class"] for key, value in mapping["switch-priority"].items()}
    assert classes == {0: 0, 1: 0, 2: 0, 3: 3, 4: 0, 5: 0, 6: 6, 7: 0}


def test_an_undivided_cage_is_one_port() -> None:
    deployed = deployment_with(8, build={"fabric": {"uplink_legs": "1x800G"}})
    port = parsed(texts(deployed)["switches/leaf-001a.yaml"])["interface"]["swp59"]
    assert port["link"] == {"state": {"up": {}}, "mtu": 9216, "speed": "800G"}


def test_the_cable_length_is_that_of_the_longest_cable() -> None:
    deployed = deployment_of(8)
    longest = max(cable.length_m for cable in deployed.cables.values() if "leaf-001a" in cable.id)
    content = parsed(texts_of(8, NEW)["switches/leaf-001a.yaml"])
    assert longest <= content["qos"]["pfc"]["default-global"]["cable-length"] < longest + 1


def test_a_host_may_announce_its_loopback_only() -> None:
    content = parsed(texts_of(8, NEW)["switches/leaf-001a.yaml"])
    lists = content["router"]["policy"]["prefix-list"]
    assert lists["from-storage-001"]["rule"]["10"] == {"action": "permit", "match": {"10.72.16.1/32": {}}}
    neighbor = content["vrf"]["default"]["router"]["bgp"]["neighbor"]["10.64.0.1"]
    assert neighbor["address-family"]["ipv4-unicast"]["policy"]["inbound"]["prefix-list"] == "from-storage-001"


def test_the_deployers_account_stands_beside_the_factorys() -> None:
    access = site_data(deployment_of(8).plan)["access"]
    keys = ["sk-ssh-ed25519@openssh.com AAAA x", *access["ssh_keys"]]
    deployed = deployment_with(8, access={**access, "switch_user": "deployer", "ssh_keys": keys})
    users = parsed(texts(deployed)["switches/leaf-001a.yaml"])["system"]["aaa"]["user"]
    assert set(users) == {"cumulus", "deployer"}
    assert list(users["deployer"]["ssh"]["authorized-key"]) == ["key-1"]
    assert all(PLACEHOLDER.fullmatch(user["password"]) for user in users.values())
    assert users["cumulus"]["ssh"] == users["deployer"]["ssh"]


def test_a_management_switch_is_one_bridge_reached_by_its_own_address() -> None:
    content = parsed(texts_of(8, NEW)["switches/oob-01.yaml"])
    ports = [port for name, port in content["interface"].items() if name.startswith("swp")]
    assert len(ports) == 45 + 2
    assert all(port["bridge"]["domain"]["br_default"] == {"access": 1} for port in ports)
    assert content["interface"]["vlan1"]["ipv4"]["address"] == {"172.25.64.8/14": {}}
    assert "qos" not in content


@pytest.mark.slow
def test_256_nodes_are_written() -> None:
    deployed = deployment_of(256)
    assert len(deployed.switches) > 40
    files = list(switch_files(deployed))
    assert len(files) == len(deployed.switches) + 2
