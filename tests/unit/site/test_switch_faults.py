from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sites import NEW, OLD, deployment_of, deployment_with, site_data
from switchtrees import CASES, changed, edited, texts, texts_of, with_able_receivers

from kvplan.site.secrets import placeholder
from kvplan.site.switches import RULES, switch_faults

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kvplan.schema.design import Finding
    from kvplan.site.deployment import Deployment

    Change = Callable[[Any], object]


def put(value: Any, *way: str) -> Change:
    """Return a change that sets a value at a place."""

    def change(tree: Any) -> None:
        for key in way[:-1]:
            tree = tree.setdefault(key, {})
        tree[way[-1]] = value

    return change


def drop(*way: str) -> Change:
    """Return a change that takes a place out."""

    def change(tree: Any) -> None:
        for key in way[:-1]:
            tree = tree[key]
        del tree[way[-1]]

    return change


def rename(new: str, *way: str) -> Change:
    """Return a change that gives a place another key."""

    def change(tree: Any) -> None:
        for key in way[:-1]:
            tree = tree[key]
        tree[new] = tree.pop(way[-1])

    return change


def found(deployed: Deployment, tree: Mapping[str, str]) -> list[Finding]:
    return list(switch_faults(deployed, tree))


def ids(deployed: Deployment, tree: Mapping[str, str]) -> set[str]:
    """List what is found, but for the hashes in the script, which every change makes wrong."""
    return {finding.id for finding in found(deployed, tree)} - {"KV-SWT-057"}


BGP = ("vrf", "default", "router", "bgp")
NEIGHBOR = (*BGP, "neighbor")
USER = ("system", "aaa", "user", "cumulus")
SNMP = ("system", "snmp-server")
LIST = ("router", "policy", "prefix-list", "from-storage-001", "rule", "10", "match")
OWN = ("router", "policy", "prefix-list", "own-routes", "rule")
QUEUES = ("qos", "egress-queue-mapping", "default-global", "switch-priority")
PEER = (*NEIGHBOR, "10.64.0.1")
LEG = ("interface", "swp1s0")
LINK = ("interface", "swp59s0")

