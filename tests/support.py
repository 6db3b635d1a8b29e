"""What several tests build alike: the reference Plan, a published configuration, configurations spelled as Llama's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvplan import Request, size
from kvplan.core.hf.reader import read_config
from kvplan.core.kv.terms import fixed_bytes, slope_bytes_per_token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan import Plan

REFERENCE: Mapping[str, Any] = {"model": "openai/gpt-oss-120b", "context_tokens": 130_000, "gpus": 128}
"""The request of the README."""
LLAMA_8B: dict[str, Any] = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16",
}
"""As meta-llama/Llama-3.1-8B publishes it: 8.03 billion parameters."""


def plan_for(**changes: Any) -> Plan:
    """Size the reference request with changes."""
    return size(Request.model_validate({**REFERENCE, **changes}))


def dense(model_type: str, layers: int, heads: int, kv_heads: int, hidden: int, **more: object) -> dict[str, object]:
    """Spell a model as Llama does."""
    return {
        "model_type": model_type,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "hidden_size": hidden,
        **more,
    }


def published_bytes(config: Mapping[str, object], model_id: str) -> tuple[float, float]:
    """Return bytes a token and fixed bytes of a configuration, in bf16."""
    groups = read_config({**config}, model_id=model_id, source="config.json").groups
    return slope_bytes_per_token(groups, "bf16"), fixed_bytes(groups, "bf16")
