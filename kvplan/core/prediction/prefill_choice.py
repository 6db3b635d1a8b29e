"""Which model of a cold prefill holds for an engine: its own row, a row at another parallelism, or physics."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kvplan.core.prediction.prefill import PrefillModel, chunk_seconds
from kvplan.core.prediction.prefill_fallback import PrefillEngine, computed_format, fallback_model
from kvplan.core.prediction.prefill_table import PrefillTable, error_summary, fallback_errors, row_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.base import Constant
    from kvplan.schema.model import ModelSpec
    from kvplan.schema.prefill import PrefillRow

_SAME_SIZE: Final = 0.03
"""Parameter counts that differ by less are those of one model, as counted or as its name rounds them."""


def prefill_model(table: PrefillTable, engine: PrefillEngine, *, derate: float | None = None) -> PrefillModel | None:
    r"""Choose the model of a cold prefill for an engine.

    .. math:: a_g = a_{row} \frac{a_{fallback}(g)}{a_{fallback}(g_{row})}, \qquad
              b_g = b_{row} \frac{b_{fallback}(g)}{b_{fallback}(g_{row})}, \qquad
              c_{0,g} = c_{0,row} \frac{g_{row}}{g}

    Parameters
    ----------
    table
        The prefill table.
    engine
        Model, format of its weights, GPU, and tensor parallelism g.
    derate
        How many times as long real software takes [1]; `prefill.derate` when absent. Published figures and older
        engines need `prefill.derate_older_short` to `prefill.derate_older_long`.

    Returns
    -------
    PrefillModel or None
        The first that there is of: the row of this model on this GPU with these weights at this parallelism; the row
        at the nearest parallelism, scaled as above; the fallback, whose source states its error against all rows. None
        where none of them can be had, as for a GPU of which the peak is not known.

    Notes
    -----
    A row holds for every model of the same layers, heads and size, so for fine-tunes too. Nearest is meant in powers
    of two, of two as near the larger. Where the table has TP 1 and TP 4 of a model, one scaled to the other comes out
    from 15 % too fast to 19 % too slow. Expert parallelism and attention spread by request are not modelled.

    References
    ----------
    The rows' source, and `fallback_model`.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.catalogue.prefills import prefill_table
    >>> tables = kvplan.load_catalogue()
    >>> oss = tables.model("gpt-oss-120b")
    >>> engine = PrefillEngine(oss, oss.params_total, oss.params_active, "mxfp4", tables.gpu("h200"), 1)
    >>> model = prefill_model(prefill_table(tables), engine)
    >>> model.a_s_per_token, model.derate, model.confidence
    (1.73e-05, 1.15, 'derived')
    >>> two = prefill_model(prefill_table(tables), replace(engine, tp=2))
    >>> round(two.a_s_per_token * 1e6, 1), two.source.split("; ")[-1]
    (11.8, 'scaled from TP 4 to TP 2 by physics')
    """
    slower = table.constants["prefill.derate"].value if derate is None else derate
    rows = sorted(_rows_for(table, engine), key=lambda row: _distance(row, engine.tp))
    if rows and rows[0].tp == engine.tp:
        return row_model(rows[0], slower)
    computed = fallback_model(engine, table.constants)
    if computed is None:
        return None
    scaled = _scaled(table, rows[0], engine, computed) if rows else None
    return replace(scaled or _stated(table, engine, computed), derate=slower)


def experts_chunk_seconds(
    engine: PrefillEngine, tokens: float, chunk_tokens: float, constants: Mapping[str, Constant]
) -> float:
    """Return what short chunks add to a prefill of an engine.

    Parameters
    ----------
    engine
        What computes the prompt.
    tokens
        Tokens to compute [tokens].
    chunk_tokens
        Length of a chunk [tokens].
    constants
        The catalogue's constants; chunks above `prefill.chunk_limit_tokens` add nothing.

    Returns
    -------
    float
        Time [s]; 0 for a dense model.

    References
    ----------
    As `chunk_seconds`.

    Examples
    --------
    >>> import kvplan
    >>> tables = kvplan.load_catalogue()
    >>> oss = tables.model("gpt-oss-120b")
    >>> engine = PrefillEngine(oss, oss.params_total, oss.params_active, "mxfp4", tables.gpu("rtx-pro-6000"), 1)
    >>> [round(experts_chunk_seconds(engine, 130_000, chunk, tables.constants()), 2) for chunk in (2_048, 8_192)]
    [2.33, 0.0]
    """
    if not engine.has_experts or chunk_tokens > constants["prefill.chunk_limit_tokens"].value:
        return 0.0
    return chunk_seconds(tokens, chunk_tokens, engine.gpu_weights_bytes, engine.gpu.memory_bandwidth_bytes_per_s)


def _rows_for(table: PrefillTable, engine: PrefillEngine) -> Iterator[PrefillRow]:
    """Find the usable rows of an engine's model, GPU and weights, at any parallelism."""
    for row in table.rows:
        spec = table.models.get(row.model)
        same_setup = row.usable and (row.gpu, computed_format(row.weights)) == (
            engine.gpu.id,
            computed_format(engine.weights),
        )
        if same_setup and spec is not None and _same_model(spec, engine):
            yield row