PLANTED: list[tuple[int, str, Change]] = [
    (5, "leaf-001a", put({"address": {}}, *LINK, "ip")),
    (5, "leaf-001a", put({"mgmt": {}}, "service", "ntp")),
    (5, "spine-001", put("on", "qos", "roce", "enable")),
    (7, "leaf-001a", put("leaf-001b", "system", "hostname")),
    (8, "leaf-001a", drop("interface", "eth0", "vrf")),
    (8, "oob-01", put("default", "interface", "eth0", "vrf")),
    (9, "spine-001", rename("172.24.1.8/14", "interface", "eth0", "ipv4", "address", "172.24.192.8/14")),
    (9, "spine-001", drop("interface", "eth0", "ipv4", "gateway")),
    (10, "leaf-001a", drop("system", "control-plane", "acl", "acl-default-whitelist")),
    (10, "oob-01", drop("system", "control-plane")),
    (11, "leaf-001a", drop(*USER)),
    (11, "oob-01", put("nvue-monitor", *USER, "role")),
    (12, "leaf-001a", drop(*USER, "ssh")),
    (12, "leaf-001a", drop(*USER, "ssh", "authorized-key", "key-1", "key")),
    (13, "leaf-001a", put("$6$salt$hash", *USER, "hashed-password")),
    (13, "leaf-001a", rename("secret1", *SNMP, "username", "watcher", "auth-sha", placeholder("snmp_authentication"))),
    (13, "oob-01", put({"access": {"any": {}}}, *SNMP, "readonly-community", "public")),
    (14, "leaf-001a", drop("system", "dns")),
    (15, "leaf-001a", drop("system", "ntp", "server", "172.24.0.4")),
    (16, "spine-001", drop("system", "syslog")),
    (17, "leaf-001a", rename("other", *SNMP, "username", "watcher")),
    (17, "leaf-001a", put("default", *SNMP, "listening-address", "172.24.128.8", "vrf")),
    (18, "leaf-001a", drop("system", "telemetry")),
    (19, "oob-01", put("disabled", "system", "lldp", "state")),
    (20, "leaf-001a", drop(*LEG)),
    (20, "oob-01", drop("interface", "swp7", "link", "state")),
    (21, "leaf-001a", put({"link": {"state": {"up": {}}}}, "interface", "swp20")),
    (22, "leaf-001a", put({"link": {}}, "interface", "swp65")),
    (22, "oob-01", put({"link": {}}, "interface", "swp53")),
    (23, "leaf-001a", put("4", "interface", "swp1", "link", "breakout", "4x", "lanes-per-port")),
    (23, "leaf-001a", put({"link": {}}, "interface", "swp3s2")),
    (24, "leaf-001a", rename("4x", "interface", "swp59", "link", "breakout", "2x")),
    (24, "spine-001", drop("interface", "swp1", "link", "breakout")),
    (25, "leaf-001a", put(9216, "interface", "swp1", "link", "mtu")),
    (25, "leaf-001a", put({"address": {}}, "interface", "swp1", "ipv4")),
    (26, "leaf-001a", put({"8x": {"lanes-per-port": "1"}}, "interface", "swp3", "link", "breakout")),
    (27, "leaf-001a", put("auto", *LEG, "link", "fec")),
    (28, "leaf-001a", put(9000, *LINK, "link", "mtu")),
    (29, "leaf-001a", put(1500, *LEG, "link", "mtu")),
    (30, "leaf-001a", put("200G", *LINK, "link", "speed")),
    (30, "leaf-001a", put("100G", *LEG, "link", "speed")),
    (31, "leaf-001a", rename("10.64.0.2/31", *LEG, "ipv4", "address", "10.64.0.0/31")),
    (31, "leaf-001a", rename("10.64.0.0/30", *LEG, "ipv4", "address", "10.64.0.0/31")),
    (31, "leaf-001a", rename("10.64.0.1/31", *LEG, "ipv4", "address", "10.64.0.0/31")),
    (31, "leaf-001a", rename("leg", *LEG, "ipv4", "address", "10.64.0.0/31")),
    (32, "leaf-001a", rename("10.64.0.8/31", *LEG, "ipv4", "address", "10.64.0.0/31")),
    (32, "leaf-001b", rename("10.72.4.1/32", "interface", "lo", "ipv4", "address", "10.72.4.2/32")),
    (32, "leaf-001a", rename("10.64.0.9/31", *LEG, "ipv4", "address", "10.64.0.0/31")),
    (33, "spine-001", drop("interface", "lo", "ipv4")),
    (34, "leaf-001a", put({"10.99.0.0/31": {}}, *LINK, "ipv4", "address")),
    (35, "leaf-001a", put("tenant", *LEG, "vrf")),
    (36, "leaf-001b", put("10.72.4.1", "router", "bgp", "router-id")),
    (37, "leaf-001b", put(4200001001, "router", "bgp", "autonomous-system")),
    (38, "spine-001", put("disabled", *BGP, "state")),
    (39, "leaf-001a", drop(*NEIGHBOR, "10.64.0.1")),
    (39, "spine-001", drop(*NEIGHBOR, "swp1s0")),
    (39, "leaf-001a", rename("10.64.0.99", *NEIGHBOR, "10.64.0.1")),
    (40, "leaf-001a", put(4200100009, *NEIGHBOR, "10.64.0.1", "remote-as")),
    (40, "leaf-001a", drop(*NEIGHBOR, "10.64.0.1", "remote-as")),
    (41, "leaf-001a", put("internal", *BGP, "peer-group", "underlay", "remote-as")),
    (41, "leaf-001a", put(4200000009, *NEIGHBOR, "swp59s0", "remote-as")),
    (41, "leaf-001a", put("numbered", *NEIGHBOR, "swp59s0", "type")),
    (42, "leaf-001a", put({}, *LIST, "0.0.0.0/0")),
    (42, "leaf-001a", put(32, *LIST, "10.72.16.1/32", "max-prefix-len")),
    (42, "leaf-001a", drop(*NEIGHBOR, "10.64.0.1", "address-family")),
    (43, "leaf-001a", drop(*BGP, "peer-group", "hosts", "bfd")),
    (43, "leaf-001a", put(1000, "router", "bfd", "profile", "fabric", "min-rx-interval")),
    (43, "leaf-001a", put("disabled", "router", "bfd", "state")),
    (44, "leaf-001a", put("others", *NEIGHBOR, "swp59s0", "peer-group")),
    (45, "leaf-001a", drop(*BGP, "path-selection")),
    (45, "leaf-001a", put(1, *BGP, "address-family", "ipv4-unicast", "multipaths", "ebgp")),
    (46, "leaf-001a", drop(*BGP, "address-family", "ipv4-unicast", "redistribute", "connected", "route-map")),
    (46, "leaf-001a", drop("router", "policy", "prefix-list", "own-routes")),
    (47, "leaf-001a", put("lossy", "qos", "roce", "mode")),
    (48, "leaf-001a", put(60, "qos", "traffic-pool", "roce-lossless", "memory-percent")),
    (49, "leaf-001a", put(4, "qos", "mapping", "default-global", "dscp", "26", "switch-priority")),
    (49, "leaf-001a", drop("qos", "mapping", "default-global", "dscp", "48")),
    (50, "leaf-001a", put(90, "qos", "egress-scheduler", "default-global", "traffic-class", "3", "bw-percent")),
    (50, "leaf-001a", put("dwrr", "qos", "egress-scheduler", "default-global", "traffic-class", "6", "mode")),
    (51, "leaf-001a", put(1, "qos", "pfc", "default-global", "cable-length")),
    (51, "leaf-001a", put("disable", "qos", "pfc", "default-global", "tx")),
    (51, "leaf-001a", put({}, "qos", "pfc", "default-global", "switch-priority", "0")),
    (52, "leaf-001a", drop(*LEG, "qos")),
    (52, "leaf-001a", put("enabled", *LEG, "qos", "pfc-watchdog", "state")),
    (52, "leaf-001a", drop("qos", "pfc-watchdog")),
    (53, "leaf-001a", put({"state": "enabled"}, *LINK, "router", "adaptive-routing")),
    (59, "oob-01", drop("interface", "swp7", "bridge")),
    (59, "oob-01", put(7, "interface", "swp7", "bridge", "domain", "br_default", "access")),
    (59, "oob-01", drop("bridge")),
    (60, "oob-01", drop("interface", "vlan1", "vrf")),
    (60, "oob-01", drop("interface", "vlan1")),
    (61, "leaf-001a", put({"min-prefix-len": 31, "max-prefix-len": 31}, *OWN, "10", "match", "10.70.0.0/15")),
    (61, "leaf-001a", put({}, *LIST, "10.73.0.1/32")),
    (61, "leaf-001a", drop(*OWN, "20", "match")),
    (62, "leaf-001a", drop(*OWN, "70")),
    (62, "spine-001", drop(*OWN, "10")),
    (62, "leaf-001a", put(32, *OWN, "20", "match", "10.64.0.0/20", "max-prefix-len")),
    (62, "leaf-001a", put("deny", *OWN, "20", "action")),
    (62, "leaf-001a", put({"action": "permit", "match": {"0.0.0.0/0": {}}}, *OWN, "80")),
    (63, "leaf-001a", drop(*USER, "password")),
    (63, "oob-01", put("", *USER, "password")),
    (63, "oob-01", put({"role": "system-admin"}, "system", "aaa", "user", "other")),
    (64, "leaf-001a", put(0, *QUEUES, "3", "traffic-class")),
    (64, "leaf-001a", put(3, *QUEUES, "0", "traffic-class")),
    (64, "spine-001", drop(*QUEUES, "7")),
    (65, "leaf-001a", put("l2", "qos", "mapping", "default-global", "trust")),
    (65, "leaf-001a", put("disable", "qos", "congestion-control", "all", "traffic-class", "3", "ecn")),
    (66, "leaf-001a", put("disabled", *PEER, "address-family", "ipv4-unicast", "state")),
    (66, "leaf-001a", put("unnumbered", *PEER, "type")),
]  # fmt: skip


