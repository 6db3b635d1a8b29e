"""What a workload asks of a tier: the published table, the worked examples, the traced figures."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from workload_cases import B200, BURST, DEEPSEEK, GPT_OSS, H200, LLAMA_A100, LLAMA_B200, LLAMA_H100, RTX_PRO, preset

from kvplan.core.prediction.prefill import suffix_seconds
from kvplan.core.sizing.workload import (
    Served,
    arrival_rate,
    cold_gpu_seconds,
    kv_production,
    shape,
    warm_gpu_seconds,
    with_overrides,
)
from kvplan.core.sizing.workload_demand import sustained_requests, workload_load
from kvplan.core.sizing.workload_spread import lognormal, share_below, value_at
from kvplan.core.sizing.workload_tiers import g4_share, resident_bytes, routed_share
from kvplan.schema.workload import Spread, Workload, exclusive

ALL_FROM_G4 = {"g4_share": 1.0}

# Read bandwidth [GB/s] a GPU with every hit from the tier, at 70 % busy: chat, rag, agent, docqa; and the
# inter-token latency that the table was made with.
TABLE = {
    "gpt-oss-120b RTX PRO 6000": (RTX_PRO, 0.015, (0.54, 1.95, 7.4, 18.8)),
    "gpt-oss-120b H100/H200": (H200, 0.015, (0.74, 3.0, 10.2, 22.5)),
    "gpt-oss-120b B200": (B200, 0.015, (0.88, 3.8, 12.9, 27.5)),
    "Llama-70B bf16 TP4 H100": (LLAMA_H100, 0.020, (0.45, 1.7, 7.5, 20)),
    "Llama-70B FP8 TP4 B200": (LLAMA_B200, 0.020, (0.71, 3.0, 10.8, 23)),
    "Llama-70B bf16 TP4 A100": (LLAMA_A100, 0.020, (0.23, 0.70, 3.2, 11)),
    "DeepSeek-V3 TP8 H200": (DEEPSEEK, 0.020, (0.06, 0.23, 0.8, 1.9)),
}
CASES = [
    pytest.param(model, itl, name, expected, id=f"{system}-{name}")
    for system, (model, itl, row) in TABLE.items()
    for name, expected in zip(("chat", "rag", "agent", "docqa"), row, strict=True)
]


@pytest.mark.parametrize(("model", "itl", "name", "expected"), CASES)
def test_the_published_table_of_reads_a_gpu(model: Served, itl: float, name: str, expected: float) -> None:
    load = workload_load(preset(name, itl_s=itl, **ALL_FROM_G4), 64, model, BURST)
    assert load.read_bytes_per_s / 64 / 1e9 == pytest.approx(expected, rel=0.10)


@pytest.mark.parametrize(
    ("model", "tokens", "expected"),
    [
        (RTX_PRO, 8_000, 1.4),
        (H200, 8_000, 2.6),
        (H200, 32_000, 2.3),
        (H200, 64_000, 1.7),
        (H200, 128_000, 1.1),
        (B200, 32_000, 3.0),
        (LLAMA_H100, 8_000, 1.06),
        (LLAMA_H100, 128_000, 0.57),
        (LLAMA_A100, 32_000, 0.34),
        (DEEPSEEK, 32_000, 0.16),
    ],
)
def test_what_recompute_is_worth(model: Served, tokens: int, expected: float) -> None:
    production = kv_production(preset("chat", prompt_tokens=tokens), model)
    assert production / 1e9 == pytest.approx(expected, rel=0.10)


def test_a_constant_request_costs_what_the_prefill_model_says() -> None:
    agent = preset("agent")
    expected = H200.prefill.derate * H200.prefill.c0_s + suffix_seconds(H200.prefill, 66_000, 2_000)
    assert warm_gpu_seconds(agent, H200) == pytest.approx(expected + 300 * 0.015 / 32)


def test_spread_costs_more_than_its_mean() -> None:
    spread = preset("chat", prompt_tokens=Spread(mean=8_000, sigma=1.0))
    even = preset("chat")
    assert shape(spread).tokens == pytest.approx(8_000)
    assert warm_gpu_seconds(spread, H200) > warm_gpu_seconds(even, H200)
    assert cold_gpu_seconds(spread, H200) > cold_gpu_seconds(even, H200)


def test_the_mean_cost_of_a_spread_is_the_mean_over_its_quantiles() -> None:
    spread = Spread(mean=20_000, sigma=0.6)
    workload = preset("chat", prompt_tokens=spread, output_tokens=0.0)
    steps = 20_000
    lengths = [value_at(lognormal(spread), (step + 0.5) / steps) for step in range(steps)]
    warm = sum(suffix_seconds(H200.prefill, tokens, tokens / 2) for tokens in lengths) / steps
    fixed = H200.prefill.derate * H200.prefill.c0_s
    assert warm_gpu_seconds(workload, H200) - fixed == pytest.approx(warm, rel=1e-2)
    cold = sum(suffix_seconds(H200.prefill, tokens, tokens) for tokens in lengths) / steps
    assert cold_gpu_seconds(workload, H200) - fixed == pytest.approx(cold, rel=1e-2)


@pytest.mark.parametrize(
    ("percentiles", "mean"),
    [(Spread(p50=6_909, p90=27_367, p99=85_400), 12_035), (Spread(p50=11_587, p90=38_611, p99=66_456), 15_325)],
)
def test_percentiles_of_the_traces_give_their_means(percentiles: Spread, mean: float) -> None:
    assert lognormal(percentiles).mean == pytest.approx(mean, rel=0.04)


@pytest.mark.parametrize(
    ("gaps", "kept_s", "share", "off"),
    [
        (Spread(p50=114, p90=519, p99=1_578), 60, 10.3 / 36.6, 0.02),
        (Spread(p50=114, p90=519, p99=1_578), 120, 19.2 / 36.6, 0.02),
        (Spread(p50=114, p90=519, p99=1_578), 300, 28.8 / 36.6, 0.02),
        (Spread(p50=114, p90=519, p99=1_578), 600, 34.3 / 36.6, 0.02),
        (Spread(p50=59, p90=282, p99=583), 60, 32.2 / 64.0, 0.07),
        (Spread(p50=59, p90=282, p99=583), 120, 43.7 / 64.0, 0.08),
        (Spread(p50=59, p90=282, p99=583), 300, 58.4 / 64.0, 0.07),
    ],
)
def test_gaps_as_a_lognormal_give_the_traced_hits_of_a_cache_that_expires(
    gaps: Spread, kept_s: float, share: float, off: float
) -> None:
    assert share_below(lognormal(gaps), kept_s) == pytest.approx(share, abs=off)


@pytest.mark.parametrize(
    ("gaps", "rate", "tokens", "hits", "expected", "off"),
    [
        (Spread(p50=114, p90=519, p99=1_578), 3.40, 12_035, 0.374, 16.1e6, 0.07),
        (Spread(p50=59, p90=282, p99=583), 3.91, 15_325, 0.651, 10.4e6, 0.25),
    ],
)
def test_room_for_nine_of_ten_achievable_hits_is_near_the_traced_one(
    gaps: Spread, rate: float, tokens: float, hits: float, expected: float, off: float
) -> None:
    workload = Workload(requests_per_s=rate, prompt_tokens=Spread(constant=tokens), hit_share=hits, reuse_gap_s=gaps)
    gap = lognormal(gaps)
    assert resident_bytes(shape(workload), gap, rate, value_at(gap, 0.9)) == pytest.approx(expected, rel=off)


@pytest.mark.parametrize(("engines", "local"), [(4, 15.4), (8, 10.3), (16, 7.4)])
def test_random_routing_leaves_about_the_traced_hits_local(engines: int, local: float) -> None:
    assert routed_share(34.5 / 36.6, "random", engines, 0.2) == pytest.approx(local / 36.6, abs=0.06)
    assert routed_share(34.5 / 36.6, "sticky", engines, 0.2) == 34.5 / 36.6


def test_a_tier_alone_can_sustain_less_than_recompute() -> None:
    long = Workload(
        requests_per_s=50.0, prompt_tokens=Spread(mean=57_000, sigma=0.53), hit_share=0.95, output_tokens=0.0
    )
    with_tier, alone = sustained_requests(workload_load(long, 256, H200, BURST), 256, 315e9)
    assert with_tier == pytest.approx(77, rel=0.05)
    assert alone == pytest.approx(93, rel=0.05)
    idle, _ = sustained_requests(workload_load(preset("chat", g4_share=0.0), 256, H200, BURST), 256, 0.0)
    assert idle == pytest.approx(256 / warm_gpu_seconds(preset("chat"), H200))


def test_rates_of_the_fleet_of_a_gpu_and_by_busy_share_agree() -> None:
    chat = preset("chat")
    rate = arrival_rate(chat, 128, LLAMA_A100)
    for same in ({"requests_per_s": rate}, {"requests_per_s_per_gpu": rate / 128}):
        load = workload_load(with_overrides(chat, same), 128, LLAMA_A100, BURST)
        assert load.requests_per_s == pytest.approx(rate)
        assert load.busy_share == pytest.approx(0.7)


def test_writes_count_new_tokens_and_output_where_it_is_stored() -> None:
    chat = preset("chat", requests_per_s=10.0)
    ways: dict[str, dict[str, Any]] = {
        "new": {},
        "output": {"store_output": True},
        "second touch": {"write_share": 0.24},
    }
    written = {
        name: workload_load(with_overrides(chat, changes), 128, H200, BURST).write_bytes_per_s
        for name, changes in ways.items()
    }
    assert written["new"] == 10 * 4_000 * GPT_OSS
    assert written["output"] == 10 * 4_300 * GPT_OSS
    assert written["second touch"] == pytest.approx(0.24 * written["new"])


def test_a_burst_shrinks_with_the_fleet_unless_it_is_given() -> None:
    slow = workload_load(preset("chat", requests_per_s=3.4), 8, H200, BURST)
    fast = workload_load(preset("chat", requests_per_s=340.0), 800, H200, BURST)
    given = workload_load(preset("batch", requests_per_s=340.0), 800, H200, BURST)
    assert slow.burst_factor == pytest.approx(2.7)
    assert fast.burst_factor == pytest.approx(1.17)
    assert given.burst_factor == 3.3
    assert given.peak_read_bytes_per_s == pytest.approx(3.3 * given.read_bytes_per_s)


def test_local_tiers_take_reads_off_the_shared_one_and_random_routing_gives_them_back() -> None:
    small, large = (preset("chat", g2_bytes_per_gpu=size, shared_share=0.0) for size in (5e9, 500e9))
    assert 1 > g4_share(small, 128, H200) > g4_share(large, 128, H200)
    assert g4_share(large, 128, H200) == pytest.approx(0, abs=0.15)
    assert g4_share(large, 128, H200, routing="random") > 0.99
    assert g4_share(preset("chat"), 128, H200) == 1
    # More than every gap keeps everything.
    assert g4_share(preset("chat", g3_bytes_per_gpu=1e15), 128, H200) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("changes", "gone"),
    [
        ({"requests_per_s": 5.0}, "busy_share"),
        ({"suffix_tokens": 200}, "hit_share"),
        ({"g4_share": 0.3}, "local_hit_share"),
        ({"g2_bytes_per_gpu": 2e9}, "local_hit_share"),
    ],
)
def test_one_number_replaces_what_says_the_same(changes: dict[str, object], gone: str) -> None:
    changed = with_overrides(preset("docqa", hit_share=0.9) if gone == "hit_share" else preset("docqa"), changes)
    assert getattr(changed, gone) is None
    assert changed.model_dump(include=set(changes)) != {}
    assert gone in exclusive(next(iter(changes)))


def test_changes_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValidationError, match=r"how much comes is said by one of .*; not requests_per_s and"):
        with_overrides(preset("chat"), {"requests_per_s": 1.0, "requests_per_s_per_gpu": 1.0})
