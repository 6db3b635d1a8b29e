"""The fallback for pairs without a row: its constants are fitted as they say, and its errors are known."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

import pytest

from kvplan.catalogue.loader import load_catalogue
from kvplan.catalogue.prefills import prefill_table
from kvplan.core.prediction.prefill import cold_seconds
from kvplan.core.prediction.prefill_attention import attention_work, depth
from kvplan.core.prediction.prefill_fallback import PrefillEngine, collective_bytes, fallback_model
from kvplan.core.prediction.prefill_table import error_summary, fallback_errors, row_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kvplan.schema.prefill import PrefillRow

CATALOGUE = load_catalogue()
TABLE = prefill_table(CATALOGUE)
CONSTANTS = TABLE.constants


def usable() -> Iterator[tuple[PrefillRow, PrefillEngine, float, float]]:
    """Yield every usable row with its engine, a and b."""
    for row in TABLE.rows:
        engine = row_engine(TABLE, row)
        if engine is not None:
            assert row.a_s_per_token is not None
            assert row.b_s_per_token2 is not None
            yield row, engine, row.a_s_per_token, row.b_s_per_token2


def engine_of(name: str, gpu: str, tp: int = 1, weights: str = "bf16") -> PrefillEngine:
    spec = CATALOGUE.model(name)
    assert spec.params_total is not None
    assert spec.params_active is not None
    return PrefillEngine(spec, spec.params_total, spec.params_active, weights, CATALOGUE.gpu(gpu), tp)


def peak(engine: PrefillEngine) -> float:
    """Dense peak at which the products with the weights run [FLOP/s]."""
    dense_fp8 = engine.weights == "fp8" and not engine.has_experts
    found = engine.gpu.fp8_flops_per_s if dense_fp8 else engine.gpu.bf16_flops_per_s
    assert found is not None
    return found


def sent_bytes(engine: PrefillEngine) -> float:
    return collective_bytes(engine.params_active, depth(engine.spec), engine.tp)


def attention_medians() -> tuple[float, float]:
    """Median shares of the bf16 peak in attention, softmax not counted: heads of 64, and of 128."""
    plain = dict(CONSTANTS)
    plain["prefill.softmax_width"] = plain["prefill.softmax_width"].model_copy(update={"value": 0.0})
    shares: dict[int, list[float]] = {64: [], 128: []}
    for _, engine, _, b in usable():
        group = engine.spec.groups[0]
        work = attention_work(engine.spec, plain)
        if group.kind == "full" and work is not None and engine.gpu.bf16_flops_per_s:
            shares[group.key_dim].append(work.per_square / (engine.tp * b * engine.gpu.bf16_flops_per_s))
    return median(shares[64]), median(shares[128])


def test_the_attention_constants_explain_narrow_and_wide_heads() -> None:
    narrow, wide = attention_medians()
    width, share = CONSTANTS["prefill.softmax_width"].value, CONSTANTS["prefill.attention_share"].value
    assert width == pytest.approx((wide - narrow) / (narrow / 128 - wide / 256), abs=1)
    assert share == pytest.approx(wide * (256 + width) / 256, abs=0.005)


def dense_shares(without: str = "-") -> list[float]:
    """Shares of the peak in the rows of dense models on one GPU, one model left out."""
    return [
        2 * engine.params_active / (a * peak(engine))
        for row, engine, a, _ in usable()
        if engine.tp == 1 and not engine.has_experts and not row.id.startswith(without)
    ]


def expert_shares(without: str = "-") -> list[float]:
    """Shares of the peak in the rows of mixtures of experts, all-reduces taken off, one model left out."""
    shares = []
    for row, engine, a, _ in usable():
        if engine.has_experts and not row.id.startswith(without):
            assert engine.gpu.link_bytes_per_s is not None
            link = engine.gpu.link_bytes_per_s * CONSTANTS["prefill.collective_share"].value
            left = a - sent_bytes(engine) / link
            shares.append(2 * engine.params_active / (engine.tp * left * peak(engine)))
    return shares


def test_the_share_of_dense_models_is_the_median_of_their_rows() -> None:
    assert CONSTANTS["prefill.linear_share"].value == pytest.approx(median(dense_shares()), abs=0.005)


def test_the_share_of_experts_is_the_median_of_their_rows() -> None:
    assert CONSTANTS["prefill.expert_share"].value == pytest.approx(median(expert_shares()), abs=0.01)


def test_the_share_of_the_links_is_the_median_of_what_the_products_leave() -> None:
    dense = CONSTANTS["prefill.linear_share"].value
    shares = []
    for _, engine, a, _ in usable():
        left = a - 2 * engine.params_active / (engine.tp * dense * peak(engine))
        if engine.tp > 1 and not engine.has_experts and left > 0:
            assert engine.gpu.link_bytes_per_s is not None
            shares.append(sent_bytes(engine) / left / engine.gpu.link_bytes_per_s)
    assert CONSTANTS["prefill.collective_share"].value == pytest.approx(median(shares), abs=0.02)


def test_the_errors_are_computed_and_known(golden: Callable[[str, str], None]) -> None:
    errors = fallback_errors(TABLE)
    summary = error_summary(errors)
    assert summary is not None
    assert summary.rows == len(list(usable())) == 37
    assert summary.median == pytest.approx(0.08, abs=0.01)
    assert summary.worst.row == "qwen3-235b-b200-tp8-fp8"
    assert summary.worst.error == pytest.approx(-0.51, abs=0.01)
    lines = [f"{found.row:40} {found.tokens:>7,} {found.error:+.1%}" for found in errors]
    golden("prediction/prefill_fallback_errors.txt", "\n".join([*lines, f"median {summary.median:.1%}", ""]))


def test_dense_models_are_met_within_a_quarter() -> None:
    dense = {row.id for row, engine, _, _ in usable() if not engine.has_experts}
    assert max(abs(found.error) for found in fallback_errors(TABLE) if found.row in dense) < 0.25


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt-oss-120b", 0.12),
        ("llama-3.1-70b", 0.07),
        ("llama-3.1-8b", 0.13),
        ("qwen3-32b", 0.07),
        ("deepseek-v3", 0.10),
        ("qwen3-235b", 0.18),
    ],
)
def test_a_model_that_the_shares_do_not_know_is_met_too(model: str, expected: float) -> None:
    """Fit the shares of the products without one model, then predict it: the median of its errors."""
    fitted = {"prefill.linear_share": median(dense_shares(model)), "prefill.expert_share": median(expert_shares(model))}
    changed = {name: CONSTANTS[name].model_copy(update={"value": value}) for name, value in fitted.items()}
    errors = fallback_errors(replace(TABLE, constants={**CONSTANTS, **changed}))
    found = median(abs(error.error) for error in errors if error.row.startswith(model))
    assert found == pytest.approx(expected, abs=0.015)


@pytest.mark.parametrize(("weights", "error"), [("bf16", 0.10), ("fp8", -0.03)])
def test_tensor_parallelism_over_pcie_against_a_measurement(weights: str, error: float) -> None:
    """Lightbits measured 70.8 s for Llama-3.1-70B at 131K tokens on 4 L40S; aiconfigurator says 186 s at 128K."""
    model = fallback_model(engine_of("Meta-Llama-3.1-70B", "l40s", 4, weights), CONSTANTS)
    assert model is not None
    assert cold_seconds(replace(model, derate=1.0), 131_072) / 70.8 - 1 == pytest.approx(error, abs=0.02)


@pytest.mark.parametrize(("tokens", "measured_s", "error"), [(1_024, 0.078, 0.21), (65_536, 15.2, 0.56)])
def test_an_h20_is_faster_than_its_peak_suggests(tokens: int, measured_s: float, error: float) -> None:
    """Qwen3-30B-A3B with vLLM 0.18: nobody's row, and the farthest that a measurement is known to be."""
    model = fallback_model(engine_of("Qwen3-30B-A3B", "h20"), CONSTANTS)
    assert model is not None
    assert cold_seconds(replace(model, derate=1.0), tokens) / measured_s - 1 == pytest.approx(error, abs=0.02)


