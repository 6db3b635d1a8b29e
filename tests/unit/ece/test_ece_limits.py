"""Limits of a geometry: each holds up to its bound and breaks beyond it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from kvplan.core.ece.codes import parse_code
from kvplan.core.ece.example import EXAMPLE
from kvplan.core.ece.geometry import geometry
from kvplan.core.ece.judge import judge
from kvplan.units import KIB, MIB, TB

if TYPE_CHECKING:
    from kvplan.core.ece.layout import GeometryInput
    from kvplan.schema.ece import Limit


def _limits(asked: GeometryInput) -> dict[str, Limit]:
    """Name the limits of a geometry."""
    return {limit.name: limit for limit in geometry(asked).limits}


# Name, what holds, what breaks it, severity.
BOUNDS: tuple[tuple[str, dict[str, Any], dict[str, Any], str], ...] = (
    ("servers_per_group_min", {"nodes": 3}, {"nodes": 2}, "error"),
    ("drives_per_server", {"drives_per_node": 64}, {"drives_per_node": 65}, "error"),
    ("pdisks_per_group", {"drives_per_node": 512}, {"drives_per_node": 513}, "error"),
    ("servers_total", {"nodes": 256}, {"nodes": 257}, "error"),
    ("servers_total_advised", {"nodes": 128}, {"nodes": 129}, "warning"),
    ("array_width", {"nodes": 6, "drives_per_node": 3, "spare_pdisks": 8}, {"spare_pdisks": 119}, "error"),
    ("large_array", {"nodes": 4, "drives_per_node": 3}, {"nodes": 3, "drives_per_node": 3}, "error"),
    ("log_home_drive", {"drive_bytes": 500 * 2**30}, {"drive_bytes": 500 * 2**30 - 1}, "error"),
    ("data_space", {"spare_pdisks": 117}, {"spare_pdisks": 128}, "error"),
    ("block_min", {"block_bytes": 512 * KIB}, {"block_bytes": 256 * KIB}, "error"),
    ("block_max", {"block_bytes": 16 * MIB}, {"block_bytes": 32 * MIB}, "error"),
    ("block_power_of_two", {"block_bytes": 2 * MIB}, {"block_bytes": 3 * MIB}, "error"),
    ("block_on_flash", {"block_bytes": 4 * MIB}, {"block_bytes": 8 * MIB}, "warning"),
    ("recommended_nodes", {"nodes": 10}, {"nodes": 9}, "warning"),
    ("spares_for_a_node", {"spare_pdisks": 16}, {"spare_pdisks": 15}, "warning"),
)


@pytest.mark.parametrize(("name", "within", "beyond", "severity"), BOUNDS)
def test_bound(name: str, within: dict[str, Any], beyond: dict[str, Any], severity: str) -> None:
    assert _limits(replace(EXAMPLE, **within))[name].holds
    broken = _limits(replace(EXAMPLE, **beyond))[name]
    assert not broken.holds
    assert broken.severity == severity
    assert broken.margin is not None
    assert broken.margin < 0


def test_every_limit_says_why() -> None:
    for limit in _limits(EXAMPLE).values():
        assert limit.text
        assert limit.source
        assert limit.unit


def test_virtual_disks_page_8_plus_3_with_2_spares_needs_13_drives() -> None:
    """https://www.ibm.com/docs/en/storage-scale-ece/6.0.0?topic=disks-virtual."""
    limit = _limits(replace(EXAMPLE, code=parse_code("8+3P"), spare_pdisks=2))["array_width"]
    assert limit.need == 13


def test_narrow_codes_stop_at_8_mib() -> None:
    asked = replace(EXAMPLE, code=parse_code("4+2P"), block_bytes=16 * MIB)
    limit = _limits(asked)["block_max"]
    assert not limit.holds
    assert limit.text == "vdisks of 4+2P have blocks of 512 KiB to 8 MiB"
    assert geometry(asked).usable_bytes > 0


def test_wide_codes_have_no_advice_for_flash() -> None:
    limits = _limits(replace(EXAMPLE, code=parse_code("16+3P"), nodes=19, block_bytes=16 * MIB))
    assert "block_on_flash" not in limits
    assert limits["recommended_nodes"].holds


@pytest.mark.parametrize(("code", "strips"), [("16+2P", 18), ("16+3P", 19)])
def test_without_a_published_row_each_strip_wants_a_node_of_its_own(code: str, strips: int) -> None:
    """IBM's ECE 5.2 recommendations, as quoted in wutz/k8s-in-action, have no row for 16+2P and 16+3P."""
    derived = "derived: one strip a node; IBM publishes no row for 16+xP"
    for nodes in (16, strips - 1, strips, 32):
        limit = _limits(replace(EXAMPLE, code=parse_code(code), nodes=nodes))["recommended_nodes"]
        assert (limit.need, limit.have, limit.holds) == (strips, nodes, nodes >= strips)
        named = "4+2P, 4+3P, 8+2P, 8+3P"
        assert limit.text == f"{derived}; {code} has {strips} strips; on {nodes} nodes IBM names {named}"
        assert limit.source == derived


def test_a_published_row_is_credited_to_its_page() -> None:
    limit = _limits(EXAMPLE)["recommended_nodes"]
    assert limit.text == "IBM recommends 8+2P from 10 nodes; on 8 nodes IBM names 4+2P, 4+3P, 8+3P"
    assert limit.source.endswith("storage-scale-ece/5.2.3?topic=selection-recommendations")


def test_three_nodes_are_for_replication() -> None:
    limit = _limits(replace(EXAMPLE, nodes=3, code=parse_code("4+3P")))["recommended_nodes"]
    assert limit.text == "IBM recommends 4+3P from 4 nodes; on 3 nodes IBM names replication only"


def test_rack_failure_domains_come_with_a_later_release() -> None:
    """https://www.ibm.com/docs/en/storage-scale-ece/6.0.1?topic=selection-noderack-distribution-considerations."""
    assert not _limits(EXAMPLE)["rack_failure_domains"].holds
    later = EXAMPLE.release.model_copy(update={"version": "6.0.1.0", "rack_failure_domains": True})
    assert _limits(replace(EXAMPLE, release=later))["rack_failure_domains"].holds


def test_a_release_may_lack_a_code() -> None:
    older = EXAMPLE.release.model_copy(update={"erasure_codes": ("4+2p", "8+2p")})
    assert _limits(replace(EXAMPLE, release=older))["code_in_release"].holds
    assert not _limits(replace(EXAMPLE, release=older, code=parse_code("8+3P")))["code_in_release"].holds


def test_nothing_needed_has_no_margin() -> None:
    limit = judge("spares", 0, 4, "drives", text="", source="")
    assert limit.holds
    assert limit.margin is None


def test_small_drives_leave_nothing_for_data() -> None:
    tier = geometry(replace(EXAMPLE, drives_per_node=2, drive_bytes=TB // 20, spare_pdisks=0))
    assert tier.usable_bytes == 0
    assert not next(limit for limit in tier.limits if limit.name == "data_space").holds


def test_limits_that_bound_from_above_say_so() -> None:
    above = {name for name, limit in _limits(EXAMPLE).items() if limit.bound == "most"}
    assert above == {
        "servers_per_group_max",
        "pdisks_per_group",
        "drives_per_server",
        "servers_total",
        "servers_total_advised",
        "block_max",
        "block_on_flash",
    }