@pytest.mark.parametrize(("number", "switch", "change"), PLANTED)
def test_a_planted_fault_is_found(number: int, switch: str, change: Change) -> None:
    deployed, tree = deployment_of(8, NEW), texts_of(8, NEW)
    assert f"KV-SWT-{number:03}" in ids(deployed, changed(tree, switch, change))


OLD_PLANTED: list[tuple[int, str, Change]] = [
    (5, "leaf-001a", put({"address": {}}, *LINK, "ipv4")),
    (5, "leaf-001a", put({"timezone": "Etc/UTC"}, "system", "date-time")),
    (5, "spine-001", put({"state": "enabled"}, "router", "bfd")),
    (8, "leaf-001a", drop("interface", "eth0", "ip", "vrf")),
    (15, "leaf-001a", drop("service", "ntp")),
    (16, "leaf-001a", drop("service", "syslog")),
    (19, "leaf-001a", drop("service", "lldp")),
    (31, "leaf-001a", drop(*LEG, "ip")),
    (38, "leaf-001a", put("off", "router", "bgp", "enable")),
    (43, "leaf-001a", put("off", *BGP, "peer-group", "underlay", "bfd", "enable")),
    (43, "leaf-001a", put(50, *BGP, "peer-group", "hosts", "bfd", "min-tx-interval")),
    (45, "leaf-001a", put("off", *BGP, "path-selection", "multipath", "aspath-ignore")),
    (47, "leaf-001a", put("off", "qos", "roce", "enable")),
    (53, "leaf-001a", put({"enable": "on"}, *LINK, "router", "adaptive-routing")),
    (66, "leaf-001a", put("off", *PEER, "address-family", "ipv4-unicast", "enable")),
]  # fmt: skip