def _same_model(spec: ModelSpec, engine: PrefillEngine) -> bool:
    """Tell whether a model has the layers, heads and size of the engine's."""
    if spec.id == engine.spec.id:
        return True
    if (spec.groups, spec.attention_heads) != (engine.spec.groups, engine.spec.attention_heads):
        return False
    total, active = spec.params_total, spec.params_active or spec.params_total
    return _near(total, engine.params_total) and _near(active, engine.params_active)


def _near(known: int | None, asked: int) -> bool:
    """Tell whether two counts are those of one model."""
    return known is not None and abs(asked / known - 1) <= _SAME_SIZE


def _distance(row: PrefillRow, tp: int) -> tuple[float, int]:
    """Order rows by how near their parallelism is; a larger one comes first, for it has all-reduces in it."""
    own = row.tp or 1
    return abs(math.log2(own / tp)), -own


def _scaled(table: PrefillTable, row: PrefillRow, engine: PrefillEngine, computed: PrefillModel) -> PrefillModel | None:
    """Carry a row to the engine's parallelism, in the ratio in which physics changes."""
    known, own = row_model(row, 1.0), row.tp or 1
    there = fallback_model(replace(engine, tp=own), table.constants)
    if known is None or there is None:
        return None
    # Sliding windows alone have no quadratic part, neither here nor there.
    curve = computed.b_s_per_token2 / there.b_s_per_token2 if there.b_s_per_token2 else own / engine.tp
    return replace(
        known,
        c0_s=known.c0_s * own / engine.tp,
        a_s_per_token=known.a_s_per_token * computed.a_s_per_token / there.a_s_per_token,
        b_s_per_token2=known.b_s_per_token2 * curve,
        confidence="derived",
        source=f"{known.source}; scaled from TP {own} to TP {engine.tp} by physics",
    )


def _stated(table: PrefillTable, engine: PrefillEngine, computed: PrefillModel) -> PrefillModel:
    """Add to the fallback's source how far it is off where rows exist, and why rows of this engine are not taken."""
    summary = error_summary(fallback_errors(table))
    said = [computed.source]
    if summary is not None:
        worst = summary.worst
        where = f"{worst.error:+.0%} at worst ({worst.row}, {worst.tokens:,} tokens)"
        said.append(f"off by {summary.median:.0%} in the median of {summary.rows} prefill rows and {where}")
    said += [f"not taken from {row.source}: {row.reason}" for row in _refused(table, engine)]
    return replace(computed, source="; ".join(said))


def _refused(table: PrefillTable, engine: PrefillEngine) -> Iterator[PrefillRow]:
    """Find the rows that are not usable and would have been the engine's."""
    for row in table.rows:
        spec = table.models.get(row.model)
        model = not row.model or (spec is not None and _same_model(spec, engine))
        tp = engine.tp > row.above_tp if row.tp is None else engine.tp == row.tp
        weights = not row.weights or computed_format(row.weights) == computed_format(engine.weights)
        if not row.usable and row.gpu == engine.gpu.id and model and tp and weights:
            yield row