def test_experts_that_a_token_does_not_pass_are_read_all_the_same() -> None:
    """65.19 GB of gpt-oss-120b, 95 % of them idle for any one token, at 1.792 TB/s."""
    model = fallback_model(engine_of("gpt-oss-120b", "rtx-pro-6000", weights="mxfp4"), CONSTANTS)
    assert model is not None
    assert model.c0_s == pytest.approx(65.19e9 / 1.792e12 * (1 - 5.712 / 116.83), rel=1e-3)


def test_weights_of_other_formats_are_counted() -> None:
    engine = engine_of("gpt-oss-120b", "h200")
    assert engine.gpu_weights_bytes == 2 * engine.params_total
    assert replace(engine, weights="half", tp=2).gpu_weights_bytes == engine.params_total
    assert replace(engine, weights="mxfp4").gpu_weights_bytes == 65_190_340_224


def test_fp8_weights_run_at_the_bf16_rate_where_the_gpu_has_no_other() -> None:
    """An A100 widens them; an H100 is twice as fast."""
    times = {}
    for gpu in ("a100-80gb", "h100"):
        for weights in ("bf16", "fp8"):
            model = fallback_model(engine_of("Meta-Llama-3.1-8B", gpu, weights=weights), CONSTANTS)
            assert model is not None
            times[gpu, weights] = model.a_s_per_token
    assert times["a100-80gb", "fp8"] == times["a100-80gb", "bf16"]
    assert times["h100", "fp8"] == pytest.approx(times["h100", "bf16"] / 2)


@pytest.mark.parametrize(("field", "tp", "known"), [("bf16_flops_per_s", 1, False), ("link_bytes_per_s", 2, False)])
def test_nothing_is_said_of_a_gpu_that_nobody_describes(field: str, tp: int, *, known: bool) -> None:
    engine = engine_of("Meta-Llama-3.1-8B", "h100", tp)
    unknown = replace(engine, gpu=engine.gpu.model_copy(update={field: None}))
    assert (fallback_model(unknown, CONSTANTS) is not None) is known


def test_one_gpu_needs_no_link() -> None:
    engine = engine_of("Meta-Llama-3.1-8B", "h100")
    alone = replace(engine, gpu=engine.gpu.model_copy(update={"link_bytes_per_s": None}))
    assert fallback_model(alone, CONSTANTS) == fallback_model(engine, CONSTANTS)


def test_every_gpu_of_the_catalogue_can_be_predicted() -> None:
    for name in CATALOGUE.ids("gpus"):
        assert fallback_model(engine_of("Meta-Llama-3.1-8B", name, 2), CONSTANTS) is not None
