"""Time to the first token of a hit, against what others measured of systems that the constants were not fitted to."""

from __future__ import annotations

import pytest

from kvplan.catalogue.loader import load_catalogue
from kvplan.core.prediction.contention import stream_rate
from kvplan.core.prediction.prefill import PrefillModel, cold_seconds, suffix_seconds
from kvplan.core.prediction.storm import storm_seconds
from kvplan.core.prediction.warm import EngineCost, engine_seconds, warm_seconds

LLM_D = EngineCost(first_s=0.125, token_s=2.31e-6, step_s=0.0, steps=0)
LLM_D_BYTES_PER_S = 53e9
GPT_OSS = 73_728
LLAMA_70B = 327_680


@pytest.mark.parametrize(("tokens", "measured_s"), [(10_000, 0.193), (130_000, 0.57)])
def test_redbook_is_predicted_by_constants_fitted_elsewhere(tokens: int, measured_s: float) -> None:
    predicted = warm_seconds(LLM_D, tokens, tokens * GPT_OSS / LLM_D_BYTES_PER_S, 0.0)
    assert predicted == pytest.approx(measured_s, rel=0.20)


def test_constants_of_the_catalogue_are_those_of_llm_d() -> None:
    constants = load_catalogue().constants()
    assert (constants["warm.first_s"].value, constants["warm.token_s"].value) == (LLM_D.first_s, LLM_D.token_s)


@pytest.mark.parametrize(("bytes_per_token", "measured_s"), [(GPT_OSS / 2, 1.01), (GPT_OSS, 1.90)])
def test_ten_prompts_at_once_load_as_fast_as_llm_d_measured(bytes_per_token: float, measured_s: float) -> None:
    """The load alone was measured, so tokens cost the engine nothing; one link carries all ten."""
    loading = EngineCost(LLM_D.first_s, 0.0, 0.0, 0)
    fetch = storm_seconds(10, 128_000 * bytes_per_token, LLM_D_BYTES_PER_S, LLM_D_BYTES_PER_S)
    assert warm_seconds(loading, 128_000, fetch, 0.0) == pytest.approx(measured_s, rel=0.15)


def test_llama_from_storage_scale_is_as_much_faster_as_published() -> None:
    """llm-d: 16.9 times at 128K tokens on 4 H100; cold scaled by the 12,950 tokens/s measured at 16K."""
    model = PrefillModel(0.0, 63.1e-6, 0.483e-9, 1.0, "derived", "aiconfigurator 0.12.0")
    derate = 16_000 / 12_950 / cold_seconds(model, 16_000)
    cold = derate * cold_seconds(model, 128_000)
    warm = warm_seconds(LLM_D, 128_000, 128_000 * LLAMA_70B / 63e9, 0.0)
    assert cold / warm == pytest.approx(16.9, rel=0.15)


def test_single_root_of_vllm_takes_what_was_measured() -> None:
    """Qwen3-Coder-30B at 131,072 tokens on an idle engine: 1.944 s, from which the catalogue's cap was derived."""
    tokens = 131_072
    row = load_catalogue().backend("vllm-fs")
    rate = stream_rate(200e9, row, "bounce", 50e9)
    assert warm_seconds(LLM_D, tokens, tokens * 98_304 / rate, 0.0) == pytest.approx(1.944, rel=0.01)


def test_parts_add_up() -> None:
    cost = EngineCost(first_s=0.1, token_s=2e-6, step_s=0.02, steps=3)
    assert engine_seconds(cost, 50_000) == pytest.approx(0.1 + 0.1 + 0.06)
    assert warm_seconds(cost, 50_000, 0.3, 0.2, 0.5) == pytest.approx(0.26 + 0.3 + 0.2 + 0.5)


def test_new_tokens_are_computed_against_the_whole_prompt() -> None:
    model = PrefillModel(0.036, 17.3e-6, 0.313e-9, 1.15, "derived", "aiconfigurator 0.12.0")
    none_new = warm_seconds(LLM_D, 66_000, 0.1, suffix_seconds(model, 66_000, 0))
    some_new = warm_seconds(LLM_D, 66_000, 0.1, suffix_seconds(model, 66_000, 2_000))
    assert none_new == pytest.approx(0.1 + engine_seconds(LLM_D, 66_000))
    assert some_new - none_new == pytest.approx(0.133, abs=0.001)
