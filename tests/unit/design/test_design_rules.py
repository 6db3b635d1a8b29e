"""The rules: each speaks up where it should, and keeps silent where nothing is wrong."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from designs import built, design_for, findings, plan_of
from pydantic import ValidationError

from kvplan import load_catalogue
from kvplan.api import design, design_inputs
from kvplan.errors import InputError
from kvplan.schema.build import BuildOptions

if TYPE_CHECKING:
    from kvplan import Plan
    from kvplan.schema.design import Design


def _with_parts(plan: Plan, **parts: Any) -> Plan:
    """Return a Plan whose parts are others."""
    return plan.model_copy(update={"parts": plan.parts.model_copy(update=parts)})


def _ids(designed: Design, severity: str) -> set[str]:
    return {finding.id for finding in designed.findings if finding.severity == severity}


def test_the_reference_has_warnings_and_no_error() -> None:
    assert _ids(design_for(8), "error") == set()
    assert _ids(design_for(8), "warning") == {
        "storage-single-port",
        "single-spine",
        "atx-lead",
        "psu-redundancy",
        "rack-lost",
    }


def test_the_gravest_come_first() -> None:
    order = ["error", "warning", "info"]
    severities = [finding.severity for finding in built(8, racks={"available": 1}).findings]
    assert severities == sorted(severities, key=order.index)
    assert severities[0] == "error"


@pytest.mark.parametrize("nodes", [4, 8, 16, 64, 256])
def test_every_finding_says_what_to_do(nodes: int) -> None:
    for finding in design_for(nodes).findings:
        assert finding.id
        assert finding.where
        assert finding.remedy


def test_two_spines_are_no_single_point_of_failure() -> None:
    two = built(8, fabric={"min_spines": 2})
    assert two.switches.spines == 2
    assert not findings(two, "single-spine")
    assert findings(two, "plan-differs")


def test_a_dual_port_storage_adapter_ends_the_warning() -> None:
    dual = load_catalogue().nic("cx7-2x200g")
    plan = _with_parts(plan_of(8), storage_nic=dual)
    assert not findings(design(plan), "storage-single-port")


def test_adaptive_routing() -> None:
    off, asked = design_for(8), built(8, fabric={"adaptive_routing": True})
    assert [finding.severity for finding in findings(off, "adaptive-routing-receivers")] == ["info"]
    assert [finding.severity for finding in findings(asked, "adaptive-routing-receivers")] == ["error"]
    assert not findings(off, "adaptive-routing-rate")
    fast = built(8, fabric={"adaptive_routing": True, "uplink_legs": "1x800G"})
    assert [finding.severity for finding in findings(fast, "adaptive-routing-rate")] == ["error"]


def test_800g_legs_need_whole_cages() -> None:
    whole, split = (built(4, fabric={"uplink_legs": "1x800G", "min_spines": spines}) for spines in (3, 4))
    assert {port.bits_per_s for port in whole.ports if port.network == "uplink"} == {800e9}
    assert {port.bits_per_s for port in split.ports if port.network == "uplink"} == {400e9}


def test_more_cards_than_slots() -> None:
    found = findings(design(_with_parts(plan_of(8), client_nics=3)), "pcie-slots")
    assert [finding.severity for finding in found] == ["error"]
    assert found[0].text.startswith("4 cards for 2 full-height slots")
    assert findings(design(_with_parts(plan_of(8), client_nics=4)), "pcie-lanes")


def test_ocp_bays() -> None:
    server = load_catalogue().server("ASG-1115S-NE316R").model_copy(update={"ocp_slots": 1})
    ocp = load_catalogue().nic("cx7-400g").model_copy(update={"form_factor": "OCP 3.0"})
    assert findings(design(_with_parts(plan_of(8), server=server, storage_nic=ocp)), "ocp-bays")
    assert not findings(design_for(8), "ocp-bays")


def test_auxiliary_leads_and_headers() -> None:
    assert [finding.severity for finding in findings(design_for(8), "atx-lead")] == ["warning"]
    inputs = design_inputs(plan_of(8))
    assert inputs.enclosures["ASG-1115S-NE316R"].atx_headers == 2
    three = findings(design(_with_parts(plan_of(8), client_nics=3)), "atx-lead")
    assert [finding.severity for finding in three] == ["error"]
    light = load_catalogue().nic("b3220l")
    assert not findings(design(_with_parts(plan_of(8), client_nic=light)), "atx-lead")


def test_drives_against_bays() -> None:
    other = load_catalogue().server("SSG-121E-NES24R")
    assert findings(design(_with_parts(plan_of(8), server=other)), "drive-form")
    few = load_catalogue().server("ASG-1115S-NE316R").model_copy(update={"drive_bays": 12})
    assert findings(design(_with_parts(plan_of(8), server=few)), "drive-bays")


def test_supplies_that_do_not_carry_a_device_alone() -> None:
    assert [finding.where for finding in findings(design_for(8), "psu-redundancy")] == ["SYS-212GB-FNR"]
    cool = plan_of(8).parts.gpu.model_copy(update={"power_w": 300.0})
    assert not findings(design(_with_parts(plan_of(8), gpu=cool)), "psu-redundancy")


def test_racks() -> None:
    few = built(8, racks={"available": 1})
    assert findings(few, "racks-available")[0].text == "it takes 2 racks, and there are 1"
    assert not findings(built(8, racks={"available": 2}), "racks-available")
    weak = built(8, racks={"power_w": 3_000})
    assert findings(weak, "rack-power")
    light = built(8, racks={"weight_kg": 35})
    assert findings(light, "rack-weight")[0].text == "up to 36 kg, a rack bears 35 kg"


def test_limits_that_nobody_gave_are_said_to_be_assumed() -> None:
    assert findings(design_for(8), "rack-limits-assumed")[0].text == (
        "assumed of a rack: 42 units, 17 kW on either feed, 1,000 kg"
    )
    higher = built(8, racks={"units": 48, "available": 9})
    assert findings(higher, "rack-limits-assumed")[0].text == "assumed of a rack: 17 kW on either feed, 1,000 kg"
    given = built(8, racks={"units": 48, "power_w": 20_000, "weight_kg": 1_200})
    assert not findings(given, "rack-limits-assumed")


def test_spreading_storage_nodes_over_racks() -> None:
    one, half = design_for(8), built(8, racks={"storage_nodes_per_rack": 4})
    for designed in (one, half):
        (lost,) = findings(designed, "rack-lost")
        assert lost.severity == "warning"
        assert "the quorum is gone" in lost.text
    spread = built(8, racks={"storage_nodes_per_rack": 3})
    assert len({device.rack for device in spread.devices if device.role == "storage"}) == 3
    assert "quorum" not in findings(spread, "rack-lost")[0].text
    single = built(8, racks={"storage_nodes_per_rack": 1, "power_w": 40_000})
    assert not findings(single, "rack-lost")


def test_a_rack_that_the_code_survives_may_still_take_the_quorum() -> None:
    """A code that survives two nodes, and two racks of two."""
    tolerant = plan_of(4).profile.fault_tolerance.model_copy(update={"node_failures": 2})
    profile = plan_of(4).profile.model_copy(update={"fault_tolerance": tolerant})
    plan = plan_of(4).model_copy(update={"profile": profile})
    two = design(plan, BuildOptions.model_validate({"racks": {"storage_nodes_per_rack": 2}}))
    assert [finding.severity for finding in findings(two, "rack-quorum")] == ["warning"]
    assert not findings(two, "rack-lost")


def test_ways_to_racks_that_are_not_there() -> None:
    wrong = built(8, cabling={"distances_m": {"rack-01/rack-77": 2}})
    assert findings(wrong, "distance-unknown")[0].where == "rack-01/rack-77"
    assert not findings(built(8, cabling={"distances_m": {"rack-02/rack-01": 2}}), "distance-unknown")


def test_numbers_and_prefixes_of_somebody_else() -> None:
    close = built(8, addresses={"spine_asn": 65_000, "leaf_asn": 65_001, "host_asn": 65_002})
    (shared,) = findings(close, "asn-shared")
    assert (shared.severity, shared.where) == ("error", "AS 65003: leaf-001b, storage-001")
    public = built(8, addresses={"host_asn": 3_000, "storage_a": "8.8.0.0/20"})
    assert findings(public, "asn-public")
    assert findings(public, "prefix-public")
    for rule in ("asn-shared", "asn-public", "prefix-public"):
        assert not findings(design_for(256), rule)


def test_addresses_given_twice() -> None:
    """Eight adapters with a controller each take more than the eight management addresses set aside for a server."""
    gpu = plan_of(8).parts.gpu.model_copy(update={"nics_per_server": 8})
    assert findings(design(_with_parts(plan_of(8), gpu=gpu)), "address-twice")
    assert findings(design(_with_parts(plan_of(8), client_nics=5)), "address-twice")
    assert not findings(design_for(256), "address-twice")


def test_numbers_beyond_the_last() -> None:
    assert findings(built(8, addresses={"host_asn": 4_294_967_290}), "asn-range")[0].severity == "error"


def test_power_that_is_not_known() -> None:
    drive = plan_of(8).parts.drive.model_copy(update={"power_w": None})
    assert findings(design(_with_parts(plan_of(8), drive=drive)), "power-unknown")[0].where == drive.id
    assert not findings(design_for(8), "power-unknown")


def test_machines_with_one_port() -> None:
    single = load_catalogue().nic("b3140h")
    found = findings(design(_with_parts(plan_of(8), client_nic=single)), "single-port")
    assert [finding.where for finding in found] == ["storage nodes, b3140h"]
    gpu = plan_of(8).parts.gpu.model_copy(update={"nics_per_server": 1})
    found = findings(design(_with_parts(plan_of(8), gpu=gpu)), "single-port")
    assert [finding.where for finding in found] == ["GPU servers, b3140h"]


def test_spines_and_legs_that_cannot_be_cabled() -> None:
    asked = {"fabric": {"min_spines": 64, "oversubscription": 8}}
    few = design(plan_of(64, 3_000), BuildOptions.model_validate(asked))
    assert few.switches.spines < 64
    assert findings(few, "spines-fewer")
    assert not findings(built(8, fabric={"min_spines": 3}), "spines-fewer")
    odd = built(8, fabric={"uplink_legs": "1x800G", "min_spines": 4})
    assert findings(odd, "uplink-legs")
    assert not findings(built(8, fabric={"uplink_legs": "1x800G"}), "uplink-legs")


def test_devices_that_no_rack_holds() -> None:
    """A server of fourteen units in a rack of twelve; one of two fits."""
    assert not findings(built(8, racks={"units": 12, "reserved_units": 2}), "rack-units")
    tall = plan_of(8).parts.client_server.model_copy(update={"rack_units": 14})
    low = design(_with_parts(plan_of(8), client_server=tall), BuildOptions.model_validate({"racks": {"units": 12}}))
    assert findings(low, "rack-units")[0].severity == "error"
    with pytest.raises(ValidationError, match="leave no room for servers"):
        BuildOptions.model_validate({"racks": {"units": 12, "reserved_units": 12}})


def test_a_fabric_switch_is_no_management_switch() -> None:
    with pytest.raises(InputError, match="sn5600 is no management switch"):
        built(8, management={"switch": "sn5600"})


@pytest.mark.parametrize(("nodes", "gpus"), [(64, 512), (256, 2_048)])
def test_recovery_groups_are_spread_over_leaves(nodes: int, gpus: int) -> None:
    """A leaf holds no more of a group than the state with a leaf lost assumes."""
    plan, made = plan_of(nodes, gpus), design_for(nodes)
    groups = {device.name: device.recovery_group for device in made.devices if device.role == "storage"}
    sizes = Counter(groups.values())
    assert len(sizes) == plan.profile.recovery_groups
    assert max(sizes.values()) - min(sizes.values()) <= 1
    on_leaf = Counter(
        (port.peer_device, groups[port.device])
        for port in made.ports
        if port.network == "storage" and port.device in groups
    )
    assert max(on_leaf.values()) <= -(-min(sizes.values()) // made.switches.leaves)


def test_cages_left() -> None:
    assert not findings(design_for(8), "cages-left")
    assert findings(design_for(64), "cages-left")


def test_gpu_servers_that_nobody_named() -> None:
    other = design(plan_of(8, 64, gpu="h200"))
    assert [finding.severity for finding in findings(other, "client-unknown")] == ["warning"]
    assert not findings(design_for(8), "client-unknown")


def test_another_catalogue() -> None:
    lock = plan_of(8).catalogue.model_copy(update={"sha256": "0" * 64})
    assert findings(design(plan_of(8).model_copy(update={"catalogue": lock})), "catalogue-differs")
    assert not findings(design_for(8), "catalogue-differs")


def test_cables_that_there_are_not() -> None:
    switch = load_catalogue().switch("sn5400")
    found = findings(design(_with_parts(plan_of(8), switch=switch)), "cable-missing")
    assert {finding.severity for finding in found} == {"error"}
    assert "QSFP-DD to QSFP112" in found[0].text


def test_unknown_names_in_the_options_come_all_at_once() -> None:
    options = BuildOptions.model_validate(
        {"management": {"switch": "sn99"}, "cabling": {"families": {"storage": "mcp7y", "client": "mcp7y1"}}}
    )
    with pytest.raises(InputError) as caught:
        design(plan_of(8), options)
    assert [problem.where for problem in caught.value.problems] == [
        "management.switch",
        "cabling.families.storage",
        "cabling.families.client",
    ]
    assert "did you mean 'mcp7y10'" in str(caught.value)


def test_a_device_without_an_enclosure_is_refused() -> None:
    server = load_catalogue().server("ASG-1115S-NE316R").model_copy(update={"id": "ASG-1115S"})
    with pytest.raises(InputError, match=r"there is no row for 'ASG-1115S'.*did you mean 'ASG-1115S-NE316R'"):
        design(_with_parts(plan_of(8), server=server))