@pytest.mark.parametrize(("number", "switch", "change"), OLD_PLANTED)
def test_a_planted_fault_is_found_in_the_old_dialect(number: int, switch: str, change: Change) -> None:
    deployed, tree = deployment_of(4, OLD), texts_of(4, OLD)
    assert f"KV-SWT-{number:03}" in ids(deployed, changed(tree, switch, change))


LEAF, ZTP, DOT = "switches/leaf-001a.yaml", "switches/ztp.sh", "switches/topology.dot"
EDITED: list[tuple[int, str, str, str]] = [
    (3, LEAF, "- set:", "- patch:"),
    (3, LEAF, "- header:", "header:"),
    (4, LEAF, "version: Cumulus Linux 5.15.0", "version: Cumulus Linux 5.14.0"),
    (4, LEAF, "model: ", "model: OTHER-"),
    (6, LEAF, "state: enabled", "state: on"),
    (6, LEAF, '"200G"', "2026-11-30"),
    (6, LEAF, '"10":', "10:"),
    (6, LEAF, "description: storage-001 client1p0", "description: 1.5"),
    (55, ZTP, "# CUMULUS-AUTOPROVISIONING", "# provisioning"),
    (55, ZTP, "#!/bin/bash", "#!/bin/sh"),
    (56, ZTP, "MTLEAF-001B)", "MTLEAF-001A)"),
    (56, ZTP, "MTSPINE-001)", "MTOTHER)"),
    (58, DOT, '"storage-001":"client1p0"', '"storage-002":"client1p0"'),
    (58, DOT, "swp1s0", "swp1s9"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "path", "old", "new"), EDITED)
def test_an_edited_file_is_found(number: int, path: str, old: str, new: str) -> None:
    assert f"KV-SWT-{number:03}" in ids(deployment_of(8, NEW), edited(texts_of(8, NEW), path, old, new))


def test_a_word_that_yaml_takes_for_a_boolean_is_found_where_it_matters() -> None:
    tree = edited(
        texts_of(8, NEW), LEAF, "pfc-watchdog:\n            state: enable", "pfc-watchdog:\n            state: yes"
    )
    assert {"KV-SWT-006", "KV-SWT-052"} <= ids(deployment_of(8, NEW), tree)


