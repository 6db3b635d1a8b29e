"""What holds for every cold prefill: longer takes longer, parts add up, more GPUs and faster ones never lose."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvplan.catalogue.loader import load_catalogue
from kvplan.catalogue.prefills import prefill_table
from kvplan.core.prediction.prefill import PrefillModel, chunk_seconds, cold_seconds, suffix_seconds
from kvplan.core.prediction.prefill_choice import prefill_model
from kvplan.core.prediction.prefill_fallback import PrefillEngine, collective_bytes, fallback_model

CATALOGUE = load_catalogue()
TABLE = prefill_table(CATALOGUE)
KNOWN = tuple(
    spec
    for spec in (CATALOGUE.model(name) for name in CATALOGUE.ids("models"))
    if spec.params_total and spec.attention_heads
)

tokens = st.integers(min_value=0, max_value=2**20)
models = st.builds(
    PrefillModel,
    c0_s=st.floats(0, 1),
    a_s_per_token=st.floats(1e-7, 1e-3),
    b_s_per_token2=st.floats(0, 1e-8),
    derate=st.floats(1, 3),
    confidence=st.just("derived"),
    source=st.just("drawn"),
)


@st.composite
def engines(draw: st.DrawFn) -> PrefillEngine:
    """Draw any model of the catalogue on any GPU of it."""
    spec = draw(st.sampled_from(KNOWN))
    total = spec.params_total or 1
    gpu = CATALOGUE.gpu(draw(st.sampled_from(CATALOGUE.ids("gpus"))))
    weights = draw(st.sampled_from(("bf16", "fp8", "mxfp4", "nvfp4", "awq")))
    return PrefillEngine(spec, total, spec.params_active or total, weights, gpu, draw(st.sampled_from((1, 2, 4, 8))))


@given(models, tokens, tokens)
def test_longer_takes_longer(model: PrefillModel, one: int, other: int) -> None:
    shorter, longer = sorted((one, other))
    assert cold_seconds(model, shorter) <= cold_seconds(model, longer)


@given(models, tokens, st.data())
def test_a_prompt_is_its_prefix_and_its_suffix(model: PrefillModel, whole: int, data: st.DataObject) -> None:
    new = data.draw(st.integers(0, whole))
    parts = cold_seconds(model, whole - new) + suffix_seconds(model, whole, new)
    assert parts == pytest.approx(cold_seconds(model, whole))


@given(models, tokens, st.data())
def test_a_suffix_is_dearer_than_a_prompt_of_its_length(model: PrefillModel, whole: int, data: st.DataObject) -> None:
    new = data.draw(st.integers(0, whole))
    alone = suffix_seconds(model, new, new)
    assert suffix_seconds(model, whole, new) >= alone * (1 - 1e-9)


@given(tokens, st.integers(1, 8192), st.floats(1e9, 1e12), st.floats(1e11, 1e13))
def test_chunks_add_at_least_one_read_in_proportion(length: int, chunk: int, weights: float, memory: float) -> None:
    assert chunk_seconds(length, chunk, weights, memory) >= length / chunk * weights / memory * (1 - 1e-9)
    assert chunk_seconds(length, chunk, weights, memory) <= (length / chunk + 1) * weights / memory


@settings(max_examples=30)
@given(engines())
def test_physics_answers_for_every_model_and_gpu(engine: PrefillEngine) -> None:
    model = fallback_model(engine, TABLE.constants)
    assert model is not None
    assert model.c0_s >= 0
    assert model.a_s_per_token > 0
    assert model.b_s_per_token2 >= 0


@settings(max_examples=30)
@given(engines())
def test_a_gpu_that_is_twice_as_fast_takes_half(engine: PrefillEngine) -> None:
    rates = ("bf16_flops_per_s", "fp8_flops_per_s", "link_bytes_per_s", "memory_bandwidth_bytes_per_s")
    doubled = {name: 2 * rate for name in rates if (rate := getattr(engine.gpu, name))}
    faster = replace(engine, gpu=engine.gpu.model_copy(update=doubled))
    slow, fast = fallback_model(engine, TABLE.constants), fallback_model(faster, TABLE.constants)
    assert slow is not None
    assert fast is not None
    assert cold_seconds(fast, 50_000) == pytest.approx(cold_seconds(slow, 50_000) / 2)


@settings(max_examples=30)
@given(engines())
def test_the_derate_multiplies_the_whole_time(engine: PrefillEngine) -> None:
    once, twice = (prefill_model(TABLE, engine, derate=derate) for derate in (1.0, 2.0))
    assert once is not None
    assert twice is not None
    assert cold_seconds(twice, 50_000) == pytest.approx(2 * cold_seconds(once, 50_000))
    assert twice.source


@given(st.floats(1e8, 1e13), st.integers(1, 200), st.integers(1, 64))
def test_all_reduces_grow_with_parallelism_to_twice_the_activations(params: float, layers: int, tp: int) -> None:
    sent = collective_bytes(params, layers, tp)
    assert sent <= collective_bytes(params, layers, tp + 1) < 2 * collective_bytes(params, layers, 2)
