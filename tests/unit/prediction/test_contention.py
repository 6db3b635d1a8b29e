"""Fetches from a busy tier against an event simulation of it, and what back ends and writes leave of the rate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from kvplan.catalogue.loader import load_catalogue
from kvplan.catalogue.tables import BACKENDS
from kvplan.core.prediction.contention import (
    data_path,
    erlang_c,
    fetch_quantile_seconds,
    fetch_seconds,
    read_beside_writes,
    stream_rate,
)
from kvplan.core.sizing.buys import planned_read
from kvplan.schema.software import Stream

if TYPE_CHECKING:
    from kvplan.schema.software import CacheBackend

# 120,000 tokens of gpt-oss-120b over a 200 Gb/s link at 90 % from eight nodes, simulated with exact processor sharing.
FETCH = (120_000 * 73_728, 22.5e9, 315e9)
SIMULATED = [(0.5, 0.394, 0.42), (0.7, 0.407, 0.58), (0.8, 0.441, 0.83), (0.9, 0.560, 1.48), (0.95, 0.845, 2.6)]
EXPONENTIAL_P99 = [(0.5, 1.8), (0.7, 1.9), (0.8, 2.1)]


@pytest.mark.parametrize(
    ("servers", "offered", "waiting"), [(1, 0.7, 0.7), (2, 1.0, 1 / 3), (5, 4.0, 0.5541), (10, 8.0, 0.4092)]
)
def test_erlang_c_is_that_of_the_textbooks(servers: int, offered: float, waiting: float) -> None:
    assert erlang_c(servers, offered) == pytest.approx(waiting, abs=5e-5)


def test_everybody_waits_where_as_much_is_offered_as_is_served() -> None:
    assert erlang_c(4, 4.0) == erlang_c(4, 7.0) == 1.0


def test_thousands_of_streams_do_not_overflow() -> None:
    assert 0 < erlang_c(5000, 4950.0) < 1


@pytest.mark.parametrize(("load", "mean"), [(load, mean) for load, mean, _ in SIMULATED])
def test_mean_fetch_is_that_of_the_simulation(load: float, mean: float) -> None:
    assert fetch_seconds(*FETCH, load) == pytest.approx(mean, rel=0.02)


@pytest.mark.parametrize(("load", "p99"), [(load, p99) for load, _, p99 in SIMULATED])
def test_slowest_fetch_of_a_hundred_is_that_of_the_simulation(load: float, p99: float) -> None:
    assert fetch_quantile_seconds(*FETCH, load) == pytest.approx(p99, rel=0.15)


@pytest.mark.parametrize(("load", "p99"), EXPONENTIAL_P99)
def test_tail_of_mixed_lengths_is_the_fetch_of_a_long_one(load: float, p99: float) -> None:
    size, stream, tier = FETCH
    assert fetch_seconds(size * math.log(100), stream, tier, load) == pytest.approx(p99, rel=0.05)


def test_one_stream_as_fast_as_the_tier_queues_as_with_one_server() -> None:
    assert fetch_seconds(100e9, 100e9, 100e9, 0.5) == pytest.approx(2.0)
    assert fetch_seconds(100e9, 400e9, 100e9, 0.5) == pytest.approx(2.0)


def test_whole_number_of_streams_is_not_lost_to_rounding() -> None:
    thirds = fetch_seconds(1e9, 0.1e9, 0.3e9, 0.8)
    assert thirds == pytest.approx(10 * (1 + erlang_c(3, 2.4) / (3 * 0.2)))


def test_idle_tier_takes_what_the_link_takes() -> None:
    alone = FETCH[0] / FETCH[1]
    assert fetch_seconds(*FETCH, 0.0) == fetch_quantile_seconds(*FETCH, 0.0) == alone
    assert fetch_quantile_seconds(*FETCH, 0.3) == alone


def test_overloaded_tier_never_answers() -> None:
    assert fetch_seconds(*FETCH, 1.0) == fetch_quantile_seconds(*FETCH, 1.2) == math.inf


def test_higher_quantile_waits_longer() -> None:
    times = [fetch_quantile_seconds(*FETCH, 0.9, quantile) for quantile in (0.5, 0.9, 0.99, 0.999)]
    assert times == sorted(times)
    assert times[0] < times[1]


def test_reads_are_planned_at_a_share_of_what_writes_leave() -> None:
    constants = load_catalogue().constants()
    interference = constants["tier.write_interference"].value
    left = read_beside_writes(315e9, 50e9, 150e9, interference)
    assert left == pytest.approx(210e9)
    assert planned_read(left, 315e9, constants["guidance.planned_read_share"].value) == pytest.approx(147e9)


def test_more_writes_than_the_tier_takes_leave_no_reads() -> None:
    assert read_beside_writes(315e9, 200e9, 150e9, 1.0) == 0.0


def backend(gpudirect: str, *streams: Stream) -> CacheBackend:
    return load_catalogue().backend("lmcache-fs").model_copy(update={"gpudirect": gpudirect, "streams": streams})


@pytest.mark.parametrize(
    ("offered", "wanted", "path"),
    [
        ("no", True, "bounce"),
        ("yes", True, "gpudirect"),
        ("yes", False, "bounce"),
        ("reads-and-writes-optional", True, "gpudirect"),
    ],
)
def test_path_needs_a_back_end_and_a_server_that_can(offered: str, wanted: bool, path: str) -> None:  # noqa: FBT001
    assert data_path(backend(offered), gpudirect=wanted) == path


def test_stream_is_the_least_of_link_back_end_and_copy() -> None:
    seen = Stream(path="bounce", bytes_per_s=40e9, setup="here", source="us", confidence="measured")
    assert stream_rate(57e9, backend("yes", seen), "bounce", 50e9) == 40e9
    assert stream_rate(57e9, backend("yes", seen), "gpudirect", 50e9) == 57e9
    assert stream_rate(57e9, backend("yes"), "bounce", 50e9) == 50e9
    assert stream_rate(30e9, backend("yes", seen), "bounce", 50e9) == 30e9


def test_each_cap_and_step_of_the_catalogue_says_where_it_was_seen() -> None:
    rows = load_catalogue().records(BACKENDS)
    streams = [stream for row in rows for stream in row.streams]
    steps = [row.load_steps for row in rows if row.load_steps]
    assert {row.id: row.load_steps.steps for row in rows if row.load_steps} == {"vllm-fs": 3, "llmd-fs": 1}
    assert streams
    assert all(stream.setup and stream.source for stream in streams)
    assert all(step.source for step in steps)
    assert all(row.gpudirect != "no" or all(stream.path == "bounce" for stream in row.streams) for row in rows)