@pytest.mark.parametrize("path", [LEAF, ZTP, DOT])
def test_a_missing_file_is_found(path: str) -> None:
    tree = {name: text for name, text in texts_of(8, NEW).items() if name != path}
    assert {LEAF: "KV-SWT-003", ZTP: "KV-SWT-056", DOT: "KV-SWT-058"}[path] in ids(deployment_of(8, NEW), tree)


def test_an_edge_that_is_there_twice_is_found() -> None:
    tree = texts_of(8, NEW)
    edge = next(line for line in tree[DOT].splitlines() if " -- " in line)
    twice = {**tree, DOT: tree[DOT].replace("}", f"{edge}\n}}")}
    assert ids(deployment_of(8, NEW), twice) == {"KV-SWT-058"}


def test_a_file_that_the_script_was_not_written_for_is_found() -> None:
    tree = edited(texts_of(8, NEW), LEAF, "description: storage-001 client1p0", "description: storage node")
    assert [finding.id for finding in found(deployment_of(8, NEW), tree)] == ["KV-SWT-057"]


@pytest.mark.parametrize(("nodes", "cumulus"), [*CASES, (16, "5.13.0"), (64, "5.18.0")])
def test_what_is_rendered_is_without_fault(nodes: int, cumulus: str) -> None:
    deployed = deployment_of(nodes, cumulus)
    assert found(deployed, texts(deployed)) == []


@pytest.mark.parametrize("legs", ["2x400G", "1x800G"])
def test_adaptive_routing_as_asked_for_is_without_error(legs: str) -> None:
    build = {"fabric": {"adaptive_routing": True, "uplink_legs": legs}}
    deployed = with_able_receivers(deployment_with(8, build=build))
    faults = {(finding.id, finding.severity) for finding in found(deployed, texts(deployed))}
    assert faults == (set() if legs == "2x400G" else {("KV-SWT-054", "warning")})


@pytest.mark.parametrize(
    ("number", "change"),
    [
        (54, drop(*LINK, "router")),
        (54, drop("router", "adaptive-routing")),
        (54, lambda tree: [port.pop("router", None) for port in tree["interface"].values()]),
        (53, put("800G", *LINK, "link", "speed")),
    ],
)
def test_adaptive_routing_on_a_part_of_the_links_is_found(number: int, change: Change) -> None:
    deployed = with_able_receivers(deployment_with(8, build={"fabric": {"adaptive_routing": True}}))
    assert f"KV-SWT-{number:03}" in ids(deployed, changed(texts(deployed), "leaf-001a", change))


def test_adaptive_routing_with_receivers_that_do_not_take_it_is_off_and_found_when_on() -> None:
    deployed = deployment_with(8, build={"fabric": {"adaptive_routing": True}})
    assert {(f.id, f.severity) for f in found(deployed, texts(deployed))} == {("KV-SWT-054", "warning")}
    as_if_able = texts(with_able_receivers(deployed))
    assert "adaptive-routing" in as_if_able[LEAF]
    faults = found(deployed, as_if_able)
    assert {(f.id, f.severity) for f in faults} == {("KV-SWT-053", "error")}
    assert {f.text for f in faults} == {"is on, and ConnectX-7 receivers share the fabric"}


@pytest.mark.parametrize(("cumulus", "port", "rules"), [
    ("5.12.0", 40_000, {"KV-SWT-067"}), ("5.12.0", 32_767, set()), ("5.13.0", 40_000, set()),
])  # fmt: skip
def test_a_port_of_a_log_server_that_the_release_refuses_is_found(cumulus: str, port: int, rules: set[str]) -> None:
    network = site_data(deployment_of(8).plan)["network"]
    deployed = deployment_with(
        8, network={**network, "syslog": [{"host": "172.24.0.5", "port": port}]}, cumulus=cumulus
    )
    assert ids(deployed, texts(deployed)) == rules


