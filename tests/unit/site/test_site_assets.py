"""Asset lists as vendors send them."""

from __future__ import annotations

import pytest
from designs import design_for

from kvplan.errors import InputError
from kvplan.site.initial.assets import read_assets, unused_columns

NAMED = """\
name,serial,BMC IP,BMC MAC,LAN1 MAC,MAC client1p0,Boot Drive 1 Serial,Boot Drive 2 Serial
storage-001,S411,172.24.64.8,3CECEF010203,3c-ec-ef-01-02-04,3C:EC:EF:01:02:05,P1,P2
leaf-001a,MT2,,,,,,
"""


def test_a_list_with_names() -> None:
    assets = read_assets(NAMED, "hosts.csv", design_for(8))
    node = assets["storage-001"]
    assert (node.serial, node.bmc_address, node.bmc_mac) == ("S411", "172.24.64.8", "3c:ec:ef:01:02:03")
    assert node.macs == {"mgmt1": "3c:ec:ef:01:02:04", "client1p0": "3c:ec:ef:01:02:05"}
    assert node.boot_serials == ("P1", "P2")
    assert assets["leaf-001a"].serial == "MT2"


def test_a_list_without_names_goes_by_model_in_its_own_order() -> None:
    text = "Delivery 4711;;\nProduct Name;System Serial Number;IPMI MAC\n" + "".join(
        f"Supermicro {model};{serial};3cecef0102{index:02x}\n"
        for index, (model, serial) in enumerate(
            [("SYS-212GB-FNR", "G1"), ("ASG-1115S-NE316R", "N1"), ("ASG-1115S-NE316R", "N2"), ("SN5600", "SW1")]
        )
    )
    assets = read_assets(text, "hosts.csv", design_for(8))
    assert {name: asset.serial for name, asset in assets.items()} == {
        "gpu-0001": "G1",
        "storage-001": "N1",
        "storage-002": "N2",
        "leaf-001a": "SW1",
    }


@pytest.mark.parametrize(
    "heading",
    ["Serial", "Serial Number", "S/N", "serial_no", "System Serial", "Service Tag", "Chassis Serial Number", "SN"],
)
def test_headings_of_a_serial_number(heading: str) -> None:
    assets = read_assets(f"Hostname\t{heading}\ngpu-0002\tA77\n", "hosts.tsv", design_for(8))
    assert assets["gpu-0002"].serial == "A77"


def test_a_mark_of_byte_order_and_blank_lines_do_no_harm() -> None:
    assets = read_assets("\n\nname,serial\n\ngpu-0001,A1\n\n", "hosts.csv", design_for(8))
    assert assets["gpu-0001"].serial == "A1"


def test_headings_may_be_german() -> None:
    text = "Gerätename;Seriennummer;BMC-Adresse;BMC-MAC-Adresse;MAC-Adresse mgmt1\n"
    text += "storage-001;S1;172.24.64.8;3cecef010203;3cecef010204\n"
    node = read_assets(text, "hosts.csv", design_for(8))["storage-001"]
    assert (node.serial, node.bmc_address, node.bmc_mac) == ("S1", "172.24.64.8", "3c:ec:ef:01:02:03")
    assert node.macs == {"mgmt1": "3c:ec:ef:01:02:04"}
    assert read_assets("Serien-Nr.;Modell\nS1;SN5600\n", "x", design_for(8))["leaf-001a"].serial == "S1"


@pytest.mark.parametrize("cell", ['="0041"', '"=""0041"""', "'0041", "0041\u00a0"])
def test_digits_that_a_spreadsheet_kept_as_text(cell: str) -> None:
    assert read_assets(f"name,serial\ngpu-0001,{cell}\n", "hosts.csv", design_for(8))["gpu-0001"].serial == "0041"


def test_a_name_may_have_its_domain() -> None:
    assert "gpu-0001" in read_assets("name,serial\nGPU-0001.kv.example,A1\n", "hosts.csv", design_for(8))


def test_columns_that_mean_nothing_are_named() -> None:
    text = "Delivery 1\nname,Warranty,serial,mgmt1 MAC,lan7 MAC,\ngpu-0001,3y,A1,,,\n"
    assert unused_columns(text, "hosts.csv", design_for(8)) == ("Warranty", "lan7 MAC")


WRONG = {
    "no row": ("name,serial\n\n", "hosts.csv: has a header and no rows below it"),
    "nothing": ("", "it begins with nothing; a header with serial"),
    "bars": ("name|serial\n", "it begins with 'name|serial'; a header with serial"),
    "two columns alike": ("name,serial,S/N\n", "hosts.csv:1:13: 'S/N' means the same as column 'serial'"),
    "a decimal": ("name,serial\ngpu-0001,411000.0\n", "hosts.csv:2:10: '411000.0' was rounded"),
    "MAC of a group": ("name,serial,bmc mac\ngpu-0001,A1,ff-ff-ff-ff-ff-ff\n", "is not the MAC address of an adapter"),
    "MAC of nothing": ("name,serial,bmc mac\ngpu-0001,A1,000000000000\n", "is not the MAC address of an adapter"),
    "neither name nor model": ("serial,bmc mac\nA1,\n", "hosts.csv:2:1: names neither a machine nor a model"),
    "no header": ("a,b\n1,2\n", "has no header of an asset list"),
    "rounded by a spreadsheet": ("name,serial\ngpu-0001,4.11E+11\n", "hosts.csv:2:10: '4.11E+11' was rounded"),
    "MAC too short": ("name,serial,mgmt1 mac\ngpu-0001,A1,3cecef0102\n", "hosts.csv:2:13: '3cecef0102' is no MAC"),
    "address that is none": ("name,serial,bmc ip\ngpu-0001,A1,10.0.0.999\n", "does not appear to be an IPv4"),
    "serial twice": ("name,serial\ngpu-0001,A1\ngpu-0002,A1\n", "hosts.csv:3:10: A1 stands in line 2 already"),
    "name twice": ("name,serial\ngpu-0001,A1\ngpu-0001,A2\n", "gpu-0001 stands in line 2 already"),
    "unknown name": ("name,serial\ngpu-001,A1\n", "'gpu-001' is no machine of the design; did you mean 'gpu-0001'"),
    "unknown model": ("model,serial\nR760,A1\n", "no machine of model 'R760' is left"),
    "more than there are": (
        "model,serial\n" + "".join(f"sn2201,A{n}\n" for n in range(2)),
        "hosts.csv:3:8: no machine of model 'sn2201' is left",
    ),
    "no serial": ("name,serial,bmc ip\ngpu-0001,,10.0.0.1\n", "hosts.csv:2:1: has no serial number"),
    "serial with a blank": ("name,serial\ngpu-0001,A 1\n", "is no serial number"),
}


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_with_its_place(text: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        read_assets(text, "hosts.csv", design_for(8))
    assert said in str(raised.value)


def test_everything_wrong_is_said_at_once() -> None:
    with pytest.raises(InputError) as raised:
        read_assets("name,serial,bmc mac\ngpu-0001,1E+5,zz\nnobody,A1,\n", "hosts.csv", design_for(8))
    assert len(raised.value.problems) == 3
