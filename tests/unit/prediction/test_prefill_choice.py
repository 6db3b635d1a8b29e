"""Which model of a cold prefill is taken: a row, a row at another parallelism, or physics with its error stated."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvplan.catalogue.loader import load_catalogue
from kvplan.catalogue.prefills import prefill_table
from kvplan.core.prediction.prefill import PrefillModel, cold_seconds
from kvplan.core.prediction.prefill_choice import experts_chunk_seconds, prefill_model
from kvplan.core.prediction.prefill_fallback import PrefillEngine, fallback_model
from kvplan.core.prediction.prefill_table import error_summary, row_engine, row_model

CATALOGUE = load_catalogue()
TABLE = prefill_table(CATALOGUE)


def engine_of(name: str, gpu: str, tp: int, weights: str, params: int = 0) -> PrefillEngine:
    spec = CATALOGUE.model(name)
    total, active = params or spec.params_total or 0, params or spec.params_active or 0
    return PrefillEngine(spec, total, active, weights, CATALOGUE.gpu(gpu), tp)


def chosen(engine: PrefillEngine, derate: float | None = None) -> PrefillModel:
    model = prefill_model(TABLE, engine, derate=derate)
    assert model is not None
    return model


def test_the_row_of_the_system_wins() -> None:
    model = chosen(engine_of("gpt-oss-120b", "rtx-pro-6000", 1, "mxfp4"))
    assert (model.c0_s, model.a_s_per_token, model.b_s_per_token2) == (0.043, 34.5e-6, 0.555e-9)
    assert (model.derate, model.confidence) == (1.15, "derived")
    assert "aiconfigurator 0.12.0" in model.source


def test_the_derate_is_the_callers_if_given() -> None:
    assert chosen(engine_of("gpt-oss-120b", "rtx-pro-6000", 1, "mxfp4"), derate=2.3).derate == 2.3
    assert chosen(engine_of("gpt-oss-20b", "h200", 1, "mxfp4"), derate=1.0).derate == 1.0


@pytest.mark.parametrize(
    ("name", "weights", "params"),
    [
        ("meta-llama/Llama-3.1-70B-Instruct", "bf16", 70_000_000_000),
        ("meta-llama/Llama-3.3-70B-Instruct", "float16", 70_000_000_000),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "", 70_553_706_496),
    ],
)
def test_fine_tunes_take_the_row_of_their_base(name: str, weights: str, params: int) -> None:
    model = chosen(engine_of(name, "h100", 4, weights, params))
    assert model.source.startswith("prefill row llama-3.1-70b-h100-tp4-bf16:")


def test_another_size_of_the_same_layers_is_another_model() -> None:
    model = chosen(engine_of("Llama-3.1-70B-Instruct", "h100", 4, "bf16", 80_000_000_000))
    assert model.source.startswith("physics")


@pytest.mark.parametrize(("gpu", "weights"), [("h20", "mxfp4"), ("h200", "bf16")])
def test_without_a_row_physics_states_its_error(gpu: str, weights: str) -> None:
    model = chosen(engine_of("gpt-oss-120b", gpu, 1, weights))
    assert model.confidence == "derived"
    assert "off by 8% in the median of 37 prefill rows and -51% at worst" in model.source


@pytest.mark.parametrize(
    ("name", "gpu", "tp", "weights", "reason"),
    [
        ("Meta-Llama-3.1-8B", "gb200", 1, "bf16", "a quadratic misses the estimates for GB200 by 10 to 20 %"),
        ("Meta-Llama-3.1-70B", "rtx-pro-6000", 1, "fp8", "next to no memory for a cache"),
        ("Qwen3-32B", "l40s", 2, "bf16", "Lightbits measured 70.8 s at 131K"),
    ],
)
def test_rows_that_are_not_taken_say_why(name: str, gpu: str, tp: int, weights: str, reason: str) -> None:
    model = chosen(engine_of(name, gpu, tp, weights))
    assert model.source.startswith("physics")
    assert reason in model.source


@pytest.mark.parametrize("weights", ["bf16", "fp8"])
def test_a_reason_is_given_only_where_it_applies(weights: str) -> None:
    model = chosen(engine_of("Meta-Llama-3.1-70B", "h20", 8, weights))
    assert "not taken" not in model.source


def test_the_nearest_parallelism_is_scaled() -> None:
    model = chosen(engine_of("gpt-oss-120b", "h100", 8, "mxfp4"))
    assert model.source.endswith("scaled from TP 4 to TP 8 by physics")
    four = chosen(engine_of("gpt-oss-120b", "h100", 4, "mxfp4"))
    assert model.c0_s == four.c0_s / 2
    assert model.b_s_per_token2 == pytest.approx(four.b_s_per_token2 / 2)
    # All-reduces do not shrink with more GPUs.
    assert four.a_s_per_token / 2 < model.a_s_per_token < four.a_s_per_token


def test_of_two_as_near_the_larger_is_scaled() -> None:
    assert "from TP 4 to TP 2" in chosen(engine_of("gpt-oss-120b", "h100", 2, "mxfp4")).source


PAIRED = tuple(
    row
    for row in TABLE.rows
    if row.usable
    and any((o.model, o.gpu, o.weights) == (row.model, row.gpu, row.weights) and o.tp != row.tp for o in TABLE.rows)
)


@pytest.mark.parametrize("row", PAIRED, ids=lambda row: row.id)
def test_scaling_is_good_to_a_fifth(row: object) -> None:
    """Hide a row, scale the other parallelism of the same system to it, and compare."""
    (hidden,) = (other for other in TABLE.rows if other is row)
    engine, known = row_engine(TABLE, hidden), row_model(hidden, 1.0)
    assert engine is not None
    assert known is not None
    table = replace(TABLE, rows=tuple(other for other in TABLE.rows if other is not hidden))
    model = prefill_model(table, engine, derate=1.0)
    assert model is not None
    assert "scaled from" in model.source
    for tokens in (10_000, 32_000, 128_000):
        assert cold_seconds(model, tokens) == pytest.approx(cold_seconds(known, tokens), rel=0.20)


def test_twelve_rows_have_a_partner() -> None:
    assert len(PAIRED) == 12


def test_a_gpu_without_peaks_leaves_only_rows() -> None:
    engine = engine_of("gpt-oss-120b", "h100", 4, "mxfp4")
    bare = engine.gpu.model_copy(update={"bf16_flops_per_s": None})
    assert prefill_model(TABLE, replace(engine, gpu=bare)) == prefill_model(TABLE, engine)
    assert prefill_model(TABLE, replace(engine, gpu=bare, tp=2)) is None


def test_without_any_row_the_fallback_says_no_error() -> None:
    engine = engine_of("gpt-oss-20b", "h200", 1, "mxfp4")
    empty = replace(TABLE, rows=())
    assert prefill_model(empty, engine) == fallback_model(engine, TABLE.constants)
    assert error_summary(()) is None


def test_only_short_chunks_of_experts_cost_something() -> None:
    constants = TABLE.constants
    experts = engine_of("gpt-oss-120b", "rtx-pro-6000", 1, "mxfp4")
    assert experts_chunk_seconds(experts, 130_000, 2_048, constants) == pytest.approx(2.33, abs=0.01)
    assert experts_chunk_seconds(replace(experts, tp=2), 130_000, 2_048, constants) == pytest.approx(1.16, abs=0.01)
    assert experts_chunk_seconds(experts, 130_000, 8_192, constants) == 0
    assert experts_chunk_seconds(engine_of("Qwen3-32B", "h100", 1, "bf16"), 130_000, 2_048, constants) == 0
