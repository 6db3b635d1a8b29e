"""Cables: the family follows from both ends, the length from where they stand, the medium from the length."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from designs import built, design_for, findings

from kvplan import load_catalogue

if TYPE_CHECKING:
    from kvplan.schema.design import Cable, Design

MAX_PASSIVE_M = 3


def _of(designed: Design, network: str) -> list[Cable]:
    return [cable for cable in designed.cables if cable.network == network]


def test_the_adapter_decides_the_family() -> None:
    """B3220 and B3140H are QSFP112, the ConnectX-7 with one port is flat OSFP."""
    families = {
        network: {cable.family for cable in _of(design_for(8), network)}
        for network in ("storage-client", "storage", "client", "uplink")
    }
    assert families == {
        "storage-client": {"mcp7y40"},
        "storage": {"mcp7y00"},
        "client": {"mca7j65"},
        "uplink": {"mcp4y10"},
    }


def test_one_breakout_cable_serves_four_nodes() -> None:
    first = _of(design_for(8), "storage-client")[0]
    assert [end.device for end in first.b] == ["storage-001", "storage-002", "storage-003", "storage-004"]
    assert first.a.ports == ("swp1s0", "swp1s1", "swp1s2", "swp1s3")


def test_passive_copper_first_then_active_then_fibre() -> None:
    for cable in design_for(64).cables:
        if cable.medium == "passive-copper":
            assert cable.needed_m <= MAX_PASSIVE_M
        elif cable.medium == "active-copper":
            assert cable.needed_m <= 5
        elif cable.medium == "multimode":
            assert cable.needed_m <= 50
    media = Counter(cable.medium for cable in design_for(64).cables)
    assert media["passive-copper"]
    assert media["active-copper"]
    assert media["multimode"]


def test_optics_have_the_modules_that_fit() -> None:
    optical = built(8, cabling={"medium": "optics"})
    ends = {(cable.network, cable.family, cable.a.transceiver, cable.b[0].transceiver) for cable in optical.cables}
    assert ends == {
        ("storage-client", "mfp7e20", "mma4z00-ns", "mma1z00-ns400"),
        ("storage", "mfp7e10", "mma4z00-ns", "mma4z00-ns400"),
        ("client", "mfp7e10", "mma4z00-ns", "mma1z00-ns400"),
        ("uplink", "mfp7e10", "mma4z00-ns", "mma4z00-ns"),
        ("management", "cat6a", "", ""),
    }


def test_a_twin_module_takes_two_fibres() -> None:
    optical = built(8, cabling={"medium": "optics"})
    fibres = [cable.id for cable in _of(optical, "storage-client") if cable.a.device == "leaf-001a"]
    assert fibres == ["leaf-001a:swp1.1", "leaf-001a:swp1.2", "leaf-001a:swp2.1", "leaf-001a:swp2.2"]
    first = _of(optical, "storage-client")[0]
    assert [end.device for end in first.b] == ["storage-001", "storage-002"]


def test_a_single_leg_at_800g_takes_both_fibres_of_its_modules() -> None:
    whole = built(8, cabling={"medium": "optics"}, fabric={"uplink_legs": "1x800G"})
    fibres = [cable for cable in _of(whole, "uplink") if cable.a.cage == "swp59" and cable.a.device == "leaf-001a"]
    assert [cable.a.ports for cable in fibres] == [("swp59",), ("swp59",)]
    port = next(port for port in whole.ports if (port.device, port.name) == ("leaf-001a", "swp59"))
    assert port.cables == tuple(cable.id for cable in fibres) == ("leaf-001a:swp59.1", "leaf-001a:swp59.2")


def test_single_mode_where_multimode_ends() -> None:
    far = built(8, cabling={"distances_m": {"rack-01/rack-02": 70}})
    assert {(cable.medium, cable.family) for cable in _of(far, "client")} == {("single-mode", "mfp7e30")}


def test_the_length_bought_is_the_next_one() -> None:
    for cable in design_for(8).cables:
        lengths = sorted(load_catalogue().row("cables", cable.family).lengths_m)  # type: ignore[attr-defined]
        assert cable.length_m == next(length for length in lengths if length >= cable.needed_m)


def test_legs_that_do_not_divide_by_the_spines_are_fibre() -> None:
    """Six uplinks are twelve legs: four to each of three spines keep cages whole, three to each of four do not."""
    whole, split = built(4, fabric={"min_spines": 3}), built(4, fabric={"min_spines": 4})
    assert {cable.medium for cable in _of(whole, "uplink")} == {"active-copper"}
    assert findings(whole, "uplink-split") == []
    assert {cable.medium for cable in _of(split, "uplink")} == {"active-copper", "multimode"}
    assert len(findings(split, "uplink-split")) == 1


@pytest.mark.parametrize(
    ("network", "family", "finding"),
    [
        ("storage", "mcp7y10", "cable-connector"),
        ("client", "mcp7y00", "cable-connector"),
        ("storage-client", "mcp7y10", "cable-lanes"),
        ("client", "mcp7y10", "cable-length"),
        ("client", "mcp7y40", "cable-lanes"),
    ],
)
def test_a_family_asked_for_is_judged(network: str, family: str, finding: str) -> None:
    judged = built(8, cabling={"families": {network: family}})
    found = findings(judged, finding)
    assert [entry.severity for entry in found] == ["error"]
    assert network in found[0].text


def test_a_family_that_fits_is_taken_without_a_word() -> None:
    judged = built(8, cabling={"families": {"storage-client": "mca7j75"}})
    assert {cable.family for cable in _of(judged, "storage-client")} == {"mca7j75"}
    assert not [finding for finding in judged.findings if finding.severity == "error"]


def test_copper_alone_that_does_not_reach_is_an_error() -> None:
    split = built(4, fabric={"min_spines": 4}, cabling={"medium": "copper"})
    assert findings(split, "cable-missing")
    assert not findings(split, "cage-plugs")
    short = built(8, cabling={"medium": "copper", "distances_m": {"rack-02/rack-01": 12}})
    found = findings(short, "cable-length")
    assert len(found) == 1
    assert found[0].text.startswith("mca7j65 ends at 5 m")


def test_a_twin_port_module_counts_once_in_the_power_of_its_switch() -> None:
    copper, optical = design_for(8), built(8, cabling={"medium": "optics"})
    power = [
        next(device.power_typical_w for device in made.devices if device.name == "leaf-001a")
        for made in (copper, optical)
    ]
    assert power == [940, 940 + 12 * 17]


@pytest.mark.parametrize(("nodes", "spines", "oversubscription"), [(8, 5, 1.0), (8, 5, 2.0), (4, 3, 3.0), (64, 7, 1.0)])
def test_a_cage_takes_one_plug(nodes: int, spines: int, oversubscription: float) -> None:
    """With an odd count of legs a leaf shares spine cages with its sister: neither may plug copper there."""
    made = built(nodes, fabric={"min_spines": spines, "oversubscription": oversubscription})
    plugs: dict[tuple[str, str], set[str]] = {}
    for cable in made.cables:
        for end in (cable.a, *cable.b):
            plugs.setdefault((end.device, end.cage), set()).add(end.transceiver or cable.id)
    assert max(map(len, plugs.values())) == 1
    assert not findings(made, "cage-plugs")


def test_two_plugs_in_a_cage_are_an_error() -> None:
    forced = built(8, fabric={"min_spines": 5}, cabling={"families": {"uplink": "mcp4y10"}})
    assert [finding.severity for finding in findings(forced, "cage-plugs")] == ["error"]


@pytest.mark.parametrize(
    ("network", "family"),
    [("storage-client", "mfp7e10"), ("client", "mfp7e20"), ("storage", "mfp7e20"), ("uplink", "mfp7e20")],
)
def test_fibre_that_divides_otherwise_is_an_error(network: str, family: str) -> None:
    found = findings(built(8, cabling={"families": {network: family}}), "cable-lanes")
    assert [finding.severity for finding in found] == ["error"]
    assert network in found[0].text
