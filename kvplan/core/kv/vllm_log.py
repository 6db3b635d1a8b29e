"""What vLLM prints about its KV cache at start, predicted from the memory it has."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from kvplan.core.kv.vllm_groups import vllm_pool
from kvplan.core.kv.vllm_version import log_rule
from kvplan.errors import InputError, require_at_least
from kvplan.schema.kv import VllmLog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.kv.vllm_groups import Pool
    from kvplan.core.kv.vllm_setup import VllmSetup
    from kvplan.core.kv.vllm_version import LogRuleName
    from kvplan.schema.model import LayerGroup
    from kvplan.schema.request import KvDtype

_WHERE = "vLLM"


def predict_log(
    groups: Sequence[LayerGroup], dtype: KvDtype, available_bytes: int, max_model_len: int, setup: VllmSetup
) -> VllmLog:
    """Predict "GPU KV cache size: N tokens" and "Maximum concurrency for L tokens per request: X".

    blocks = available // block_bytes; X = blocks / blocks(L); N = blocks x b up to 0.9.x, blocks // groups x smallest b
    up to 0.20.0, int(X x L) from 0.20.1

    Parameters
    ----------
    groups
        The model's layer groups, with those of a draft model or MTP block when it is on.
    dtype
        KV dtype.
    available_bytes
        "Available KV cache memory" of one GPU [B].
    max_model_len
        Length of the longest request the engine accepts, L [tokens].
    setup
        The engine.

    Returns
    -------
    VllmLog
        Blocks, groups and the two printed figures [1], [tokens]; where vLLM does not start, also what its error names.

    Raises
    ------
    InputError
        When the numbers make no sense, the version cannot be read, or the layout of the model is not modelled.

    Notes
    -----
    The pool is the smallest over all GPUs, the printed GiB is one GPU's: with several GPUs the prediction is an upper
    bound. The printed GiB is rounded to 0.01. Up to 0.9.x vLLM divides tokens, not blocks, by L: under a block apart.

    References
    ----------
    vLLM 0.14.1 and 0.33.0 `v1/core/kv_cache_utils.py`; IBM Redbook MD260021 (19.6 GiB, about 1.14 million tokens).

    Examples
    --------
    Four GPUs with 19.6 GiB each under vLLM 0.14.1:

    >>> from kvplan.core.kv.vllm_setup import VllmSetup
    >>> from kvplan.schema.model import FullAttention, SlidingAttention
    >>> gpt_oss = (FullAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64),
    ...            SlidingAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64, window_tokens=128))
    >>> log = predict_log(gpt_oss, "bf16", int(19.6 * 2**30), 131_072, VllmSetup("0.14.1", tp=4))
    >>> log.blocks, log.groups, log.tokens, round(log.max_concurrency, 2)
    (142722, 2, 1141776, 16.38)
    """
    require_at_least(_WHERE, ("max_model_len", max_model_len, 1), ("available_bytes", available_bytes, 0))
    pool = _modelled_pool(groups, dtype, setup)
    blocks = available_bytes // pool.block_bytes
    concurrency = blocks / pool.blocks_of(max_model_len)
    rule = log_rule(setup.engine)
    # With room for less than one request vLLM stops with an error and prints none of the figures.
    starts = concurrency >= 1
    return VllmLog(
        available_bytes=available_bytes,
        vllm_version=setup.version,
        rule=rule.text,
        block_tokens=pool.block_tokens,
        groups=pool.groups,
        blocks=blocks,
        tokens=_printed_tokens(rule.name, pool, blocks, int(concurrency * max_model_len)),
        max_concurrency=concurrency,
        max_model_len=max_model_len,
        needed_bytes=None if starts else pool.blocks_of(max_model_len) * pool.block_bytes,
        estimated_max_length=None if starts else _longest(pool, blocks, max_model_len),
    )


def needed_bytes(groups: Sequence[LayerGroup], dtype: KvDtype, max_model_len: int, setup: VllmSetup) -> int:
    """Return the memory that vLLM demands before it starts: one request of the maximum length.

    needed = blocks(L) x block_bytes

    Parameters
    ----------
    groups
        The model's layer groups.
    dtype
        KV dtype.
    max_model_len
        Length of the longest request, L [tokens].
    setup
        The engine.

    Returns
    -------
    int
        "GiB KV cache is needed" of the start-up error, on one GPU [B].

    Notes
    -----
    vllm-project/vllm@4253bd4 wants one block more, which it holds back; the printed figure is without it.

    References
    ----------
    vLLM 0.33.0 `v1/core/kv_cache_planning.py` (`_max_memory_usage_bytes_from_groups`); eugr/spark-vllm-docker#396.

    Examples
    --------
    MiniMax-M2.7 on two GPUs, 196,608 tokens: 23.25 GiB.

    >>> from kvplan.core.kv.vllm_setup import VllmSetup
    >>> from kvplan.schema.model import FullAttention
    >>> minimax = (FullAttention(layers=62, kv_heads=8, key_dim=128, value_dim=128),)
    >>> needed_bytes(minimax, "bf16", 196_608, VllmSetup("0.29.1rc1", tp=2)) / 2**30
    23.25
    """
    require_at_least(_WHERE, ("max_model_len", max_model_len, 1))
    pool = _modelled_pool(groups, dtype, setup)
    return pool.blocks_of(max_model_len) * pool.block_bytes


def estimated_max_length(
    groups: Sequence[LayerGroup], dtype: KvDtype, available_bytes: int, max_model_len: int, setup: VllmSetup
) -> int:
    """Return the longest request that fits: "the estimated maximum model length is N" of the start-up error.

    N = the largest n <= L with blocks(n) x block_bytes <= available

    Parameters
    ----------
    groups
        The model's layer groups.
    dtype
        KV dtype.
    available_bytes
        Memory for the KV cache of one GPU [B].
    max_model_len
        Length that was asked for, L [tokens].
    setup
        The engine.

    Returns
    -------
    int
        Length [tokens], 0 when not even one token fits.

    Notes
    -----
    vllm-project/vllm@4253bd4 holds one block back and so prints up to one block less.

    References
    ----------
    vLLM 0.33.0 `v1/core/kv_cache_planning.py` (`_estimate_max_model_len_from_groups`); noonghunna/club-3090#334.

    Examples
    --------
    >>> from kvplan.core.kv.vllm_setup import VllmSetup
    >>> from kvplan.schema.model import FullAttention
    >>> minimax = (FullAttention(layers=62, kv_heads=8, key_dim=128, value_dim=128),)
    >>> estimated_max_length(minimax, "bf16", int(22.5 * 2**30), 196_608, VllmSetup("0.29.1rc1", tp=2))
    190256
    """
    require_at_least(_WHERE, ("max_model_len", max_model_len, 1), ("available_bytes", available_bytes, 0))
    pool = _modelled_pool(groups, dtype, setup)
    return _longest(pool, available_bytes // pool.block_bytes, max_model_len)


def _longest(pool: Pool, blocks: int, max_model_len: int) -> int:
    """Length of the longest request that so many blocks hold [tokens]."""
    # A longer request never takes fewer blocks, so the longest that fits can be bisected.
    return bisect_right(range(1, max_model_len + 1), blocks, key=pool.blocks_of)


def _printed_tokens(rule: LogRuleName, pool: Pool, blocks: int, request_tokens: int) -> int:
    """Tokens that vLLM prints under a rule [tokens]."""
    return {
        "single-group": blocks * pool.block_tokens,
        "smallest-block": blocks // pool.groups * pool.block_tokens,
        "max-length-requests": request_tokens,
    }[rule]


def _modelled_pool(groups: Sequence[LayerGroup], dtype: KvDtype, setup: VllmSetup) -> Pool:
    """Return the pool, or refuse where its layout is not modelled."""
    pool = vllm_pool(groups, dtype, setup)
    if pool.not_modelled:
        what = f"the log of this model is not modelled: {pool.not_modelled}"
        raise InputError.single(_WHERE, what, hint="`vllm_accounting` still counts the plain sum of its layers")
    return pool
