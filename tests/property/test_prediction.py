"""What must hold of every prediction of warm prompts, contention, payoff and flash."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvplan.core.prediction.contention import (
    erlang_c,
    fetch_quantile_seconds,
    fetch_seconds,
    read_beside_writes,
)
from kvplan.core.prediction.flash import eviction_bytes_per_s, files, files_by_chunk, retention_seconds
from kvplan.core.prediction.payoff import (
    amdahl_speedup,
    break_even_engines,
    break_even_hit_share,
    break_even_tokens,
)
from kvplan.core.prediction.prefill import PrefillModel, cold_seconds, suffix_seconds
from kvplan.core.prediction.storm import storm_seconds
from kvplan.core.prediction.warm import EngineCost, warm_seconds

SHARE = st.floats(0.0, 1.0)
LOAD = st.floats(0.0, 0.98)
BYTES = st.floats(1e6, 1e11)
RATE = st.floats(1e8, 1e13)
SERVERS = st.integers(1, 400)
PREFILL = st.builds(
    PrefillModel,
    st.floats(0.0, 0.2),
    st.floats(1e-6, 3e-4),
    st.floats(1e-11, 1e-8),
    st.floats(1.0, 2.5),
    st.just("derived"),
    st.just("drawn"),
)
COST = st.builds(EngineCost, st.floats(0.0, 1.0), st.floats(0.0, 1e-4), st.floats(0.0, 0.1), st.integers(0, 5))


@given(SERVERS, LOAD, LOAD)
def test_more_load_lets_more_of_them_wait(servers: int, one: float, other: float) -> None:
    little, much = sorted((one, other))
    assert 0 <= erlang_c(servers, servers * little) <= erlang_c(servers, servers * much) + 1e-12 <= 1 + 1e-12


@given(SERVERS, LOAD)
def test_one_more_server_lets_fewer_wait(servers: int, load: float) -> None:
    offered = servers * load
    assert erlang_c(servers + 1, offered) <= erlang_c(servers, offered) + 1e-12


@given(BYTES, RATE, RATE, LOAD, LOAD)
def test_busier_tier_is_never_faster(size: float, stream: float, tier: float, one: float, other: float) -> None:
    little, much = sorted((one, other))
    alone = size / min(stream, tier)
    means = [fetch_seconds(size, stream, tier, load) for load in (little, much)]
    tails = [fetch_quantile_seconds(size, stream, tier, load) for load in (little, much)]
    assert alone <= means[0] <= means[1] * (1 + 1e-9)
    assert alone <= tails[0] <= tails[1] * (1 + 1e-9)


@given(BYTES, RATE, RATE, LOAD, st.floats(0.01, 100.0))
def test_twice_the_bytes_take_twice_the_time(
    size: float, stream: float, tier: float, load: float, factor: float
) -> None:
    once, scaled = (fetch_seconds(by * size, stream, tier, load) for by in (1.0, factor))
    assert scaled == pytest.approx(factor * once)


@given(BYTES, RATE, RATE, LOAD)
def test_twice_all_rates_halve_the_time(size: float, stream: float, tier: float, load: float) -> None:
    twice = fetch_seconds(size, 2 * stream, 2 * tier, load)
    assert twice == pytest.approx(fetch_seconds(size, stream, tier, load) / 2)


@given(RATE, RATE, RATE, SHARE)
def test_writes_never_add_to_reads(read: float, write: float, limit: float, interference: float) -> None:
    assert 0 <= read_beside_writes(read, write, limit, interference) <= read


@given(SHARE, SHARE, st.floats(1.0, 1000.0))
def test_whole_gains_at_most_what_a_hit_gains(one: float, other: float, speedup: float) -> None:
    few, many = sorted((one, other))
    gains = [amdahl_speedup(share, speedup) for share in (few, many)]
    assert 1 - 1e-9 <= gains[0] <= gains[1] * (1 + 1e-9)
    assert gains[1] <= speedup * (1 + 1e-9)


@given(PREFILL, COST, st.floats(1e3, 1e6), st.floats(1e8, 1e11), st.integers(0, 5_000))
def test_reading_back_wins_beyond_the_break_even(
    model: PrefillModel, cost: EngineCost, per_token: float, rate: float, new: int
) -> None:
    def saved(tokens: float) -> float:
        fetch = (tokens - new) * per_token / rate
        return cold_seconds(model, tokens) - warm_seconds(cost, tokens, fetch, suffix_seconds(model, tokens, new))

    tokens = break_even_tokens(model, cost, per_token, rate, new)
    assert tokens is not None
    assert tokens >= new
    assert saved(tokens * 1.01 + 1) > 0
    if tokens > new:
        assert saved(tokens) == pytest.approx(0, abs=1e-9 * max(1.0, cold_seconds(model, tokens)))


@given(st.floats(0.01, 100.0), st.floats(0.0, 1.0), RATE, BYTES)
def test_break_even_fleet_waits_as_long_as_it_would_compute(
    cold: float, fixed: float, tier: float, size: float
) -> None:
    engines = break_even_engines(cold, fixed, tier, size)
    if engines:
        storm = storm_seconds(engines, size, math.inf, tier)
        assert fixed + storm == pytest.approx(cold)
    else:
        assert cold <= fixed


@given(RATE, st.floats(1e2, 1e7), st.floats(1e3, 1e6), SHARE)
def test_crossing_is_a_share_that_falls_with_what_is_shared(
    tier: float, computed: float, per_token: float, share: float
) -> None:
    assert 0 < break_even_hit_share(tier, computed, per_token) <= break_even_hit_share(tier, computed, per_token, share)
    assert break_even_hit_share(tier, computed, per_token, share) <= 1


@given(st.floats(1e12, 1e17), st.floats(0.1, 1.0), RATE)
def test_what_is_written_while_context_stays_fills_the_tier(usable: float, mark: float, write: float) -> None:
    assert retention_seconds(usable, mark, write) * write == pytest.approx(mark * usable)


@given(st.floats(0.0, 1e13), st.floats(1e12, 1e17), st.floats(0.5, 1.0), st.floats(0.1, 0.5), st.floats(60.0, 86_400.0))
def test_eviction_outruns_writes(write: float, usable: float, high: float, low: float, purge: float) -> None:
    assert eviction_bytes_per_s(write, usable, high, low, purge) >= write


@given(st.floats(0.0, 1e16), st.integers(1, 4096), st.floats(1e3, 1e6), st.integers(1, 8))
def test_files_hold_what_is_stored(stored: float, chunk: int, per_token: float, ranks: int) -> None:
    (row,) = files_by_chunk((chunk,), per_token, stored, 1e9, ranks)
    assert row.files == files(stored, row.file_bytes)
    assert row.files * row.file_bytes >= stored * (1 - 1e-12)
    assert (row.files - 1) * row.file_bytes < stored or not row.files