def test_adaptive_routing_at_800g_is_found() -> None:
    deployed = deployment_with(8, build={"fabric": {"uplink_legs": "1x800G"}})
    change = put({"state": "enabled"}, "interface", "swp59", "router", "adaptive-routing")
    texts_found = [
        f.text for f in found(deployed, changed(texts(deployed), "leaf-001a", change)) if f.id == "KV-SWT-053"
    ]
    assert "is on at 800 Gbit/s, and works up to 400 Gbit/s" in texts_found


@pytest.mark.parametrize(
    ("cumulus", "rules"), [("5.8.0", {"KV-SWT-001"}), ("5.19.1", {"KV-SWT-002"}), ("6.0", {"KV-SWT-002"})]
)
def test_a_release_that_nobody_has_read_is_found(cumulus: str, rules: set[str]) -> None:
    deployed = deployment_with(8, cumulus=cumulus)
    assert ids(deployed, texts(deployed)) == rules


def test_frames_of_hosts_that_are_too_large_are_found() -> None:
    network = site_data(deployment_of(8).plan)["network"]
    deployed = deployment_with(8, network={**network, "fabric_mtu_bytes": 4200, "host_mtu_bytes": 9000})
    assert ids(deployed, texts(deployed)) == {"KV-SWT-029"}


def test_a_key_that_nvue_has_no_type_for_is_found() -> None:
    access = site_data(deployment_of(8).plan)["access"]
    deployed = deployment_with(
        8, access={**access, "ssh_keys": [*access["ssh_keys"], "sk-ssh-ed25519@openssh.com AA x"]}
    )
    assert {(f.id, f.severity) for f in found(deployed, texts(deployed))} == {("KV-SWT-012", "warning")}


def test_telemetry_that_a_release_lacks_is_a_warning() -> None:
    deployed = deployment_with(8, cumulus="5.9.0")
    assert {(f.id, f.severity) for f in found(deployed, texts(deployed))} == {("KV-SWT-018", "warning")}


def test_a_serial_number_that_two_switches_have_is_found() -> None:
    switches = site_data(deployment_of(8).plan)["switches"]
    deployed = deployment_with(8, switches=[{**switch, "serial": "MTSAME"} for switch in switches])
    assert "KV-SWT-056" in ids(deployed, texts(deployed))


def test_every_rule_has_been_seen_to_find_something() -> None:
    planted = {number for number, *_ in (*PLANTED, *OLD_PLANTED, *EDITED)} | {1, 2, 54, 57, 67}
    assert {f"KV-SWT-{number:03}" for number in planted} == set(RULES)


def test_rules_say_what_is_checked() -> None:
    assert list(RULES) == [f"KV-SWT-{number:03}" for number in range(1, len(RULES) + 1)]
    assert all(text.endswith(".") for text in RULES.values())


@settings(max_examples=25)
@given(data=st.data())
def test_no_damage_makes_a_rule_fail(data: st.DataObject) -> None:
    def damage(tree: Any) -> None:
        for _ in range(data.draw(st.integers(1, 3))):
            here = tree
            while isinstance(here, dict) and here:
                key = data.draw(st.sampled_from(sorted(here)))
                if not isinstance(here[key], dict) or data.draw(st.booleans()):
                    here[key] = data.draw(st.sampled_from([None, 1, "x", "on", [], {}, {"a": 1}, ["b"], True]))
                    break
                here = here[key]

    switch = data.draw(st.sampled_from(["leaf-001a", "spine-001", "oob-01"]))
    for finding in found(deployment_of(4, OLD), changed(texts_of(4, OLD), switch, damage)):
        assert finding.id in RULES


@settings(max_examples=15)
@given(
    text=st.text(max_size=60)
    | st.sampled_from(["- header: {}\n- set: []", "- {}\n- {}", "{", "- header: {}\n- set: {interface: {1: 2}}"])
)
def test_no_text_makes_a_rule_fail(text: str) -> None:
    for path in (LEAF, ZTP, DOT):
        assert found(deployment_of(8, NEW), {**texts_of(8, NEW), path: text})
