"""What must hold of every erasure-code geometry."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from kvplan.core.ece.codes import CODES, ErasureCode
from kvplan.core.ece.endurance import endurance
from kvplan.core.ece.example import EXAMPLE
from kvplan.core.ece.geometry import geometry
from kvplan.core.ece.groups import recovery_group_nodes
from kvplan.core.ece.tolerance import fault_tolerance
from kvplan.units import MIB

if TYPE_CHECKING:
    from kvplan.core.ece.layout import GeometryInput

CODE = st.sampled_from(sorted(CODES))
BLOCK = st.sampled_from([1, 2, 4, 8, 16]).map(lambda mib: mib * MIB)


@st.composite
def inputs(draw: st.DrawFn, least_drives: int = 1, most_nodes: int = 256) -> GeometryInput:
    """Draw a geometry with default spares."""
    return replace(
        EXAMPLE,
        nodes=draw(st.integers(1, most_nodes)),
        drives_per_node=draw(st.integers(least_drives, 64)),
        drive_bytes=draw(st.integers(10**12, 61 * 10**12)),
        code=draw(CODE),
        block_bytes=draw(BLOCK),
    )


@given(inputs())
def test_usable_stays_below_what_the_code_leaves(asked: GeometryInput) -> None:
    tier = geometry(asked)
    assert 0 <= tier.usable_bytes < tier.raw_bytes * tier.code_efficiency


@given(inputs(least_drives=8))
def test_another_node_never_takes_capacity(asked: GeometryInput) -> None:
    """From 8 drives a node: with fewer, two small groups keep more spares than one large group saves."""
    assert geometry(replace(asked, nodes=asked.nodes + 1)).usable_bytes >= geometry(asked).usable_bytes


@given(inputs(most_nodes=8))
def test_another_drive_never_takes_capacity(asked: GeometryInput) -> None:
    """Within one recovery group: 8 nodes of up to 64 drives are at most 512 pdisks."""
    if asked.drives_per_node < 64:
        more = replace(asked, drives_per_node=asked.drives_per_node + 1)
        assert geometry(more).usable_bytes >= geometry(asked).usable_bytes


@given(inputs(), st.integers(0, 40))
def test_fewer_spares_never_take_capacity(asked: GeometryInput, spares: int) -> None:
    fewer, more = (geometry(replace(asked, spare_pdisks=count)) for count in (spares, spares + 1))
    assert fewer.usable_bytes >= more.usable_bytes


@given(inputs())
def test_twice_the_drive_holds_twice_as_much_or_a_little_more(asked: GeometryInput) -> None:
    """Fixed reserves weigh less on larger drives; partitions, which double with the drive, weigh the same."""
    single, double = (geometry(replace(asked, drive_bytes=asked.drive_bytes * factor)) for factor in (1, 2))
    assert double.usable_bytes >= 2 * single.usable_bytes
    assert double.raw_bytes == 2 * single.raw_bytes


@given(st.integers(1, 400), st.integers(1, 64))
def test_groups_are_even_and_complete(nodes: int, drives: int) -> None:
    groups = recovery_group_nodes(nodes, drives, EXAMPLE.release)
    assert sum(groups) == nodes
    assert max(groups) - min(groups) <= 1
    assert max(groups) <= 32
    assert max(groups) * drives <= 512


@given(CODE, st.integers(1, 31))
def test_another_node_never_takes_tolerance(code: ErasureCode, nodes: int) -> None:
    fewer, more = fault_tolerance(code, nodes), fault_tolerance(code, nodes + 1)
    assert (more.node_failures, more.further_device_failures) >= (fewer.node_failures, fewer.further_device_failures)
    assert fewer.node_failures * fewer.strips_per_node + fewer.further_device_failures == code.parity


@given(CODE, st.integers(1, 32))
def test_alternatives_survive_more(code: ErasureCode, nodes: int) -> None:
    now = fault_tolerance(code, nodes)
    for other in now.alternatives:
        survived = (other.node_failures, other.further_device_failures)
        assert survived > (now.node_failures, now.further_device_failures)
        assert (other.nodes > nodes) == (other.erasure_code == code.name)


@given(CODE, st.floats(1e6, 1e12), st.floats(1, 5), st.floats(0.1, 10))
def test_endurance_is_within_rating_exactly_when_the_rate_is_allowed(
    code: ErasureCode, write_bytes_per_s: float, amplification: float, rated: float
) -> None:
    wear = endurance(10**15, code, rated, write_bytes_per_s, amplification)
    by_rate = write_bytes_per_s / wear.allowed_write_bytes_per_s
    by_wear = wear.demanded_drive_writes_per_day / rated
    assert abs(by_rate - by_wear) <= 1e-9 * by_rate
