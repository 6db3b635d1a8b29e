"""Cold prefill from coefficients: the published table, the published measurements, and what software adds."""

from __future__ import annotations

import pytest

from kvplan.catalogue.loader import load_catalogue
from kvplan.core.prediction.prefill import PrefillModel, chunk_seconds, cold_seconds, suffix_seconds
from kvplan.core.prediction.prefill_table import row_model
from kvplan.schema.prefill import PrefillRow

CATALOGUE = load_catalogue()
REDBOOK = {row.context_tokens: row.ttft_s for row in CATALOGUE.rows("measurements") if row.prompt == "cold"}  # type: ignore[attr-defined]

# aiconfigurator 0.12.0 itself, thousand tokens/s of a cold prompt of 10K, 32K and 128K tokens.
SPEEDS = {
    "gpt-oss-120b-rtx-pro-6000-tp1-mxfp4": (22.8, 18.5, 9.5),
    "gpt-oss-120b-l40s-tp1-mxfp4": (14.0, 11.5, 5.9),
    "gpt-oss-120b-h100-tp1-mxfp4": (42.9, 35.1, 17.7),
    "gpt-oss-120b-h200-tp1-mxfp4": (42.2, 34.8, 17.5),
    "gpt-oss-120b-b200-tp1-mxfp4": (55.2, 46.0, 24.7),
    "gpt-oss-120b-b300-tp1-mxfp4": (59.0, 51.9, 30.5),
    "gpt-oss-120b-gb200-tp1-mxfp4": (59.5, 49.6, 26.6),
    "gpt-oss-120b-h100-tp4-mxfp4": (97.6,),
    "gpt-oss-120b-h200-tp4-mxfp4": (96.9,),
    "gpt-oss-120b-b200-tp4-mxfp4": (120.8,),
    "llama-3.1-70b-a100-80gb-tp4-bf16": (5.9, 4.8, 2.6),
    "llama-3.1-70b-h100-tp4-bf16": (14.4, 13.0, 7.9),
    "llama-3.1-70b-h200-tp4-bf16": (14.5, 12.5, 7.8),
    "llama-3.1-70b-b200-tp4-bf16": (27.6, 24.4, 14.8),
    "llama-3.1-70b-b300-tp4-bf16": (28.5, 25.7, 16.5),
    "llama-3.1-70b-h100-tp1-fp8": (7.9,),
    "llama-3.1-70b-h200-tp1-fp8": (7.8,),
    "llama-3.1-70b-b200-tp1-fp8": (14.2,),
    "llama-3.1-70b-h100-tp4-fp8": (20.1,),
    "llama-3.1-70b-h200-tp4-fp8": (20.9,),
    "llama-3.1-70b-b200-tp4-fp8": (36.1,),
    "llama-3.1-70b-b300-tp4-fp8": (39.1,),
    "llama-3.1-8b-l40s-tp1-bf16": (11.4,),
    "llama-3.1-8b-rtx-pro-6000-tp1-bf16": (20.9,),
    "llama-3.1-8b-h100-tp1-bf16": (40.2,),
    "llama-3.1-8b-b200-tp1-bf16": (81.1,),
    "qwen3-32b-rtx-pro-6000-tp1-bf16": (5.0,),
    "qwen3-32b-h100-tp1-bf16": (9.3,),
    "qwen3-32b-b200-tp1-bf16": (18.3,),
    "qwen3-32b-b300-tp1-bf16": (20.1,),
    "deepseek-v3-h100-tp8-fp8": (24.8,),
    "deepseek-v3-h200-tp8-fp8": (25.6,),
    "deepseek-v3-b200-tp8-fp8": (57.1,),
    "deepseek-v3-b300-tp8-fp8": (58.2,),
}
UNSTATED = {f"qwen3-235b-{gpu}-tp8-fp8" for gpu in ("h100", "h200", "b200")}


def row_of(name: str) -> PrefillRow:
    row = CATALOGUE.row("prefill", name)
    assert isinstance(row, PrefillRow)
    return row


def model_of(name: str, derate: float = 1.0) -> PrefillModel:
    model = row_model(row_of(name), derate)
    assert model is not None
    return model


