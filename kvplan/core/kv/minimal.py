"""The accounting `minimal`: what the architecture must keep of one context, the model counted once."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from kvplan.core.kv.formula import formula_lines
from kvplan.core.kv.rules import RULES
from kvplan.core.kv.terms import context_bytes, fixed_bytes, slope_bytes_per_token
from kvplan.schema.kv import Accounting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.schema.model import LayerGroup
    from kvplan.schema.request import KvDtype


def minimal_accounting(groups: Sequence[LayerGroup], dtype: KvDtype, context_tokens: int) -> Accounting:
    """Count the KV bytes that the architecture itself requires.

    bytes(n) = slope x n + sum of windows min(n, W) + constant state

    Parameters
    ----------
    groups
        The model's layer groups.
    dtype
        KV dtype.
    context_tokens
        Length of the context [tokens].

    Returns
    -------
    Accounting
        Slope [B/token], fixed part [B] and the context's bytes [B] under the rule `minimal`.

    Notes
    -----
    No engine stores less; all of them store or reserve more, by blocks, copies on ranks, or windows kept in full.

    References
    ----------
    gpt-oss-120b: 36,864 B/token and 4.5 MiB from its `config.json` (ai-dynamo/aiconfigurator@095f58a).

    Examples
    --------
    >>> from kvplan.schema.model import FullAttention
    >>> group = FullAttention(layers=80, kv_heads=8, key_dim=128, value_dim=128)
    >>> accounting = minimal_accounting([group], "bf16", 1000)
    >>> accounting.bytes_per_token, accounting.fixed_bytes, accounting.context_bytes
    (327680.0, 0, 327680000)
    """
    slope, fixed, lines = _whatever_the_length(tuple(groups), dtype)
    return Accounting(
        name="minimal",
        scope="the model once",
        rule=RULES["minimal"].text,
        bytes_per_token=slope,
        fixed_bytes=fixed,
        context_bytes=context_bytes(groups, dtype, context_tokens),
        formula=lines,
    )


@lru_cache(maxsize=1024)
def _whatever_the_length(groups: tuple[LayerGroup, ...], dtype: KvDtype) -> tuple[float, int, tuple[str, ...]]:
    """Work out once for a model what every context shares: slope [B/token], fixed part [B], the sum written out."""
    return slope_bytes_per_token(groups, dtype), fixed_bytes(groups, dtype), formula_lines(groups, dtype)
