"""Where reading back begins to pay off: the published crossings, storms, fleet sizes and speed-ups."""

from __future__ import annotations

import pytest

from kvplan.core.prediction.payoff import (
    amdahl_speedup,
    break_even_engines,
    break_even_hit_share,
    break_even_tokens,
)
from kvplan.core.prediction.prefill import PrefillModel, cold_seconds, suffix_seconds
from kvplan.core.prediction.storm import storm_seconds
from kvplan.core.prediction.warm import EngineCost, engine_seconds, warm_seconds

EIGHT_NODES = 315e9
GPT_OSS = 73_728
LLAMA_70B = 327_680
COST = EngineCost(first_s=0.13, token_s=2.3e-6, step_s=0.0, steps=0)
REDBOOK_COLD = PrefillModel(0.0, 41.36e-6, 1.5836e-9, 1.0, "derived", "IBM Redbook MD260021")


def model(c0_ms: float, a_us: float, b_ns: float) -> PrefillModel:
    return PrefillModel(c0_ms * 1e-3, a_us * 1e-6, b_ns * 1e-9, 1.15, "derived", "aiconfigurator 0.12.0")


H100 = model(37, 16.8, 0.313)


def test_workload_whose_prompts_come_twice_never_gets_the_headline() -> None:
    gains = [amdahl_speedup(share, 22.3) for share in (0.5, 0.8, 0.9, 0.95, 1.0)]
    assert gains == pytest.approx([1.9, 4.2, 7.1, 10.8, 22.3], abs=0.06)
    assert amdahl_speedup(0.0, 22.3) == 1.0


@pytest.mark.parametrize(
    ("engines", "context_bytes", "seconds"),
    [
        (256, 120_000 * GPT_OSS, 7.2),
        (256, 120_000 * GPT_OSS / 2, 3.6),
        (64, 120_000 * GPT_OSS, 1.8),
        (64, 128_000 * LLAMA_70B, 8.5),
    ],
)
def test_storms(engines: int, context_bytes: float, seconds: float) -> None:
    assert storm_seconds(engines, context_bytes, 22.5e9, EIGHT_NODES) == pytest.approx(seconds, rel=0.01)


@pytest.mark.parametrize(
    ("cold", "gpus", "bytes_per_token", "at_32k", "at_128k"),
    [
        (H100, 1, GPT_OSS, 110, 275),
        (model(36, 17.3, 0.313), 1, GPT_OSS, 110, 275),
        (model(13, 14.9, 0.200), 1, GPT_OSS, 79, 192),
        (model(43, 34.5, 0.555), 1, GPT_OSS, 236, 513),
        (model(0, 63.1, 0.483), 4, LLAMA_70B, 323, 546),
        (model(13, 23.5, 0.256), 4, LLAMA_70B, 117, 243),
    ],
    ids=["gpt-oss H100", "gpt-oss H200", "gpt-oss B200", "gpt-oss RTX PRO", "llama H100 TP4", "llama fp8 B200 TP4"],
)
def test_fleet_in_which_fetching_equals_computing(
    cold: PrefillModel, gpus: int, bytes_per_token: int, at_32k: int, at_128k: int
) -> None:
    counts = [
        gpus * break_even_engines(
            cold_seconds(cold, tokens), engine_seconds(COST, tokens), EIGHT_NODES, tokens * bytes_per_token
        )
        for tokens in (32_000, 128_000)
    ]  # fmt: skip
    assert counts == pytest.approx([at_32k, at_128k], rel=0.10)


def test_hit_that_costs_more_than_computing_never_pays_off_for_a_fleet() -> None:
    assert break_even_engines(0.05, 0.13, EIGHT_NODES, 1e9) == 0.0


def test_fits_of_the_redbook_cross_at_3700_tokens() -> None:
    cost = EngineCost(0.1616, 0.0, 0.0, 0)
    assert break_even_tokens(REDBOOK_COLD, cost, 3.142e-6, 1.0) == pytest.approx(3_700, rel=0.01)


def test_both_ways_take_equally_long_at_the_break_even() -> None:
    rate, new = 20e9, 2_000
    tokens = break_even_tokens(H100, COST, GPT_OSS, rate, new)
    assert tokens is not None
    warm = warm_seconds(COST, tokens, (tokens - new) * GPT_OSS / rate, suffix_seconds(H100, tokens, new))
    assert warm == pytest.approx(cold_seconds(H100, tokens))


def test_slower_tier_pays_off_later() -> None:
    found = [break_even_tokens(H100, COST, GPT_OSS, rate) for rate in (50e9, 10e9, 2e9, 0.5e9)]
    lengths = [tokens for tokens in found if tokens is not None]
    assert len(lengths) == len(found)
    assert lengths == sorted(lengths)
    assert lengths[-1] > 100_000


def test_model_without_quadratic_part_may_never_pay_off() -> None:
    linear = model(37, 16.8, 0.0)
    assert break_even_tokens(linear, COST, GPT_OSS, 2e9) is None
    assert break_even_tokens(linear, COST, GPT_OSS, 50e9) == pytest.approx((0.13 - 1.15 * 0.037) / 15.54e-6, rel=0.01)


@pytest.mark.parametrize("quadratic", [0.0, 0.313])
def test_hit_that_costs_less_than_a_request_always_pays_off(quadratic: float) -> None:
    free = EngineCost(0.01, 0.0, 0.0, 0)
    assert break_even_tokens(model(37, 16.8, quadratic), free, 0.0, 50e9, 500) == 500
    # Slightly slower by the token, but never by as much as the request costs.
    assert break_even_tokens(model(37, 16.8, 0.313), free, 20e-6, 1.0) == 0


def test_equal_slopes_leave_the_constant_to_decide() -> None:
    same = PrefillModel(0.1, 1e-6, 0.0, 1.0, "derived", "made up")
    assert break_even_tokens(same, EngineCost(0.05, 1e-6, 0.0, 0), 0.0, 1.0) == 0
    assert break_even_tokens(same, EngineCost(0.20, 1e-6, 0.0, 0), 0.0, 1.0) is None


def test_tier_and_gpus_serve_equally_much_at_the_crossing() -> None:
    tier, computed, share = 1.2e9, 35_000.0, 0.4
    hits = break_even_hit_share(tier, computed, GPT_OSS, share)
    assert computed / (1 - hits) == pytest.approx(tier / (share * hits * GPT_OSS))


def test_local_hits_leave_the_tier_out_of_it() -> None:
    assert break_even_hit_share(1.2e9, 35_000, GPT_OSS, 0.0) == 1.0
