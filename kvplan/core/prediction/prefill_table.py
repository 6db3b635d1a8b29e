"""The prefill table as a whole: its rows as models of time, and how far physics alone strays from them."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final

from kvplan.core.prediction.prefill import PrefillModel, cold_seconds
from kvplan.core.prediction.prefill_fallback import PrefillEngine, fallback_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.base import Constant
    from kvplan.schema.hardware import Gpu
    from kvplan.schema.model import ModelSpec
    from kvplan.schema.prefill import PrefillRow

JUDGED_TOKENS: Final = (10_000, 32_000, 128_000)
"""Prompts at which two models of time are compared: the lengths at which the source of the table is quoted."""


@dataclass(frozen=True, slots=True)
class PrefillTable:
    """The rows with the models and GPUs that they name, by id, and the catalogue's constants."""

    rows: tuple[PrefillRow, ...]
    models: Mapping[str, ModelSpec]
    gpus: Mapping[str, Gpu]
    constants: Mapping[str, Constant]


@dataclass(frozen=True, slots=True)
class FallbackError:
    """How far the fallback is off at one row and length, as a share of the row's time: below 0 it is too fast."""

    row: str
    tokens: int
    error: float


@dataclass(frozen=True, slots=True)
class ErrorSummary:
    """The errors of the fallback over `rows` rows: the median and the worst of their sizes, and where that is."""

    rows: int
    median: float
    worst: FallbackError


def row_model(row: PrefillRow, derate: float) -> PrefillModel | None:
    """Return a row's coefficients as a model of time.

    Parameters
    ----------
    row
        The row.
    derate
        How many times as long real software takes [1].

    Returns
    -------
    PrefillModel or None
        The model; None for a row that is not usable.

    References
    ----------
    The row's own source.

    Examples
    --------
    >>> import kvplan
    >>> row = kvplan.load_catalogue().row("prefill", "gpt-oss-120b-h200-tp1-mxfp4")
    >>> round(10_000 / cold_seconds(row_model(row, 1.0), 10_000))
    41615
    """
    if row.c0_s is None or row.a_s_per_token is None or row.b_s_per_token2 is None or not row.usable:
        return None
    source = f"prefill row {row.id}: {row.source}"
    return PrefillModel(row.c0_s, row.a_s_per_token, row.b_s_per_token2, derate, row.confidence, source)


def row_engine(table: PrefillTable, row: PrefillRow) -> PrefillEngine | None:
    """Return the engine that a usable row describes.

    Parameters
    ----------
    table
        The table with the models and GPUs that its rows name.
    row
        One of its rows.

    Returns
    -------
    PrefillEngine or None
        None where the row is not usable, or its model or GPU is not at hand or does not tell its parameters.

    References
    ----------
    The catalogue.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.catalogue.prefills import prefill_table
    >>> table = prefill_table(kvplan.load_catalogue())
    >>> engine = row_engine(table, table.rows[0])
    >>> engine.spec.id, engine.gpu.id, engine.tp, engine.weights
    ('openai/gpt-oss-120b', 'rtx-pro-6000', 1, 'mxfp4')
    """
    spec, gpu = table.models.get(row.model), table.gpus.get(row.gpu)
    if not row.usable or row.tp is None or spec is None or gpu is None or spec.params_total is None:
        return None
    return PrefillEngine(spec, spec.params_total, spec.params_active or spec.params_total, row.weights, gpu, row.tp)


def fallback_errors(table: PrefillTable) -> tuple[FallbackError, ...]:
    r"""Compare the fallback with every usable row.

    .. math:: e(n) = \frac{T_{fallback}(n)}{T_{row}(n)} - 1

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    tuple of FallbackError
        Errors [1], row by row at 10,000, 32,000 and 128,000 tokens.

    Notes
    -----
    The shares of the fallback are medians over the same rows. With the shares of the products fitted without one model,
    that model's median error is 7 % (Llama-3.1-70B, Qwen3-32B) to 18 % (Qwen3-235B), instead of 8 % over all.

    References
    ----------
    Both sides without a derate: the rows have the times of kernels, so has the fallback that is fitted to them.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.catalogue.prefills import prefill_table
    >>> table = prefill_table(kvplan.load_catalogue())
    >>> [(error.tokens, round(error.error, 2)) for error in fallback_errors(table)[:3]]
    [(10000, 0.14), (32000, 0.18), (128000, 0.21)]
    """
    return tuple(_errors(table))


def error_summary(errors: tuple[FallbackError, ...]) -> ErrorSummary | None:
    """Sum the errors of the fallback up.

    Parameters
    ----------
    errors
        What `fallback_errors` found.

    Returns
    -------
    ErrorSummary or None
        Median and worst [1]; None when there is nothing to compare with.

    References
    ----------
    Median of the sizes, so that too fast and too slow do not cancel.

    Examples
    --------
    >>> error_summary((FallbackError("r", 10_000, 0.1), FallbackError("r", 32_000, -0.3), FallbackError("r", 9, 0.2)))
    ErrorSummary(rows=1, median=0.2, worst=FallbackError(row='r', tokens=32000, error=-0.3))
    """
    if not errors:
        return None
    worst = max(errors, key=lambda found: abs(found.error))
    return ErrorSummary(len({found.row for found in errors}), median(abs(found.error) for found in errors), worst)


def _errors(table: PrefillTable) -> Iterator[FallbackError]:
    """Yield the errors of all rows for which both sides exist."""
    for row in table.rows:
        known, engine = row_model(row, 1.0), row_engine(table, row)
        computed = fallback_model(engine, table.constants) if engine else None
        if known is None or computed is None:
            continue
        for tokens in JUDGED_TOKENS:
            # The same derate on both sides, or on neither, gives the same ratio.
            ratio = cold_seconds(computed, tokens) / computed.derate / cold_seconds(known, tokens)
            yield FallbackError(row.id, tokens, ratio - 1)
