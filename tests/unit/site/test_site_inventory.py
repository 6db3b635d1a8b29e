"""The inventory: groups, one file a host, and every fact that a role needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from designs import SIZES
from sites import deployment_of

from kvplan.site.inventory import inventory_files
from kvplan.site.secrets import secret_references

if TYPE_CHECKING:
    from collections.abc import Callable


def files(nodes: int) -> dict[str, Any]:
    """Read the inventory of so many nodes back."""
    return {
        file.path.removeprefix("inventory/"): yaml.safe_load(file.text)
        for file in inventory_files(deployment_of(nodes))
    }


@pytest.mark.parametrize(
    "path", ["hosts.yml", "group_vars/all.yml", "host_vars/storage-001.yml", "host_vars/leaf-001a.yml"]
)
def test_golden(path: str, golden: Callable[[str, str], None]) -> None:
    text = next(file.text for file in inventory_files(deployment_of(8)) if file.path == f"inventory/{path}")
    golden(f"site/inventory/{path}", text)


@pytest.mark.parametrize("nodes", [4, 8, 16, 64])
def test_every_host_has_a_file_and_every_file_a_host(nodes: int) -> None:
    read = files(nodes)
    children = read["hosts.yml"]["all"]["children"]
    named = {
        host
        for group in (*children.values(), *children["switches"]["children"].values())
        for host in group.get("hosts", {})
    }
    assert {f"host_vars/{name}.yml" for name in named} == {path for path in read if path.startswith("host_vars/")}
    assert len(children["storage"]["hosts"]) == nodes
    assert len(children["bmc"]["hosts"]) == sum(
        len(children[group]["hosts"]) for group in ("storage", "gpu", "control")
    )


@pytest.mark.parametrize("nodes", SIZES)
def test_both_ends_of_a_link_say_the_same(nodes: int) -> None:
    read = files(nodes) if nodes <= 64 else {}
    hosts = {
        path.removeprefix("host_vars/").removesuffix(".yml"): data for path, data in read.items() if "host_vars" in path
    }
    for name, data in hosts.items():
        for port in data.get("kv_fabric_ports", []):
            far = hosts[port["switch"]]
            (entry,) = [entry for entry in far["kv_neighbours"] if entry["port"] == port["switch_port"]]
            assert (entry["neighbour"], entry["neighbour_port"]) == (name, port["name"])
            assert far["kv_asn"] == port["switch_asn"]


def test_secrets_are_references_by_name() -> None:
    read = files(4)
    references = read["group_vars/all.yml"]["kv_secrets"]
    assert references == secret_references(deployment_of(4).site)
    assert all(value.partition(":")[0] in {"env", "file", "vault"} for value in references.values())
    controllers = [data for path, data in read.items() if path.endswith("-bmc.yml")]
    assert all(data["kv_bmc_password"] in references for data in controllers)
