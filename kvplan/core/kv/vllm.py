"""The `vllm-gpu` accounting: what one GPU of a vLLM engine reserves for a context."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from kvplan.core.kv.vllm_groups import vllm_pool
from kvplan.core.kv.vllm_setup import VllmSetup
from kvplan.schema.kv import Accounting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.kv.vllm_groups import Pool, Share
    from kvplan.schema.model import LayerGroup
    from kvplan.schema.request import KvDtype

__all__ = ["VllmSetup", "vllm_accounting"]


def vllm_accounting(groups: Sequence[LayerGroup], dtype: KvDtype, context_tokens: int, setup: VllmSetup) -> Accounting:
    """Count what one GPU reserves for one request, in whole blocks and with the padding of the groups.

    bytes(n) = sum over groups of blocks(n) x block_bytes; full: ceil(n / b); window: ceil(min(n, W - 1 + batched) / b)
    + 1; chunk: ceil(min(n, C + batched) / b); state: 1 or 2 by version, and 1 a speculative token

    Parameters
    ----------
    groups
        The model's layer groups.
    dtype
        KV dtype.
    context_tokens
        Length of the context [tokens].
    setup
        The engine: version, tensor parallelism, hybrid manager, blocks.

    Returns
    -------
    Accounting
        Slope [B/token], windows and states [B], and the context's bytes [B], on one GPU.

    Notes
    -----
    KV heads on a GPU are max(1, kv_heads // tp); a latent, an indexer key and a compressed entry are kept by every
    rank; states are divided. Where vLLM's layout is not modelled the plain sum of the layers is counted, and `rule`
    says so. Pipeline and context parallelism are not counted.

    References
    ----------
    vLLM 0.33.0 `v1/kv_cache_interface.py` (`max_memory_usage_bytes`) and `v1/core/kv_cache_planning.py`;
    vllm-project/vllm#51454 (a single KV head is replicated).

    Examples
    --------
    gpt-oss-120b: 73,728 B/token with the hybrid manager off, half of that and the windows with it on.

    >>> from kvplan.schema.model import FullAttention, SlidingAttention
    >>> gpt_oss = (FullAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64),
    ...            SlidingAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64, window_tokens=128))
    >>> off = vllm_accounting(gpt_oss, "bf16", 131_072, VllmSetup("0.14.1", hybrid_manager=False))
    >>> off.bytes_per_token, off.fixed_bytes, off.context_bytes
    (73728.0, 0, 9663676416)
    >>> on = vllm_accounting(gpt_oss, "bf16", 131_072, VllmSetup("0.14.1"))
    >>> on.bytes_per_token, on.fixed_bytes, on.context_bytes
    (36864.0, 307298304, 5139136512)
    """
    return _accounting(tuple(groups), dtype, context_tokens, setup)


@lru_cache(maxsize=256)
def _accounting(groups: tuple[LayerGroup, ...], dtype: KvDtype, context_tokens: int, setup: VllmSetup) -> Accounting:
    """Count once what the search for the fewest GPUs and the Plan both ask."""
    pool = _pool(groups, dtype, setup)
    return Accounting(
        name="vllm-gpu",
        scope=f"one GPU of TP {setup.tp}",
        rule=_rule(pool, setup),
        bytes_per_token=sum((share.bytes_per_token for share in pool.shares), start=0.0),
        fixed_bytes=sum(share.fixed_bytes for share in pool.shares),
        context_bytes=sum(share.bytes_of(context_tokens) for share in pool.shares),
        formula=tuple(_line(share, context_tokens) for share in pool.shares),
    )


@lru_cache(maxsize=1024)
def _pool(groups: tuple[LayerGroup, ...], dtype: KvDtype, setup: VllmSetup) -> Pool:
    """Lay out the pool once for a model and a setup; it is the same for every context length."""
    return vllm_pool(groups, dtype, setup)


def _rule(pool: Pool, setup: VllmSetup) -> str:
    """Say by which rules the numbers came about."""
    manager = "on" if pool.hybrid else "off"
    kept = ", window and chunk layers kept in full" if pool.promoted else ""
    layout = f"plain sum of the layers, not vLLM's layout: {pool.not_modelled}"
    if not pool.not_modelled:
        layout = f"groups: {pool.groups}, smallest block: {pool.block_tokens:,} tokens"
    return f"vLLM {setup.version}, hybrid manager {manager}{kept}; {layout}"


def _line(share: Share, context_tokens: int) -> str:
    """Write one share with its numbers."""
    total = share.bytes_of(context_tokens)
    groups = f"{share.groups} groups x " if share.groups > 1 else ""
    blocks = "block" if share.spec.constant_blocks == 1 else "blocks"
    return f"{share.label}: {groups}{share.spec.text} {blocks} x {share.block_bytes:,} B = {total:,} B"
