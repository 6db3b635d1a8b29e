"""The NetBox files: they fit each other, so that importing them in order meets nothing unknown."""

from __future__ import annotations

import csv
import io
from collections import Counter
from ipaddress import ip_interface, ip_network
from typing import TYPE_CHECKING

import pytest
from designs import built, design_for

from kvplan.render.fabric.netbox import Maker, netbox_files, slug
from kvplan.render.fabric.netbox_addresses import address_files

if TYPE_CHECKING:
    from kvplan.schema.design import Design

SIZES = pytest.mark.parametrize("nodes", [4, 16, 64, 256])
MAKERS = {"sn5600": Maker("NVIDIA", "920-9N42F-00RI-7C0"), "ASG-1115S-NE316R": Maker("Supermicro")}
ADDRESSES_FILE = "12-ip-addresses.csv"
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


def test_a_connector_that_netbox_has_no_type_for_is_other() -> None:
    design = design_for(8)
    near = design.cables[0].a.model_copy(update={"connector": "LC-duplex"})
    cables = (design.cables[0].model_copy(update={"a": near}), *design.cables[1:])
    rows = read(design.model_copy(update={"cables": cables}))["interfaces"]
    ends = {(near.device, port) for port in near.ports}
    assert {row["type"] for row in rows if (row["device"], row["name"]) in ends} == {"other"}


def test_managed_ports_are_told_by_their_kind_and_not_by_their_name() -> None:
    design = design_for(8)
    ports = tuple(port.model_copy(update={"name": f"x{number}"}) for number, port in enumerate(design.ports))
    addressed = {(port.device, port.name): port.kind for port in ports if port.address}
    rows = list(csv.DictReader(io.StringIO(address_files(design.model_copy(update={"ports": ports}))[ADDRESSES_FILE])))
    marks = {"host": ("true", ""), "controller": ("", "true")}
    found = {(row["device"], row["interface"]): (row["is_primary"], row["is_oob"]) for row in rows}
    assert set(addressed.values()) == {"fabric", "host", "controller", "adapter-controller"}
    assert {place: found[place] for place in addressed} == {
        place: marks.get(kind, ("", "")) for place, kind in addressed.items()
    }


def test_a_breakout_is_a_cable_for_each_leg() -> None:
    rows = [row for row in read(design_for(8))["cables"] if row["label"].startswith("leaf-001a:swp1/")]
    assert [row["side_a_name"] for row in rows] == ["swp1s0", "swp1s1", "swp1s2", "swp1s3"]
    assert [row["label"][-2:] for row in rows] == ["/1", "/2", "/3", "/4"]


def test_a_leg_over_two_fibres_is_one_cable() -> None:
    """NetBox takes one cable an interface; the second fibre is named beside the first."""
    design = built(8, fabric={"uplink_legs": "1x800G"}, cabling={"medium": "optics"})
    rows = [
        row for row in read(design)["cables"] if row["side_a_name"] == "swp59" and row["side_a_device"] == "leaf-001a"
    ]
    assert [row["label"] for row in rows] == ["leaf-001a:swp59.1"]
    assert rows[0]["description"].endswith("mfp7e10 leaf-001a:swp59.2")
