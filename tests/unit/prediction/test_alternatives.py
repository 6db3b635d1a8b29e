"""Other back ends beside the planned one: shares, nodes, losses, and what is not known."""

from __future__ import annotations

import json

import pytest
from support import plan_for

from kvplan import load_catalogue
from kvplan.catalogue.tables import ALTERNATIVES
from kvplan.core.prediction.alternatives import comparisons, nodes_needed, usable_share
from kvplan.reference import PLAN
from kvplan.render.alternatives_view import UNKNOWN, alternatives_view
from kvplan.render.text import view_text
from kvplan.units import GIB

ROWS = load_catalogue().records(ALTERNATIVES)
BY_ID = {row.id: row for row in ROWS}
FOUND = {item.id: item for item in comparisons(PLAN, ROWS)}


def test_the_alternatives_that_people_name_are_there() -> None:
    assert set(BY_ID) >= {"storage-scale-ece", "ceph-6-2", "ceph-8-3", "lustre", "daos", "ddn-ai400x3m"}
    assert [row.id for row in ROWS if row.from_plan] == ["storage-scale-ece"]


@pytest.mark.parametrize(
    ("name", "share"), [("ceph-6-2", 0.75 * 0.85), ("ceph-8-3", 8 / 11 * 0.85), ("lustre", 0.8), ("daos", 0.8)]
)
def test_usable_share_follows_the_code_and_the_fill_limit(name: str, share: float) -> None:
    assert usable_share(BY_ID[name]) == pytest.approx(share)
    assert FOUND[name].usable_share == pytest.approx(share)


def test_the_planned_tier_shows_the_figures_of_the_plan() -> None:
    planned, profile = FOUND["storage-scale-ece"], PLAN.profile
    assert (planned.nodes, planned.raw_bytes, planned.usable_bytes) == (8, profile.raw_bytes, profile.usable_bytes)
    assert planned.read_bytes_per_s == profile.read_bytes_per_s
    assert planned.keeps_without == profile.fault_tolerance.node_failures
    assert planned.scheme.startswith("8+2P")


def test_the_others_hold_at_least_what_the_plan_holds() -> None:
    node = PLAN.profile.drives_per_node * PLAN.profile.drive_bytes
    for name in ("ceph-6-2", "ceph-8-3", "lustre", "daos"):
        item = FOUND[name]
        assert item.nodes is not None
        assert item.usable_share is not None
        assert item.nodes * node * item.usable_share >= PLAN.profile.usable_bytes
        assert item.raw_bytes == pytest.approx(PLAN.profile.usable_bytes / item.usable_share, abs=1)


def test_a_strip_of_a_stripe_has_a_node_of_its_own() -> None:
    """One byte takes k + m nodes where nodes are the failure domain, and one node where drives are."""
    assert [nodes_needed(BY_ID[name], 1, 10**14) for name in ("ceph-6-2", "ceph-8-3", "daos", "lustre")] == [
        8,
        11,
        10,
        1,
    ]


def test_ceph_stops_before_it_loses_data() -> None:
    """Red Hat Ceph Storage: min_size is k + 1."""
    assert (FOUND["ceph-8-3"].serves_without, FOUND["ceph-8-3"].keeps_without) == (2, 3)
    assert (FOUND["daos"].serves_without, FOUND["daos"].keeps_without) == (2, 2)


def test_the_ceph_rate_is_the_published_one_by_host() -> None:
    """'Ceph: A Journey to 1 TiB/s': 547 GiB/s of 630 OSDs, ten a host, with 6+2."""
    assert BY_ID["ceph-6-2"].read_bytes_per_s_per_node == pytest.approx(547 * GIB / 63, rel=1e-4)
    nodes = FOUND["ceph-6-2"].nodes
    assert nodes is not None
    assert FOUND["ceph-6-2"].read_bytes_per_s == pytest.approx(nodes * 547 * GIB / 63, rel=1e-4)


def test_what_nobody_published_stays_open() -> None:
    item = FOUND["ddn-ai400x3m"]
    assert (item.usable_share, item.raw_bytes, item.nodes, item.read_bytes_per_s) == (None, None, None, None)
    assert json.loads(item.model_dump_json())["read_bytes_per_s"] is None
    for row in ROWS:
        assert (row.read_bytes_per_s_per_node is None) or row.read_source, row.id
        assert (row.data_strips is None) == (row.parity_strips is None), row.id


def test_more_capacity_never_takes_fewer_nodes() -> None:
    for row in ROWS:
        counts = [nodes_needed(row, usable, 10**14) for usable in (10**12, 10**14, 10**15, 10**16)]
        known = [count for count in counts if count is not None]
        assert known == sorted(known)


def test_the_view_says_what_is_not_known_and_marks_the_plan() -> None:
    text = view_text(alternatives_view(PLAN, ROWS), width=120)
    row = next(line for line in text.splitlines() if line.lstrip("> ").startswith("ddn-ai400x3m"))
    assert row.count(UNKNOWN) == 6
    assert text.count("\n>  storage-scale-ece") == 2
    assert "Ceph: A Journey to 1 TiB/s" in text


def test_the_view_follows_the_plan() -> None:
    larger = plan_for(gpus=400)
    text = view_text(alternatives_view(larger, ROWS), width=120)
    assert "16 " in next(line for line in text.splitlines() if line.startswith(">  storage-scale-ece"))


def test_without_the_planned_row_nothing_is_marked() -> None:
    text = view_text(alternatives_view(PLAN, ROWS[1:]), width=120)
    assert "\n>" not in text
