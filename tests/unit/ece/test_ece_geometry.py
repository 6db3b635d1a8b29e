"""The geometry record: groups, impossible requests, JSON, speed of repeated questions."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kvplan.core.ece.codes import ErasureCode, parse_code
from kvplan.core.ece.example import EXAMPLE
from kvplan.core.ece.geometry import geometry
from kvplan.core.ece.groups import recovery_group_nodes
from kvplan.errors import InputError
from kvplan.units import TB


@pytest.mark.parametrize(
    ("nodes", "drives", "groups"),
    [
        (3, 16, (3,)),
        (32, 16, (32,)),
        (33, 16, (17, 16)),
        (65, 16, (22, 22, 21)),
        (256, 16, (32,) * 8),
        (22, 24, (11, 11)),
        (9, 64, (5, 4)),
        (2, 600, (1, 1)),
    ],
)
def test_groups(nodes: int, drives: int, groups: tuple[int, ...]) -> None:
    """At most 32 servers and 512 drives in a group; 24-drive nodes therefore stop at 21."""
    assert recovery_group_nodes(nodes, drives, EXAMPLE.release) == groups


def test_the_reference_system() -> None:
    """IBM Redbook MD260021: 8 x 16 x 7.68 TB = 983 TB raw under 8+2P, 80 %."""
    tier = geometry(EXAMPLE)
    assert tier.raw_bytes == 983_040_000_000_000
    assert tier.code_efficiency == 0.8
    assert tier.usable_fraction == pytest.approx(0.757, abs=0.0005)
    assert tier.recovery_groups == 1
    assert tier.spare_pdisks == 4
    assert tier.partition_bytes == 4 * 2**30
    assert tier.checksum_granularity_bytes == 8192


def test_several_groups_add_up() -> None:
    code = parse_code("8+2P")
    whole, left, right = (geometry(replace(EXAMPLE, nodes=nodes, code=code)) for nodes in (33, 17, 16))
    assert whole.usable_bytes == left.usable_bytes + right.usable_bytes
    assert whole.nodes_per_recovery_group == (17, 16)
    assert whole.pdisks_per_recovery_group == (272, 256)
    assert whole.spare_pdisks_per_recovery_group == (8, 8)
    assert whole.spare_pdisks == 16


def test_the_smallest_group_decides_tolerance() -> None:
    tier = geometry(replace(EXAMPLE, nodes=37, code=parse_code("16+3P")))
    assert tier.nodes_per_recovery_group == (19, 18)
    assert tier.fault_tolerance.node_failures == 1


def test_spares_are_asked_per_group() -> None:
    assert geometry(replace(EXAMPLE, nodes=64, spare_pdisks=5)).spare_pdisks == 10


@pytest.mark.parametrize(
    ("nodes", "drives", "broken"),
    [
        (1, 16, "servers_per_group_min"),
        (2, 16, "servers_per_group_min"),
        (4, 3, "array_width"),
        (4, 600, "pdisks_per_group"),
    ],
)
def test_impossible_is_a_broken_limit_and_no_capacity(nodes: int, drives: int, broken: str) -> None:
    tier = geometry(replace(EXAMPLE, nodes=nodes, drives_per_node=drives, code=parse_code("8+3P")))
    assert tier.usable_bytes == 0
    assert tier.usable_fraction == 0
    limit = next(limit for limit in tier.limits if limit.name == broken)
    assert not limit.holds
    assert limit.severity == "error"


def test_every_value_out_of_range_is_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        replace(
            EXAMPLE,
            nodes=0,
            drives_per_node=-1,
            drive_bytes=0,
            block_bytes=0,
            spare_pdisks=-1,
            set_size_percent=101,
            code=ErasureCode(5, 1),
        )
    keys = [problem.key for problem in caught.value.problems]
    assert keys == [
        "nodes",
        "drives_per_node",
        "drive_bytes",
        "block_bytes",
        "spare_pdisks",
        "set_size_percent",
        "code",
    ]


def test_json_holds_what_storage_engineers_read() -> None:
    document = json.loads(geometry(EXAMPLE).model_dump_json())
    assert document["raw_bytes"] == 128 * 7_680_000_000_000
    assert 0 < document["usable_fraction"] < document["code_efficiency"]
    assert document["usable_bytes"] == pytest.approx(744.5 * TB, rel=0.01)
    assert document["fault_tolerance"]["node_failures"] == 1
    assert document["fault_tolerance"]["further_device_failures"] == 0
    assert document["recovery_groups"] == 1
    assert document["spare_pdisks"] == 4
    assert {"name", "need", "have", "unit", "margin", "holds"} <= document["limits"][0].keys()


def test_equal_questions_are_answered_once() -> None:
    assert geometry(EXAMPLE) is geometry(replace(EXAMPLE))
