"""Files of hosts: golden texts, modes, the layout of the tree, and what follows from design and settings."""

from __future__ import annotations

from configparser import ConfigParser
from typing import TYPE_CHECKING

import pytest
import yaml
from sites import OLD, deployment_of, deployment_with

from kvplan.render.fabric.ptm import cabling_ptm
from kvplan.site.hostnet import host_files, rdma_name
from kvplan.site.hostnet.roce import read_request
from kvplan.site.tree import EXECUTABLE, PRIVATE, File, tree_of

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDERS = ("storage-001", "gpu-0001", "control-1", "_common/storage", "_common/client", "_common/control")


@pytest.fixture(scope="module")
def tree() -> dict[str, File]:
    return tree_of(host_files(deployment_of(8)))


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_of_a_host_are_as_reviewed(
    tree: dict[str, File], golden: Callable[[str, str], None], folder: str
) -> None:
    files = [file for path, file in tree.items() if path.startswith(f"hosts/{folder}/")]
    text = "".join(f"=== {file.path.removeprefix('hosts/')} {file.mode:o}\n{file.text}" for file in files)
    golden(f"site/hostnet/{folder.replace('/', '-')}.txt", text)


def test_the_tree_explains_itself(tree: dict[str, File], golden: Callable[[str, str], None]) -> None:
    golden("site/hostnet/README.md", tree["hosts/README.md"].text)


def test_equal_input_gives_equal_files(tree: dict[str, File]) -> None:
    assert tree_of(host_files(deployment_of(8))) == tree


def test_hosts_do_not_depend_on_the_dialect_of_switches(tree: dict[str, File]) -> None:
    assert tree_of(host_files(deployment_of(8, OLD))) == tree


def test_modes_keep_network_files_private_and_scripts_executable(tree: dict[str, File]) -> None:
    for path, file in tree.items():
        if path.endswith(".nmconnection") or "/etc/netplan/" in path:
            assert file.mode == PRIVATE, path
        elif "/sbin/" in path:
            assert file.mode == EXECUTABLE, path
        else:
            assert file.mode == 0o644, path


def test_lldp_announces_what_the_plan_of_the_cabling_says(tree: dict[str, File]) -> None:
    plan = cabling_ptm(deployment_of(8).design)
    for server in deployment_of(8).servers:
        text = tree[f"hosts/{server.name}/etc/lldpd.d/kv.conf"].text
        assert f"\nconfigure system hostname {server.name}\n" in text
        assert text.endswith("\nconfigure lldp portidsubtype ifname\n")
        assert all(f'"{server.name}":"{leg.name}"' in plan for leg in server.fabric)


def test_keyfiles_have_no_section_or_key_twice(tree: dict[str, File]) -> None:
    keyfiles = [file for path, file in tree.items() if path.endswith((".nmconnection", ".link"))]
    assert len(keyfiles) == 8 * (5 + 4)
    for file in keyfiles:
        parser = ConfigParser(interpolation=None, delimiters=("=",), strict=True)
        parser.read_string(file.text)
        assert parser.sections()


def test_a_control_node_has_management_only(tree: dict[str, File]) -> None:
    paths = ("hosts/control-1/etc/lldpd.d/kv.conf", "hosts/control-1/etc/netplan/90-kv.yaml")
    assert tuple(path for path in sorted(tree) if path.startswith("hosts/control-1/")) == paths
    network = yaml.safe_load(tree["hosts/control-1/etc/netplan/90-kv.yaml"].text)["network"]
    assert [*network["ethernets"]] == ["mgmt1"]


def test_values_of_the_site_reach_the_files() -> None:
    place = deployment_of(8)
    network = place.site.network.model_dump(mode="json", exclude_none=True)
    del network["snmp"]
    changed = network | {
        "host_mtu_bytes": 8192,
        "ntp": ["clock.kv.example"],
        "management_gateway": None,
        "dns": ["10.0.0.2", "fd00::2"],
    }
    tree = tree_of(
        host_files(deployment_with(8, network=changed, extra_names=[{"name": "relay", "address": "9.9.9.9"}]))
    )
    keyfiles = "hosts/storage-001/etc/NetworkManager/system-connections"
    assert "mtu=8192\n" in tree[f"{keyfiles}/client1p0.nmconnection"].text
    assert "gateway" not in tree[f"{keyfiles}/mgmt1.nmconnection"].text
    assert "dns=10.0.0.2;\n" in tree[f"{keyfiles}/mgmt1.nmconnection"].text
    assert tree[f"{keyfiles}/mgmt1.nmconnection"].text.endswith("method=link-local\ndns=fd00::2;\n")
    assert "server clock.kv.example iburst\n" in tree["hosts/_common/client/etc/chrony/chrony.conf"].text
    assert "9.9.9.9 relay.kv.example relay\n" in tree["hosts/_common/control/etc/hosts"].text


@pytest.mark.parametrize(
    ("suffixes", "lines"),
    [
        (("", "-kv"), ("172.24.64.9 storage-001.kv.example storage-001\n", "10.72.16.1 storage-001-kv.kv.example")),
        (("-adm", ""), ("172.24.64.9 storage-001-adm.kv.example storage-001-adm\n", "10.72.16.1 storage-001.kv.exa")),
    ],
)
def test_an_inventory_name_goes_where_its_suffix_is_empty(suffixes: tuple[str, str], lines: tuple[str, ...]) -> None:
    names = {"admin_suffix": suffixes[0], "daemon_suffix": suffixes[1]}
    tree = tree_of(host_files(deployment_with(8, names=names)))
    for line in lines:
        assert line in tree["hosts/_common/storage/etc/hosts"].text


def test_a_port_without_a_known_mac_is_named_all_the_same() -> None:
    place = deployment_of(8)
    servers = [server.model_dump(mode="json") for server in place.site.servers]
    for server in servers:
        server["macs"] = {}
    tree = tree_of(host_files(deployment_with(8, servers=servers)))
    keyfile = tree["hosts/storage-001/etc/NetworkManager/system-connections/client1p0.nmconnection"].text
    assert "mac-address" not in keyfile
    assert "interface-name=client1p0" in keyfile
    assert "match" not in tree["hosts/gpu-0001/etc/netplan/90-kv.yaml"].text
    assert not any(path.endswith(".link") for path in tree)


def test_rdma_devices_are_named_after_ports() -> None:
    assert rdma_name("nic2p0") == "mlx5_nic2p0"


@pytest.mark.parametrize(("size", "code"), [(128, "0"), (512, "2000"), (4096, "5000")])
def test_read_requests_are_written_as_pci_express_has_them(size: int, code: str) -> None:
    assert read_request(size) == code


@pytest.mark.slow
def test_256_nodes_are_written() -> None:
    place = deployment_of(256)
    tree = tree_of(host_files(place))
    assert len([path for path in tree if path.endswith("/frr.conf")]) == len(place.storage) + len(place.clients)
