"""The accounting `minimal`."""

from __future__ import annotations

from kvplan.core.kv.minimal import minimal_accounting
from kvplan.schema.model import FullAttention, LatentAttention, SlidingAttention

GPT_OSS_120B = (
    FullAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64),
    SlidingAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64, window_tokens=128),
)


def test_gpt_oss_120b_at_130k() -> None:
    """36,864 B/token and 4.5 MiB: config.json as kept in ai-dynamo/aiconfigurator@095f58a model_configs."""
    accounting = minimal_accounting(GPT_OSS_120B, "bf16", 130_000)
    assert accounting.name == "minimal"
    assert accounting.scope == "the model once"
    assert "min(n, W)" in accounting.rule
    assert accounting.bytes_per_token == 36_864
    assert accounting.fixed_bytes == 4_718_592
    assert accounting.context_bytes == 130_000 * 36_864 + 4_718_592
    assert len(accounting.formula) == 2


def test_short_context_does_not_fill_the_window() -> None:
    accounting = minimal_accounting(GPT_OSS_120B, "bf16", 100)
    assert accounting.context_bytes == 100 * 73_728
    assert accounting.fixed_bytes == 4_718_592


def test_latent_at_fp8() -> None:
    accounting = minimal_accounting([LatentAttention(layers=61, latent_dim=512, rope_dim=64)], "fp8", 1000)
    assert accounting.bytes_per_token == 35_136
    assert accounting.context_bytes == 35_136_000