def test_every_usable_row_is_held_against_its_source() -> None:
    usable = {row_id for row_id in CATALOGUE.ids("prefill") if row_of(row_id).usable}
    assert usable == set(SPEEDS) | UNSTATED


@pytest.mark.parametrize("name", SPEEDS)
def test_rows_give_the_speeds_of_their_source(name: str) -> None:
    """Within the fit error; the source's figures are rounded to a tenth, which is 2 % of the slowest."""
    row, model = row_of(name), model_of(name)
    assert row.fit_error is not None
    for tokens, speed in zip((10_000, 32_000, 128_000), SPEEDS[name], strict=False):
        rounding = 0.05 / speed
        assert tokens / cold_seconds(model, tokens) / 1e3 == pytest.approx(speed, rel=row.fit_error + rounding)


def test_the_published_baseline_is_slower_than_current_kernels() -> None:
    """IBM Redbook MD260021: 0.572 s at 10K is 1.3 times the row's time, 32.14 s at 130K is 2.33 times."""
    model = model_of("gpt-oss-120b-rtx-pro-6000-tp1-mxfp4")
    assert REDBOOK[10_000] / cold_seconds(model, 10_000) == pytest.approx(1.30, abs=0.02)
    assert REDBOOK[130_000] / cold_seconds(model, 130_000) == pytest.approx(2.33, abs=0.02)


def test_the_derate_of_older_software_brings_the_published_points_back() -> None:
    for tokens, constant in ((10_000, "prefill.derate_older_short"), (130_000, "prefill.derate_older_long")):
        model = model_of("gpt-oss-120b-rtx-pro-6000-tp1-mxfp4", CATALOGUE.constant(constant).value)
        assert cold_seconds(model, tokens) == pytest.approx(REDBOOK[tokens], rel=0.03)


def test_the_derate_of_current_software_does_not_explain_them() -> None:
    model = model_of("gpt-oss-120b-rtx-pro-6000-tp1-mxfp4", CATALOGUE.constant("prefill.derate").value)
    assert REDBOOK[10_000] / cold_seconds(model, 10_000) == pytest.approx(1.13, abs=0.02)
    assert REDBOOK[130_000] / cold_seconds(model, 130_000) == pytest.approx(2.02, abs=0.02)


@pytest.mark.parametrize(
    ("name", "tokens", "measured_tokens_per_s"),
    [
        ("llama-3.1-70b-h100-tp4-bf16", 16_000, 12_950),  # llm-d, 4 x H100
        ("gpt-oss-120b-h100-tp4-mxfp4", 16_000, 82_000),  # llm-d, 4 x H100, plateau under load
    ],
)
def test_current_engines_are_met_with_the_default_derate(name: str, tokens: int, measured_tokens_per_s: float) -> None:
    model = model_of(name, CATALOGUE.constant("prefill.derate").value)
    assert tokens / cold_seconds(model, tokens) == pytest.approx(measured_tokens_per_s, rel=0.06)


def test_a_suffix_of_the_whole_prompt_is_the_prompt_without_its_fixed_part() -> None:
    model = model_of("gpt-oss-120b-h200-tp1-mxfp4", 1.15)
    assert suffix_seconds(model, 50_000, 50_000) == pytest.approx(cold_seconds(model, 50_000) - 1.15 * model.c0_s)
    assert suffix_seconds(model, 50_000, 0) == 0


def test_chunks_read_the_experts_again() -> None:
    """64 chunks of 2,048 tokens: about 2 s at 130K tokens of gpt-oss-120b on an RTX PRO 6000."""
    weights = CATALOGUE.model("gpt-oss-120b").weights_bytes
    assert weights is not None
    memory = CATALOGUE.gpu("rtx-pro-6000").memory_bandwidth_bytes_per_s
    assert chunk_seconds(2_048, 2_048, weights, memory) == pytest.approx(0.036, abs=0.001)
    assert chunk_seconds(130_000, 2_048, weights, memory) == pytest.approx(64 * 0.0364, rel=0.01)
    assert chunk_seconds(2_049, 2_048, weights, memory) == 2 * chunk_seconds(1, 2_048, weights, memory)
