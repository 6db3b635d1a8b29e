"""Whatever a `config.json` holds, reading it gives layer groups or problems, and never anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from kvplan.core.hf.keys import Fields
from kvplan.core.hf.patterns import every_nth_full, fitted
from kvplan.core.hf.reader import read_config
from kvplan.core.hf.registry import known_model_types
from kvplan.core.kv.terms import context_bytes, fixed_bytes, slope_bytes_per_token
from kvplan.errors import InputError

if TYPE_CHECKING:
    from kvplan.schema.model import ModelSpec

KEYS = (
    "num_hidden_layers",
    "num_layers",
    "n_layer",
    "hidden_size",
    "d_model",
    "num_attention_heads",
    "num_heads",
    "num_key_value_heads",
    "head_dim",
    "sliding_window",
    "sliding_window_pattern",
    "use_sliding_window",
    "max_window_layers",
    "layer_types",
    "layers_block_type",
    "hybrid_override_pattern",
    "compress_ratios",
    "compress_rates",
    "kv_lora_rank",
    "qk_rope_head_dim",
    "index_head_dim",
    "indexer_types",
    "num_kv_shared_layers",
    "attention_chunk_size",
    "no_rope_layers",
    "block_configs",
    "text_config",
    "linear_attn_config",
    "mamba_d_state",
    "mamba_d_conv",
    "mamba_expand",
    "mamba_n_heads",
    "mamba_n_groups",
    "attn_layer_period",
    "attn_layer_offset",
    "conv_L_cache",
    "state_size",
    "conv_kernel",
    "expand",
    "num_key_value_heads_per_layer",
    "cross_attention_layers",
    "max_position_embeddings",
    "dtype",
)
WORDS = (
    "full_attention",
    "sliding_attention",
    "linear_attention",
    "mamba",
    "conv",
    "full",
    "shared",
    "M*-E",
    "bfloat16",
    "",
)
SCALARS = st.none() | st.booleans() | st.integers(-2, 300) | st.sampled_from((10**6, 10**9, 10**30)) | st.floats()
LEAVES = SCALARS | st.sampled_from(WORDS)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=8,
)


def _read(config: dict[str, object]) -> ModelSpec | InputError:
    """Read a configuration; anything but the two results escapes."""
    try:
        return read_config(config, model_id="x", source="config.json")
    except InputError as error:
        return error


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(known_model_types()), st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=12))
def test_any_configuration_gives_groups_or_problems(model_type: str, config: dict[str, object]) -> None:
    outcome = _read({**config, "model_type": model_type})
    if isinstance(outcome, InputError):
        assert outcome.problems
        assert len(set(outcome.problems)) == len(outcome.problems)
        assert all(str(problem).startswith("config.json: ") for problem in outcome.problems)
    else:
        assert outcome.groups
        assert context_bytes(outcome.groups, "bf16", 1000) >= 0


@given(
    layers=st.integers(1, 200),
    kv_heads=st.integers(1, 32),
    group=st.integers(1, 16),
    head_dim=st.integers(1, 512),
    window=st.integers(1, 10_000),
    interval=st.integers(1, 12),
)
def test_interleaved_windows_add_up(
    layers: int, kv_heads: int, group: int, head_dim: int, window: int, interval: int
) -> None:
    config: dict[str, object] = {
        "model_type": "gemma3_text",
        "num_hidden_layers": layers,
        "num_attention_heads": kv_heads * group,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        "sliding_window": window,
        "sliding_window_pattern": interval,
        "max_position_embeddings": 10**6,
    }
    groups = read_config(config, model_id="x", source="config.json").groups
    token_bytes = 2 * kv_heads * head_dim * 2
    full = layers // interval
    assert slope_bytes_per_token(groups, "bf16") == full * token_bytes
    assert fixed_bytes(groups, "bf16") == (layers - full) * window * token_bytes


@given(st.lists(st.sampled_from(("full", "sliding")), min_size=1, max_size=40), st.integers(1, 60))
def test_a_pattern_is_cut_or_refused(kinds: list[str], layers: int) -> None:
    fields = Fields({"num_hidden_layers": layers})
    cut = fitted(fields, "layer_types", kinds)
    assert list(cut) == kinds[:layers]
    assert bool(fields.problems) == (len(kinds) < layers)


@given(st.integers(1, 300), st.integers(1, 40))
def test_every_nth_layer_is_full(layers: int, interval: int) -> None:
    kinds = every_nth_full(layers, interval, "sliding")
    assert len(kinds) == layers
    assert [layer for layer, kind in enumerate(kinds, 1) if kind == "full"] == list(
        range(interval, layers + 1, interval)
    )
