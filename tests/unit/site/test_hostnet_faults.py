"""Rules over the files of hosts: nothing is found in what is rendered, and every planted fault is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from sites import deployment_of, deployment_with

from kvplan.site.hostnet import RULES, host_faults, host_files
from kvplan.site.tree import tree_of

if TYPE_CHECKING:
    from kvplan.site.deployment import Deployment

NM = "hosts/storage-001/etc/NetworkManager/system-connections"
NETPLAN = "hosts/gpu-0001/etc/netplan/90-kv.yaml"
FRR = "hosts/storage-001/etc/frr/frr.conf"
ENV = "hosts/gpu-0001/etc/kv-roce/nic1p0.env"
STORAGE, CLIENT = "hosts/_common/storage/etc", "hosts/_common/client/etc"
NAMES = "hosts/_common/storage/etc/hosts"
LLDP = "hosts/control-1/etc/lldpd.d/kv.conf"


def _texts(deployment: Deployment) -> dict[str, str]:
    return {path: file.text for path, file in tree_of(host_files(deployment)).items()}


@pytest.fixture(scope="module")
def rendered() -> dict[str, str]:
    return _texts(deployment_of(8))


def _found(deployment: Deployment, tree: dict[str, str]) -> set[str]:
    return {finding.id for finding in host_faults(deployment, tree)}


# rule, file, what stands there, what stands there instead; nothing of either: the file is taken away
PLANTED: list[tuple[int, str, str | None, str]] = [
    (1, f"{NM}/client1p0.nmconnection", None, ""),
    (1, f"{NM}/lo.nmconnection", None, ""),
    (1, NETPLAN, "    nic2p0:", "    nic3p0:"),
    (1, NETPLAN, "    nic2p0:", "    no:"),
    (1, f"{NM}/client1p0.nmconnection", "interface-name=client1p0", "interface-name=client1p1"),
    (2, f"{NM}/client1p0.nmconnection", "[ipv6]", "[ipv4]"),
    (2, f"{NM}/client1p0.nmconnection", "mtu=9000", "mtu=jumbo"),
    (2, f"{NM}/client1p0.nmconnection", "10.64.0.1/31", "10.64.0.999/31"),
    (2, NETPLAN, "ethernets:", "ethernets: ["),
    (2, NETPLAN, "link-local: [", "link-local: 7 #"),
    (2, "hosts/storage-001/etc/systemd/network/10-kv-mgmt1.link", "[Match]", "Match"),
    (2, FRR, "router bgp 4200100001", "router bgp own"),
    (2, FRR, "route-map kv-out permit 10", "!"),
    (4, f"{NM}/client1p0.nmconnection", "02:00:01:00:01:00", "02:00:01:00:01:77"),
    (4, NETPLAN, "02:00:02:00:01:00", "02:00:02:00:01:77"),
    (5, f"{NM}/client1p0.nmconnection", "02:00:01:00:01:00", "02:00:01:00:02:00"),
    (6, NETPLAN, '"02:00:02:00:01:00"', "02:00:02:00:01:00"),
    (7, "hosts/storage-001/etc/systemd/network/10-kv-client1p0.link", "client1p0", "eth0"),
    (7, "hosts/storage-001/etc/systemd/network/10-kv-client1p0.link", None, ""),
    (7, NETPLAN, 'set-name: "nic1p0"', 'set-name: "nic1"'),
    (8, NETPLAN, "    nic2p0:", "    gpu-network-adapter-2:"),
    (9, f"{NM}/client1p0.nmconnection", "10.64.0.1/31", "10.64.0.3/31"),
    (9, f"{NM}/mgmt1.nmconnection", "172.24.64.9/14", "172.24.64.9/16"),
    (10, f"{NM}/client1p0.nmconnection", "10.64.0.1/31", "10.64.0.9/31"),
    (10, NETPLAN, "10.73.0.1/32", "10.73.0.2/32"),
    (11, f"{NM}/client1p0.nmconnection", "10.64.0.1/31", "10.64.0.1/30"),
    (11, f"{NM}/client1p0.nmconnection", "10.64.0.1/31", "10.64.0.0/31"),
    (11, NETPLAN, 'via: "10.68.0.0"', 'via: "10.68.0.2"'),
    (11, NETPLAN, 'via: "10.68.0.0"', "via: 7"),
    (12, f"{NM}/client1p0.nmconnection", "mtu=9000\n", ""),
    (12, NETPLAN, "mtu: 9000", "mtu: 1500"),
    (15, f"{NM}/client1p0.nmconnection", "never-default=true", "gateway=10.64.0.0"),
    (15, f"{NM}/mgmt1.nmconnection", "gateway=172.24.0.1\n", ""),
    (15, NETPLAN, 'to: "10.64.0.0/20", via: "10.70.0.0"', 'to: "default", via: "10.70.0.0"'),
    (16, f"{NM}/client1p0.nmconnection", "routing-rule1=priority 101 from 10.64.0.1/32 table 101\n", ""),
    (16, f"{NM}/client1p0.nmconnection", "from 10.64.0.1/32 table 101", "from 10.64.0.1/32 table 109"),
    (16, NETPLAN, 'from: "10.68.0.1/32"', 'from: "10.68.0.3/32"'),
    (16, f"{NM}/client1p0.nmconnection", "route4=10.67.0.0/20,10.64.0.0\nroute4_options=table=101\n", ""),
    (16, NETPLAN, '        - {to: "10.66.0.0/20", via: "10.68.0.0", table: 101}\n', ""),
    (17, NETPLAN, '"10.70.0.1/32", table: 102', '"10.70.0.1/32", table: 101'),
    (18, f"{NM}/client1p0.nmconnection", "method=link-local", "method=disabled"),
    (18, NETPLAN, 'addresses: ["10.68.0.1/31"]', 'addresses: ["10.68.0.1/31"]\n      link-local: []'),
    (19, f"{NM}/lo.nmconnection", "10.72.16.1/32", "10.72.16.1/20"),
    (20, f"{STORAGE}/sysctl.d/90-kv.conf", "all.disable_ipv6 = 0", "all.disable_ipv6 = 1"),
    (21, f"{STORAGE}/sysctl.d/90-kv.conf", "all.rp_filter = 2", "all.rp_filter = 1"),
    (21, f"{CLIENT}/sysctl.d/90-kv.conf", "net.ipv4.conf.default.rp_filter = 2\n", ""),
    (22, f"{STORAGE}/sysctl.d/90-kv.conf", "arp_ignore = 1", "arp_ignore = 0"),
    (23, f"{STORAGE}/sysctl.d/90-kv.conf", "250000", "1000"),
    (24, "hosts/control-1/etc/frr/frr.conf", "", "router bgp 1\n"),
    (24, "hosts/control-1/etc/kv-roce/mgmt1.env", "", "KV_PRIORITY=3\n"),
    (25, FRR, None, ""),
    (26, FRR, "router bgp 4200100001", "router bgp 4200100009"),
    (26, FRR, "router-id 10.72.16.1", "router-id 10.72.16.2"),
    (27, FRR, "router bgp 4200100001", "router bgp 4200100002"),
    (28, FRR, "neighbor 10.64.0.0", "neighbor 10.64.0.2"),
    (28, FRR, "10.64.0.0 remote-as 4200001001", "10.64.0.0 remote-as 4200001002"),
    (28, FRR, " !\n address-family", " neighbor 172.24.128.8 remote-as 4200001001\n address-family"),
    (29, FRR, " neighbor 10.64.0.0 bfd\n", ""),
    (30, FRR, "  neighbor 10.64.0.0 activate\n", ""),
    (30, FRR, "  neighbor 10.64.0.0 route-map kv-in in\n", ""),
    (31, FRR, "  network 10.72.16.1/32\n", ""),
    (31, FRR, "kv-loopback seq 5 permit 10.72.16.1/32", "kv-loopback seq 5 permit 10.72.16.2/32"),
    (32, FRR, "  network 10.72.16.1/32\n", "  network 10.72.16.1/32\n  redistribute connected\n"),
    (32, FRR, "  network 10.72.16.1/32\n", "  network 10.72.16.1/32\n  network 0.0.0.0/0\n"),
    (32, FRR, "permit 10.72.16.1/32", "permit 10.72.16.0/20 le 32"),
    (32, FRR, " match ip address prefix-list kv-loopback\n", ""),
    (32, FRR, "  neighbor 10.64.0.0 route-map kv-out out\n", ""),
    (33, FRR, "maximum-paths 3", "maximum-paths 1"),
    (33, FRR, " bgp bestpath as-path multipath-relax\n", ""),
    (34, f"{STORAGE}/frr/daemons", "bfdd=yes", "bfdd=no"),
    (34, f"{CLIENT}/frr/daemons", None, ""),
    (35, FRR, "set src 10.72.16.1", "set src 10.64.0.1"),
    (35, FRR, "ip protocol bgp route-map kv-source\n", ""),
    (35, f"{STORAGE}/systemd/system/frr.service.d/kv.conf", None, ""),
    (35, f"{CLIENT}/systemd/system/frr.service.d/kv.conf", " systemd-networkd-wait-online.service", ""),
    (35, f"{STORAGE}/systemd/system/frr.service.d/kv.conf", "After=", "After=network-online.target "),
    (36, ENV, None, ""),
    (36, "hosts/gpu-0001/etc/kv-roce/mgmt1.env", "", "KV_PRIORITY=3\n"),
    (37, ENV, "0,0,0,1,0,0,0,0", "0,0,0,1,0,0,1,0"),
    (37, ENV, "0,0,0,1,0,0,0,0", "0,0,0,0,1,0,0,0"),
    (37, ENV, "0,0,0,1,0,0,0,0", "0,0,0,1"),
    (37, ENV, "KV_PRIORITY=3", "KV_PRIORITY=4"),
    (38, ENV, "KV_TOS=106", "KV_TOS=104"),
    (38, ENV, "KV_TOS=106", "KV_TOS=98"),
    (38, ENV, "KV_TOS=106\n", ""),
    (39, ENV, "KV_CNP_DSCP=48", "KV_CNP_DSCP=4"),
    (39, ENV, "KV_CNP_PRIORITY=6", "KV_CNP_PRIORITY=7"),
    (40, ENV, "mlx5_nic1p0", "mlx5_0"),
    (41, "hosts/_common/storage/usr/local/sbin/kv-roce", None, ""),
    (41, f"{CLIENT}/systemd/system/kv-roce@.service", None, ""),
    (41, f"{CLIENT}/systemd/system/kv-roce@.service", "BindsTo=", "Wants="),
    (43, f"{STORAGE}/kv-nic/client1.conf", "INTERNAL_CPU_MODEL=1", "INTERNAL_CPU_MODEL=0"),
    (43, f"{STORAGE}/kv-nic/storage1.conf", "LINK_TYPE_P1=2", "LINK_TYPE_P1=1"),
    (43, f"{CLIENT}/kv-nic/nic2.conf", None, ""),
    (43, f"{CLIENT}/kv-nic/nic1.conf", "SRIOV_EN=0", "SRIOV_EN=0\nNUM_OF_VFS=1"),
    (44, f"{CLIENT}/kv-nic/nic1.conf", "CNP_DSCP_P1=48", "CNP_DSCP_P1=4"),
    (45, NAMES, "10.72.16.1 storage-001-kv.kv.example storage-001-kv\n", ""),
    (45, NAMES, "172.24.64.9 storage-001-adm", "somewhere storage-001-adm"),
    (45, NAMES, "172.24.64.9 storage-001-adm", "172.24.64.8 storage-001-adm"),
    (45, NAMES, "leaf-001a.kv.example leaf-001a", "leaf-001a.kv.example"),
    (46, NAMES, "storage-002-kv.kv.example storage-002-kv", "storage-002-kv.kv.example storage-002-kv storage-001-kv"),
    (47, NAMES, "127.0.0.1 localhost", "127.0.0.1 storage-001-adm localhost"),
    (48, NAMES, "# Every machine", "# Any machine"),
    (48, "hosts/_common/control/etc/hosts", None, ""),
    (49, f"{STORAGE}/chrony.conf", "server 172.24.0.4 iburst\n", ""),
    (49, f"{CLIENT}/chrony/chrony.conf", "rtcsync", "pool pool.ntp.org iburst"),
    (50, f"{STORAGE}/security/limits.d/90-kv.conf", "* hard memlock unlimited", "* hard memlock 64"),
    (51, f"{CLIENT}/systemd/networkd.conf.d/kv.conf", "ManageForeignRoutes=no", "ManageForeignRoutes=yes"),
    (52, "hosts/_common/client/usr/local/sbin/kv-roce", "--trust=dscp", ""),
    (52, "hosts/_common/client/usr/local/sbin/kv-roce", "cma_roce_tos", "true"),
    (52, "hosts/_common/client/usr/local/sbin/kv-roce", '  rdma dev set "$device" name "$KV_RDMA"\n', "  :\n"),
    (52, "hosts/_common/client/usr/local/sbin/kv-roce", "mlxreg -d", "true -d"),
    (52, "hosts/_common/storage/usr/local/sbin/kv-roce", "setpci -s", "# setpci -s"),
    (54, FRR, "permit 10.73.0.0/16 le 32", "permit 0.0.0.0/0 le 32"),
    (54, FRR, " match ip address prefix-list kv-fabric\n", ""),
    (54, FRR, "permit 10.72.0.0/19 le 32", "permit 10.72.0.0/19"),
    (54, FRR, "ip prefix-list kv-fabric seq 20 permit 10.67.0.0/20 le 32\n", ""),
    (55, LLDP, None, ""),
    (55, LLDP, "hostname control-1", "hostname control-1-adm"),
    (55, "hosts/gpu-0001/etc/lldpd.d/kv.conf", "portidsubtype ifname", "portidsubtype macaddress"),
    (56, NETPLAN, "dhcp4: false", "dhcp4: true"),
    (56, NETPLAN, "dhcp6: false", "dhcp6: true"),
    (56, NETPLAN, "accept-ra: false", "accept-ra: true"),
    (56, NETPLAN, "      accept-ra: false\n", ""),
    (56, f"{NM}/mgmt1.nmconnection", "method=manual", "method=auto"),
    (56, f"{NM}/client1p0.nmconnection", "method=manual", "method=auto"),
    (56, f"{NM}/client1p0.nmconnection", "method=link-local", "method=auto"),
    (57, NETPLAN, "172.24.0.2", "192.0.2.53"),
    (57, NETPLAN, 'search: ["kv.example"]', 'search: ["example.org"]'),
    (57, f"{NM}/mgmt1.nmconnection", "dns=172.24.0.2;172.24.0.7;\n", ""),
    (57, f"{NM}/client1p0.nmconnection", "never-default=true", "never-default=true\ndns=192.0.2.53;"),
    (58, ENV, "KV_READ_REQUEST=5000", "KV_READ_REQUEST=2000"),
    (58, ENV, "KV_READ_REQUEST=5000\n", ""),
    (58, ENV, "roce_tx_window_en=0x0", "roce_tx_window_en=0x1"),
]


@pytest.mark.parametrize("nodes", [4, 8, 16])
def test_nothing_is_found_in_what_is_rendered(nodes: int) -> None:
    place = deployment_of(nodes)
    assert list(host_faults(place, _texts(place))) == []


@pytest.mark.parametrize(("rule", "path", "old", "new"), PLANTED)
def test_a_planted_fault_is_found(rendered: dict[str, str], rule: int, path: str, old: str | None, new: str) -> None:
    tree = dict(rendered)
    if old is None:
        del tree[path]
    else:
        assert old in tree.setdefault(path, "")
        tree[path] = tree[path].replace(old, new, 1) if old else new
    assert f"KV-HST-{rule:03}" in _found(deployment_of(8), tree)


def test_a_leg_without_a_session_is_found(rendered: dict[str, str]) -> None:
    lines = [line for line in rendered[FRR].splitlines() if "neighbor 10.64.0.0 " not in line]
    findings = list(host_faults(deployment_of(8), rendered | {FRR: "\n".join(lines)}))
    assert [finding.text for finding in findings] == ["client1p0 has no session with leaf-001a at 10.64.0.0"]


def test_a_folder_of_no_server_is_found(rendered: dict[str, str]) -> None:
    tree = rendered | {"hosts/storage-099/etc/motd": "none"}
    findings = list(host_faults(deployment_of(8), tree))
    assert [(finding.id, finding.where) for finding in findings] == [("KV-HST-001", "hosts/storage-099")]


def test_files_of_other_parts_are_left_alone(rendered: dict[str, str]) -> None:
    tree = rendered | {"hosts/gpu-0001/etc/systemd/system/engine.service": "[Unit]", "scale/nodes": "hosts/"}
    assert _found(deployment_of(8), tree) == set()


def _network(**changes: Any) -> dict[str, Any]:
    network = deployment_of(8).site.network.model_dump(mode="json", exclude_none=True)
    return network | changes


@pytest.mark.parametrize(
    ("rule", "network"),
    [
        (13, {"host_mtu_bytes": 9216, "fabric_mtu_bytes": 9000}),
        (14, {"host_mtu_bytes": 1500}),
        (53, {"management_gateway": "10.0.0.1"}),
    ],
)
def test_values_of_the_site_that_do_not_fit_are_found(rule: int, network: dict[str, Any]) -> None:
    place = deployment_with(8, network=_network(**network))
    assert _found(place, _texts(place)) == {f"KV-HST-{rule:03}"}


def test_an_unknown_mac_address_is_found() -> None:
    servers = [server.model_dump(mode="json") for server in deployment_of(8).site.servers]
    del next(server for server in servers if server["name"] == "storage-001")["macs"]["client1p1"]
    place = deployment_with(8, servers=servers)
    findings = list(host_faults(place, _texts(place)))
    assert [(finding.id, finding.where) for finding in findings] == [("KV-HST-003", "storage-001")]
    assert "macs.client1p1" in findings[0].remedy


def test_a_name_that_the_site_gives_twice_is_found() -> None:
    place = deployment_with(8, extra_names=[{"name": "leaf-001a", "address": "192.0.2.7"}])
    assert _found(place, _texts(place)) == {"KV-HST-046"}


def test_one_name_for_admin_and_daemon_is_found() -> None:
    place = deployment_with(8, names={"admin_suffix": "", "daemon_suffix": ""})
    findings = list(host_faults(place, _texts(place)))
    assert {finding.id for finding in findings} == {"KV-HST-045"}
    assert "names.daemon_suffix" in findings[0].remedy


def test_an_adapter_without_settings_is_found() -> None:
    place = deployment_of(8)
    rows = {key: row for key, row in place.settings.items() if not key.startswith("nic.firmware")}
    bare = replace(place, settings=rows)
    assert _found(bare, _texts(bare)) == {"KV-HST-042"}


def test_hosts_that_disagree_with_switches_are_found(rendered: dict[str, str]) -> None:
    place = deployment_of(8)
    moved = {"switch.roce_priority": 4, "switch.roce_dscp": 30, "switch.cnp_dscp": 46, "switch.cnp_priority": 5}
    rows = {key: row.model_copy(update={"value": moved.get(key, row.value)}) for key, row in place.settings.items()}
    found = _found(replace(place, settings=rows), rendered)
    assert found == {"KV-HST-037", "KV-HST-038", "KV-HST-039", "KV-HST-044"}
    assert _found(replace(place, settings=rows), _texts(replace(place, settings=rows))) == set()


def test_every_rule_has_a_fault_that_shows_it() -> None:
    elsewhere = {3, 13, 14, 42, 53}
    planted = {f"KV-HST-{rule:03}" for rule in {rule for rule, *_ in PLANTED} | elsewhere}
    assert planted == set(RULES)


@pytest.mark.slow
def test_256_nodes_are_without_fault() -> None:
    place = deployment_of(256)
    tree = _texts(place)
    assert _found(place, tree) == set()
