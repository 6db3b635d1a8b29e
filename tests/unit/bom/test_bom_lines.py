"""Which lines a quote has, and how many of each: never typed, always counted in Plan and design."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from decimal import Decimal

import pytest
from support_quotes import DAY, GPUS, design_of, findings, lines_of, plan_of, quantity, quote

from kvplan.bom.quote import bill
from kvplan.bom.tables import tables_of
from kvplan.catalogue.loader import load_catalogue
from kvplan.schema.build import BuildOptions
from kvplan.schema.kit import GROUP_TITLES
from kvplan.schema.price_book import QuoteTerms

SIZES = (0, *GPUS)

REFERENCE = {
    "chassis/ASG-1115S-NE316R": 8,
    "drive/micron-e3s-7.68": 128,
    "adapter/b3220": 8,
    "adapter/cx7-400g": 8,
    "adapter/b3140h": 8,
    "kit/cpu-epyc-9535": 8,
    "kit/memory-storage": 96,
    "kit/atx-lead/ASG-1115S-NE316R": 8,
    "kit/bracket": 16,
    "kit/dcms": 8,
    "kit/rails/ASG-1115S-NE316R": 8,
    "switch/sn5600": 3,
    "switch/sn2201": 1,
    "kit/rhel": 9,
    "kit/scale-ece": 984,
    "kit/scale-client": 4,
    "kit/support-adapter": 8 + 8 + 8,
    "kit/uplink-module": 2,
    "kit/uplink-fibre": 2,
    "kit/cable-labels": 158 + 2 * 2 + 2 * 2 * (8 + 3 + 1 + 1),
    "kit/fibre-cleaner": 1,
    "kit/console-cable": 1,
    "kit/support-fabric-switch": 3,
    "kit/acceptance-test": 1,
}


@pytest.mark.parametrize("key", REFERENCE)
def test_the_published_system_needs(key: str) -> None:
    assert quantity(quote(), key) == REFERENCE[key]


def test_the_published_system_has_no_empty_bays() -> None:
    assert not any("bay-blank" in line.key for line in quote().lines)


def test_a_profile_with_fewer_drives_closes_its_bays() -> None:
    plan = plan_of(0)
    twelve = plan.model_copy(update={"profile": plan.profile.model_copy(update={"drives_per_node": 12})})
    terms = QuoteTerms(date=DAY)
    made = bill(twelve, design_of(0), tables=tables_of(load_catalogue()), terms=terms)
    assert quantity(made, "kit/bay-blank/ASG-1115S-NE316R") == 8 * 4


@pytest.mark.parametrize("nodes", SIZES)
@pytest.mark.parametrize("clients", ["servers", "adapters"])
def test_quantities_agree_with_the_design(nodes: int, clients: str) -> None:
    plan, design, made = plan_of(nodes), design_of(nodes, clients), quote(nodes=nodes, clients=clients)
    whole = clients == "servers"
    racks = {device.rack for device in design.devices if whole or device.role != "client"}
    roles = Counter(device.role for device in design.devices)
    switches = roles["leaf"] + roles["spine"] + roles["super-spine"]
    gpus = roles["client"] * plan.parts.gpu.gpus_per_server
    assert {
        "chassis": quantity(made, f"chassis/{plan.parts.server.id}"),
        "drives": quantity(made, f"drive/{plan.parts.drive.id}"),
        "switches": quantity(made, f"switch/{plan.parts.switch.id}"),
        "management": quantity(made, "switch/sn2201"),
        "racks": quantity(made, f"rack/{design.options.racks.units}u"),
        "PDUs": quantity(made, "kit/pdu"),
        "adapters": quantity(made, f"adapter/{plan.parts.gpu_nic.id}"),
        "AI Enterprise": quantity(made, "kit/nvidia-ai-enterprise"),
    } == {
        "chassis": roles["storage"],
        "drives": plan.profile.nodes * plan.profile.drives_per_node,
        "switches": switches,
        "management": roles["management-switch"],
        "racks": len(racks),
        "PDUs": 2 * len(racks),
        "adapters": roles["client"] * plan.parts.gpu.nics_per_server,
        "AI Enterprise": gpus if whole else 0,
    }


@pytest.mark.parametrize("nodes", SIZES)
def test_every_cable_and_every_module_is_bought_once(nodes: int) -> None:
    design, made = design_of(nodes), quote(nodes=nodes)
    cables = Counter(f"cable/{cable.family}/{cable.length_m:g}m" for cable in design.cables)
    cages = {
        (end.device, end.cage): f"transceiver/{end.transceiver}"
        for cable in design.cables
        for end in (cable.a, *cable.b)
        if end.transceiver
    }
    expected = cables + Counter(cages.values())
    parts = {line.key for line in made.lines if line.key.startswith(("cable/", "transceiver/"))}
    assert {key: quantity(made, key) for key in parts} == dict(expected)


@pytest.mark.parametrize("nodes", SIZES)
def test_every_power_supply_has_a_lead_that_fits(nodes: int) -> None:
    design, made = design_of(nodes, "servers"), quote(nodes=nodes, clients="servers")
    inlets: Counter[str] = Counter()
    for device in design.devices:
        inlets[f"{device.inlet.lower()}-a"] += -(-device.psu_count // 2)
        inlets[f"{device.inlet.lower()}-b"] += device.psu_count // 2
    leads = {
        f"{inlet}-{feed}": quantity(made, f"kit/power-lead-{inlet}-{feed}") for inlet in ("c14", "c20") for feed in "ab"
    }
    assert leads == {name: inlets[name] for name in leads}


@pytest.mark.parametrize("nodes", SIZES)
def test_lines_are_numbered_under_their_parents_in_the_order_of_the_groups(nodes: int) -> None:
    made = quote(nodes=nodes, clients="servers")
    by_number = {line.line: line for line in made.lines}
    order = [list(GROUP_TITLES).index(line.group) for line in made.lines]
    majors = [int(line.line.partition(".")[0]) for line in made.lines if not line.parent]
    assert len(by_number) == len(made.lines)
    assert order == sorted(order)
    assert majors == list(range(1, len(majors) + 1))
    for line in made.lines:
        if line.parent:
            assert line.quantity == line.quantity_per_parent * by_number[line.parent].quantity
            assert line.line.partition(".")[0] == line.parent.partition(".")[0]


def test_headings_and_what_comes_with_a_device_take_no_price() -> None:
    made = quote()
    parents = {line.parent for line in made.lines}
    unpriced = {line.key for line in made.lines if not line.priced and line.line not in parents}
    assert all(not line.priced for line in made.lines if line.line in parents)
    assert {key.split("/")[1] for key in unpriced} == {"psu", "fan", "fan-asg-1115s", "fan-sn5600", "cumulus"}


def test_every_line_says_where_its_number_comes_from() -> None:
    assert [line.line for line in quote().lines if not (line.basis and line.source and line.confidence)] == []


# --- scope -------------------------------------------------------------------------------------------------------


def test_whole_servers_bring_gpus_leads_licences_and_support() -> None:
    made = quote(clients="servers")
    per_server = {line.key: line.quantity_per_parent for line in made.lines if line.parent == "2.0"}
    assert per_server["chassis/SYS-212GB-FNR"] == 1
    assert per_server["gpu/rtx-pro-6000"] == 4
    assert per_server["adapter/b3140h"] == 2
    assert per_server["kit/power-lead-c20-a"] == per_server["kit/power-lead-c20-b"] == 1
    assert quantity(made, "kit/support-client") == quantity(made, "kit/ubuntu-pro") == 4
    assert quantity(made, "kit/nvidia-ai-enterprise") == 16
    assert quantity(made, "kit/dcms") == 8 + 4
    assert findings(made, "scope-clients") == []


def test_adapters_alone_bring_what_goes_with_them() -> None:
    made = quote(clients="adapters")
    group = [line.key for line in made.lines if line.group == "clients"]
    assert group == ["client-server/SYS-212GB-FNR", "adapter/b3140h", "kit/bracket"]
    assert [quantity(made, f"kit/{name}") for name in ("support-client", "ubuntu-pro", "nvidia-ai-enterprise")] == [
        0,
        0,
        0,
    ]
    assert len(findings(made, "scope-clients")) == 1


def test_without_clients_their_cables_stay() -> None:
    nothing, adapters = quote(clients="none"), quote(clients="adapters")
    cables = [line.key for line in nothing.lines if line.group == "cabling"]
    assert not any(line.group == "clients" for line in nothing.lines)
    assert quantity(nothing, "kit/ubuntu-pro") == quantity(nothing, "kit/nvidia-ai-enterprise") == 0
    assert cables == [line.key for line in adapters.lines if line.group == "cabling"]


def test_racks_that_are_there_are_not_quoted_but_devices_keep_their_leads() -> None:
    made = quote(racks=False)
    assert not any(line.group == "racks" for line in made.lines)
    per_rack = ("rack-integration", "installation", "feed-connection", "blanking-panel", "cable-tray", "pdu")
    assert [quantity(made, f"kit/{name}") for name in per_rack] == [0] * len(per_rack)
    assert quantity(made, "kit/power-lead-c14-a") > 0
    assert quantity(made, "kit/mounting") == 8 + 3 + 1 + 1
    assert len(findings(made, "scope-racks")) == 1
    assert findings(made, "scope-client-racks") == findings(made, "pdu-network") == []


@pytest.mark.parametrize(("nodes", "free"), [(0, 60), (16, 592), (64, 2427), (256, 9497)])
def test_every_unit_in_which_nothing_stands_is_closed(nodes: int, free: int) -> None:
    assert quantity(quote(nodes=nodes, clients="servers"), "kit/blanking-panel") == free


@pytest.mark.parametrize("nodes", [0, 16])
def test_racks_that_hold_nothing_quoted_are_left_out_and_so_is_what_goes_by_racks(nodes: int) -> None:
    design, made = design_of(nodes), quote(nodes=nodes)
    quoted = {device.rack for device in design.devices if device.role != "client"}
    taken = {
        (device.rack, device.position_u + unit)
        for device in design.devices
        for unit in range(device.rack_units)
        if device.rack in quoted
    }
    free = sum(rack.units for rack in design.racks if rack.name in quoted) - len(taken)
    racks = len(quoted)
    trays = racks if racks > 1 else 0
    assert 0 < racks < len(design.racks)
    assert {name: quantity(made, f"kit/{name}") for name in ("rack-integration", "installation", "cable-tray")} == {
        "rack-integration": racks,
        "installation": racks,
        "cable-tray": trays,
    }
    assert quantity(made, "kit/feed-connection") == quantity(made, "kit/pdu") == 2 * racks
    assert quantity(made, "kit/blanking-panel") == free
    assert (made.counts["rack"], made.counts["free-rack-unit"]) == (racks, free)
    (text,) = findings(made, "scope-client-racks")
    assert text.startswith(f"{len(design.racks) - racks} of {len(design.racks)} racks hold")


def test_the_finding_about_one_rack_is_plain_english() -> None:
    assert findings(quote(), "scope-client-racks") == [
        "1 of 2 racks holds only GPU servers, which are not quoted: it is left out, with all that goes by racks"
    ]


def test_uplinks_of_the_management_switches_are_cables_and_spared_like_them() -> None:
    made = quote()
    uplinks = [line for line in made.lines if line.key in {"kit/uplink-module", "kit/uplink-fibre"}]
    assert [(line.group, line.spare_rate_id) for line in uplinks] == [
        ("cabling", ""), ("cabling", ""), ("spares", "cables"), ("spares", "optics"),
    ]  # fmt: skip


def test_patch_cables_and_management_adapters_are_spared() -> None:
    spared = {line.key for line in quote().lines if line.group == "spares"}
    assert spared >= {"cable/cat6a/3m", "kit/host-adapter/ASG-1115S-NE316R"}


def test_what_a_line_is_counted_by_is_in_the_bill() -> None:
    for made in (quote(), quote(racks=False), quote(nodes=16, clients="servers")):
        for line in made.lines:
            if line.counted_by and not line.parent:
                counted = sum(made.counts[per] for per in line.counted_by)
                assert line.quantity % counted == 0 or " for each " in line.basis


def test_servers_are_bought_full_and_that_is_said() -> None:
    design = design_of(0, "servers")
    plan = plan_of(0)
    asked = plan.model_copy(update={"request": plan.request.model_copy(update={"gpus": 15})})
    made = bill(asked, design, tables=tables_of(load_catalogue()), terms=QuoteTerms(date=DAY))
    assert findings(made, "gpus-rounded") == ["16 GPUs are quoted, 15 were asked for: GPU servers are bought full"]


def test_an_adapter_of_both_sides_is_one_line() -> None:
    plan = plan_of(0)
    same = plan.parts.model_copy(update={"storage_nic": plan.parts.client_nic})
    made = bill(
        plan.model_copy(update={"parts": same}),
        design_of(0),
        tables=tables_of(load_catalogue()),
        terms=QuoteTerms(date=DAY),
    )
    assert [line.quantity_per_parent for line in lines_of(made, "adapter/b3220")] == [2]
    assert quantity(made, "kit/atx-lead/ASG-1115S-NE316R") == 16


def test_a_server_without_a_maker_has_no_part_number() -> None:
    made = quote(nodes=8, clients="servers")
    control = lines_of(made, "chassis/control-1u")
    assert [(line.vendor, line.part_number) for line in control] == [("", "")]
    assert quantity(made, "kit/bmc-licence/control-1u") == BuildOptions().management.control_nodes


# --- spares and terms --------------------------------------------------------------------------------------------


def test_spares_are_a_share_and_at_least_one_and_say_of_what() -> None:
    made = quote()
    spares = {line.key: line for line in made.lines if line.spare_rate_id}
    drive = spares["drive/micron-e3s-7.68"]
    numbers = {line.line: line for line in made.lines}
    assert (drive.quantity, drive.spare_minimum, drive.basis) == (6, 1, "max(1, 4 % of 128)")
    assert [numbers[line].key for line in drive.spare_of] == ["drive/micron-e3s-7.68"]
    assert spares["kit/psu/ASG-1115S-NE316R"].quantity == spares["kit/psu/sn5600"].quantity == 1


def test_leads_of_several_devices_are_spared_together() -> None:
    made = quote()
    lead = next(line for line in made.lines if line.key == "kit/power-lead-c14-a" and line.spare_rate_id)
    rate = next(rate.rate for rate in made.spare_rates if rate.id == "power-leads")
    assert len(lead.spare_of) == 3
    assert lead.quantity == math.ceil(rate * quantity(made, "kit/power-lead-c14-a"))


@pytest.mark.parametrize(("nodes", "spared"), [(4, False), (8, True)])
def test_a_spare_adapter_is_kept_from_eight_on(nodes: int, *, spared: bool) -> None:
    keys = {line.key for line in quote(nodes=nodes).lines if line.group == "spares"}
    assert ("adapter/b3220" in keys) == spared


def test_the_term_asked_for_replaces_every_term() -> None:
    before = {line.key for line in quote().lines if line.term_months}
    after = {line.key: line.term_months for line in quote(support_years=5).lines if line.term_months}
    assert before == set(after)
    assert set(after.values()) == {60}


def test_the_licence_prints_raw_and_usable_capacity() -> None:
    (licence,) = lines_of(quote(), "kit/scale-ece")
    assert "983.04 TB raw" in licence.description
    assert "744.46 TB usable" in licence.description
    assert licence.part_number == ""
    assert "to be confirmed by IBM" in licence.note


def test_a_power_distribution_unit_names_the_outlets_that_a_rack_needs() -> None:
    design = design_of(0)
    (pdu,) = lines_of(quote(), "kit/pdu")
    first = [device for device in design.devices if device.rack == design.racks[0].name]
    c13 = sum(-(-device.psu_count // 2) for device in first if device.inlet == "C14")
    assert f"{c13} x C13" in pdu.description
    assert f"{max(rack.power_max_w for rack in design.racks) / 1000:,.1f} kW" in pdu.description


def test_options_are_in_no_count() -> None:
    made = quote()
    options = [line for line in made.lines if line.optional]
    counted = sum(group.lines for group in made.groups)
    assert {line.key for line in options} >= {"kit/scale-client", "kit/support-adapter", "kit/bracket", "kit/training"}
    assert counted == sum(line.priced and not line.optional for line in made.lines)
    assert made.total == Decimal(0)


# --- what is open ------------------------------------------------------------------------------------------------


def test_a_part_number_that_nobody_confirmed_says_how_it_is_known() -> None:
    made = quote()
    known = {line.key: line.part_number_known for line in made.lines}
    assert known["adapter/b3220"] == "confirmed"
    assert known["switch/sn5600"] == "listing"
    assert known["cable/mcp4y10/1m"] == "pattern"
    assert known["drive/micron-e3s-7.68"] == ""
    (text,) = findings(made, "part-number-open")
    assert "3 by pattern (cable/mcp4y10/1m, " in text
    assert "1 by listing (switch/sn5600)" in text
    confirmed = {key for key, how in known.items() if how == "confirmed"}
    assert not any(key in text for key in confirmed)


def test_what_may_be_in_the_box_and_what_is_not_cabled_is_said_once() -> None:
    made = quote()
    assert [len(findings(made, name)) for name in ("in-the-box", "pdu-network", "bracket", "licence-metric")] == [1] * 4


def test_a_licence_is_known_by_its_topic_whatever_its_id() -> None:
    tables = tables_of(load_catalogue())
    renamed = tuple(row.model_copy(update={"id": f"our-{row.id}"}) for row in tables.kit)
    made = bill(plan_of(0), design_of(0), tables=replace(tables, kit=renamed), terms=QuoteTerms(date=DAY))
    assert len(findings(made, "licence-metric")) == 1


def test_the_line_of_a_switch_says_what_to_ask_for() -> None:
    (switch,) = lines_of(quote(), "switch/sn5600")
    assert "2 supplies of 3,000 W, inlet C20; name the direction of the air flow when ordering" in switch.note
