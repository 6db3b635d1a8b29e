"""The NetBox files: they fit each other, so that importing them in order meets nothing unknown."""

from __future__ import annotations

import csv
import io
from collections import Counter
from ipaddress import ip_interface, ip_network
from typing import TYPE_CHECKING

import pytest
from designs import design_for

from kvplan.render.fabric.netbox import CABLES_FILE, Maker, netbox_cables, netbox_files, slug

if TYPE_CHECKING:
    from kvplan.schema.design import Design

SIZES = pytest.mark.parametrize("nodes", [4, 16, 64, 256])
MAKERS = {"sn5600": Maker("NVIDIA", "920-9N42F-00RI-7C0"), "ASG-1115S-NE316R": Maker("Supermicro")}
Files = dict[str, list[dict[str, str]]]


def read(design: Design) -> Files:
    files = netbox_files(design, MAKERS, site="Hall 1")
    return {name[3:-4]: list(csv.DictReader(io.StringIO(text))) for name, text in files.items()}


@SIZES
def test_each_file_refers_to_what_an_earlier_one_brings(nodes: int) -> None:
    files = read(design_for(nodes))
    assert {row["site"] for row in (*files["racks"], *files["devices"])} == {row["name"] for row in files["sites"]}
    makers, roles = ({row["name"] for row in files[name]} for name in ("manufacturers", "device-roles"))
    types = {(row["manufacturer"], row["model"]) for row in files["device-types"]}
    racks, devices = ({row["name"] for row in files[name]} for name in ("racks", "devices"))
    assert {maker for maker, _ in types} == makers
    assert {(row["manufacturer"], row["device_type"]) for row in files["devices"]} == types
    assert {row["role"] for row in files["devices"]} == roles
    assert {row["rack"] for row in files["devices"]} <= racks
    assert {row["device"] for row in files["interfaces"]} == devices
    interfaces = {(row["device"], row["name"]) for row in files["interfaces"]}
    assert {(row["device"], row["interface"]) for row in files["ip-addresses"]} <= interfaces
    assert {row["rir"] for row in files["asns"]} == {row["name"] for row in files["rirs"]}


@SIZES
def test_each_cable_joins_two_free_interfaces(nodes: int) -> None:
    files = read(design_for(nodes))
    ends = Counter((row[f"side_{side}_device"], row[f"side_{side}_name"]) for row in files["cables"] for side in "ab")
    interfaces = {(row["device"], row["name"]) for row in files["interfaces"] if row["type"] != "virtual"}
    assert set(ends) == interfaces
    assert set(ends.values()) == {1}
    labels = [row["label"] for row in files["cables"]]
    assert len(set(labels)) == len(labels)


@SIZES
def test_no_two_devices_take_the_same_unit(nodes: int) -> None:
    files = read(design_for(nodes))
    heights = {row["model"]: int(row["u_height"]) for row in files["device-types"]}
    units = {row["name"]: int(row["u_height"]) for row in files["racks"]}
    taken = Counter(
        (row["rack"], int(row["position"]) + offset)
        for row in files["devices"]
        for offset in range(heights[row["device_type"]])
    )
    assert set(taken.values()) == {1}
    assert all(1 <= unit <= units[rack] for rack, unit in taken)


@SIZES
def test_no_address_or_prefix_comes_twice(nodes: int) -> None:
    files = read(design_for(nodes))
    addresses = [row["address"] for row in files["ip-addresses"]]
    prefixes = [row["prefix"] for row in files["prefixes"]]
    assert len(set(addresses)) == len(addresses)
    assert len(set(prefixes)) == len(prefixes)
    assert len({row["asn"] for row in files["asns"]}) == len(files["asns"])
    containers = [ip_network(row["prefix"]) for row in files["prefixes"] if row["status"] == "container"]
    assert all(any(ip_interface(address) in container for container in containers) for address in addresses)


@SIZES
def test_a_device_has_one_primary_and_one_controller_address_at_most(nodes: int) -> None:
    files = read(design_for(nodes))
    for mark in ("is_primary", "is_oob"):
        marked = Counter(row["device"] for row in files["ip-addresses"] if row[mark] == "true")
        assert marked
        assert set(marked.values()) == {1}


def test_slugs_are_what_netbox_takes() -> None:
    files = read(design_for(256))
    slugs = [row["slug"] for name in ("sites", "manufacturers", "device-roles", "device-types") for row in files[name]]
    assert all(text == slug(text) for text in slugs)
    assert {row["type"] for row in files["interfaces"]} <= {
        "800gbase-x-osfp", "400gbase-x-osfp-rhs", "400gbase-x-qsfp112", "1000base-t", "virtual",
    }  # fmt: skip
    assert {row["type"] for row in files["cables"]} <= {
        "dac-passive", "dac-active", "mmf-om4", "smf-os2", "cat6a",
    }  # fmt: skip
    assert slug("***") == "unnamed"


def test_an_unknown_maker_is_named_as_such() -> None:
    rows = {row["model"]: row for row in read(design_for(8))["device-types"]}
    assert rows["sn5600"]["manufacturer"] == "NVIDIA"
    assert rows["sn5600"]["part_number"] == "920-9N42F-00RI-7C0"
    assert rows["SYS-212GB-FNR"]["manufacturer"] == "unknown"


def test_the_cables_alone_are_the_same() -> None:
    assert netbox_cables(design_for(8)) == netbox_files(design_for(8), MAKERS, site="x")[CABLES_FILE]


def test_a_breakout_is_a_cable_for_each_leg() -> None:
    rows = [row for row in read(design_for(8))["cables"] if row["label"].startswith("leaf-001a:swp1/")]
    assert [row["side_a_name"] for row in rows] == ["swp1s0", "swp1s1", "swp1s2", "swp1s3"]
    assert [row["label"][-2:] for row in rows] == ["/1", "/2", "/3", "/4"]
