"""The accounting `external-tier`: what a cache back end writes to the shared tier and reads back from it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from kvplan.core.arithmetic import ceil_div
from kvplan.core.kv.external_notes import external_notes
from kvplan.core.kv.external_parts import ExternalSetup, hybrid_manager_active, loaded_parts, stored_parts
from kvplan.core.kv.formula import term_line
from kvplan.schema.kv import Accounting

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kvplan.core.kv.external_parts import FileKind, Part
    from kvplan.schema.model import LayerGroup
    from kvplan.schema.request import KvDtype

__all__ = ["ExternalKv", "ExternalSetup", "external_accounting"]


@dataclass(frozen=True, slots=True)
class ExternalKv:
    """Stored bytes as an accounting, beside what a hit of the whole context reads back.

    `loaded_bytes_per_token` is the slope of reading [B/token]; `context_loaded_bytes` one whole context read back,
    windows and state once [B]; `notes` say what of the setup decided it.
    """

    accounting: Accounting
    loaded_bytes_per_token: float
    context_loaded_bytes: int
    notes: tuple[str, ...]


def external_accounting(
    groups: Sequence[LayerGroup], dtype: KvDtype, context_tokens: int, setup: ExternalSetup
) -> ExternalKv:
    """Count what the ranks of one engine write to the tier for one context, and read back.

    stored(n) = ceil(n / chunk) x files(slope x chunk) + ceil(n / checkpoint) x files(state) + files(windows once)

    files(b) = writing ranks x ceil(b / writing ranks / file unit) x file unit

    Parameters
    ----------
    groups
        The model's layer groups.
    dtype
        KV dtype.
    context_tokens
        Length of the context [tokens].
    setup
        Engine and back end.

    Returns
    -------
    ExternalKv
        Stored slope [B/token], fixed part [B] and context [B]; loaded slope [B/token] and context [B].

    Notes
    -----
    The slopes are exact, without rounding. A context is rounded up to whole chunks: vLLM and LMCache skip an
    unfinished last chunk unless told otherwise, so rounding up is the safe side for capacity. The bytes of one
    sequence; prompts that share a prefix share its chunks.

    References
    ----------
    IBM Redbook MD260021 (73,728 B/token for gpt-oss-120b: 100 x 120,000 tokens = 824 GiB); vLLM 0.33.0
    `config/vllm.py` and `v1/kv_offload/tiering`; LMCache 0.5.6 `cache_engine.py`; file rounding as in
    ModelEngine-Group/unified-cache-management `calculator.js`.

    Examples
    --------
    gpt-oss-120b in the Redbook's run, without the hybrid manager:

    >>> from kvplan.schema.model import FullAttention, SlidingAttention
    >>> from kvplan.schema.software import CacheBackend
    >>> groups = (FullAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64),
    ...           SlidingAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64, window_tokens=128))
    >>> backend = CacheBackend.model_construct(id="kvbm-g4", hybrid_manager=False, file_unit_bytes=4096)
    >>> setup = ExternalSetup(backend, tp=1, chunk_tokens=16, checkpoint_tokens=16, hybrid_manager=False)
    >>> stored = external_accounting(groups, "bf16", 120_000, setup).accounting
    >>> stored.bytes_per_token, 100 * stored.context_bytes
    (73728.0, 884736000000)
    """
    moved = _moved(tuple(groups), dtype, setup)
    accounting = Accounting(
        name="external-tier",
        scope=f"everything that the {setup.tp} ranks of one engine write" if setup.tp > 1 else "everything written",
        rule=moved.rule,
        bytes_per_token=moved.stored_bytes_per_token,
        fixed_bytes=sum(part.term.fixed_bytes for part in moved.stored),
        context_bytes=_files_bytes(moved.stored, context_tokens, setup),
        formula=moved.formula,
    )
    return ExternalKv(
        accounting=accounting,
        loaded_bytes_per_token=moved.loaded_bytes_per_token,
        context_loaded_bytes=_files_bytes(moved.loaded, context_tokens, setup),
        notes=moved.notes,
    )


@dataclass(frozen=True, slots=True)
class _Moved:
    """What of an external accounting is the same for every context length."""

    stored: tuple[Part, ...]
    loaded: tuple[Part, ...]
    stored_bytes_per_token: float
    loaded_bytes_per_token: float
    rule: str
    formula: tuple[str, ...]
    notes: tuple[str, ...]


@lru_cache(maxsize=1024)
def _moved(groups: tuple[LayerGroup, ...], dtype: KvDtype, setup: ExternalSetup) -> _Moved:
    """Work out once for a model and a setup what every context length shares."""
    stored, loaded = stored_parts(groups, dtype, setup), loaded_parts(groups, dtype, setup)
    return _Moved(
        stored=stored,
        loaded=loaded,
        stored_bytes_per_token=_slope(stored),
        loaded_bytes_per_token=_slope(loaded),
        rule=_rule_text(groups, setup),
        formula=tuple(_line(part, setup) for part in stored),
        notes=external_notes(groups, setup),
    )


def _slope(parts: Iterable[Part]) -> float:
    """Sum of the growing terms, exact until the last step."""
    exact = sum(
        (Fraction(part.term.entry_bytes, part.term.tokens_per_entry) for part in parts if part.file != "once"),
        start=Fraction(),
    )
    return float(exact)


def _files_bytes(parts: Iterable[Part], tokens: int, setup: ExternalSetup) -> int:
    """Bytes of all files of one context; parts that the same ranks write equally often share a file."""
    # A chunk that is only partly filled is written all the same, as a whole file.
    counts: dict[FileKind, int] = {
        "chunk": ceil_div(tokens, setup.chunk_tokens),
        "checkpoint": ceil_div(tokens, setup.checkpoint_tokens),
        "once": 1,
    }
    file_bytes: Counter[tuple[FileKind, int]] = Counter()
    for part in parts:
        file_bytes[part.file, part.writers] += _bytes_at_once(part, tokens, setup)
    # Each writing rank has a file of its own and pads it to the back end's unit.
    unit_bytes = setup.backend.file_unit_bytes
    return sum(
        counts[kind] * writers * ceil_div(size, writers * unit_bytes) * unit_bytes
        for (kind, writers), size in file_bytes.items()
    )


def _bytes_at_once(part: Part, tokens: int, setup: ExternalSetup) -> int:
    """Bytes of a part in one chunk, one checkpoint, or the whole prompt."""
    term = part.term
    match part.file:
        case "chunk":
            return ceil_div(term.entry_bytes * setup.chunk_tokens, term.tokens_per_entry)
        case "checkpoint":
            return term.entry_bytes
        case "once":
            return term.context_bytes(tokens)


def _line(part: Part, setup: ExternalSetup) -> str:
    """Write the formula line of one part."""
    return term_line(part.term, part.dtype, kv_heads=part.kv_heads, tp=setup.tp, copies=part.copies)


def _rule_text(groups: Sequence[LayerGroup], setup: ExternalSetup) -> str:
    """Say the rule in one sentence."""
    manager = "on" if hybrid_manager_active(groups, setup) else "off"
    return (
        f"{setup.backend.id}, hybrid manager {manager}: contexts rounded up to whole chunks of {setup.chunk_tokens:,} "
        f"tokens, one file a chunk and writing rank, rounded up to {setup.backend.file_unit_bytes:,} B; a recurrent "
        f"state every {setup.checkpoint_tokens:,} tokens"
    )
