"""Settling what was published of the reference system, with the rows that the catalogue holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.catalogue.prefills import prefill_table
from kvplan.catalogue.tables import CLAIMS, FIGURES, MEASUREMENTS
from kvplan.core.prediction.claims.facts import ClaimFacts, TierBytes, TtftPoints
from kvplan.core.prediction.claims.settle import CHECKS, settled
from kvplan.core.prediction.prefill_choice import prefill_model
from kvplan.core.prediction.prefill_fallback import PrefillEngine
from kvplan.core.sizing.kv_report import kv_report
from kvplan.errors import InputError, Problem, did_you_mean
from kvplan.models import load_model, model_facts
from kvplan.resolve import resolve_kv
from kvplan.schema.claims import ClaimsReport
from kvplan.schema.plan import FORMAT_VERSION
from kvplan.schema.reports import KvRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.catalogue.loader import Catalogue
    from kvplan.core.prediction.prefill import PrefillModel
    from kvplan.schema.measurement import Measurement
    from kvplan.schema.reports import KvReport

_POINTS = ("redbook-cold-10k", "redbook-cold-130k", "redbook-cached-10k", "redbook-cached-130k")
"""The Redbook's times to the first token among the measurements: a short and a long prompt, without and with cache."""


def claims_report(catalogue: Catalogue) -> ClaimsReport:
    """Compute every published claim anew.

    Parameters
    ----------
    catalogue
        Tables with claims, published figures, measurements and everything that kvplan computes with.

    Returns
    -------
    ClaimsReport
        The claims with verdicts.

    Raises
    ------
    InputError
        With every row of a user's table that cannot be computed with, at once.
    """
    points = _points(catalogue)
    problems = [*_claim_problems(catalogue), *_figure_problems(catalogue), *_point_problems(points, catalogue)]
    if problems:
        raise InputError(problems)
    return ClaimsReport(
        format_version=FORMAT_VERSION,
        model=points[-1].model,
        gpu=points[-1].gpu,
        catalogue_version=catalogue.version,
        claims=settled(catalogue.records(CLAIMS), facts_of(catalogue)),
    )


def facts_of(catalogue: Catalogue) -> ClaimFacts:
    """Gather what the checks of claims compute with.

    Parameters
    ----------
    catalogue
        Tables with published figures, measurements, models and prefill rows.

    Returns
    -------
    ClaimFacts
        Published figures, measured times [s], bytes of the measured model [B], and its prefill model.
    """
    cold_short, cold_long, cached_short, cached_long = _points(catalogue)
    figures = {row.id: row.value for row in catalogue.records(FIGURES)}
    ttft = TtftPoints(
        short_tokens=cold_short.context_tokens,
        long_tokens=cold_long.context_tokens,
        cold_short_s=cold_short.ttft_s,
        cold_long_s=cold_long.ttft_s,
        cached_short_s=cached_short.ttft_s,
        cached_long_s=cached_long.ttft_s,
    )
    return ClaimFacts(figures, ttft, _tier_bytes(cold_long, figures, catalogue), _prefill(cold_long, catalogue))


def _points(catalogue: Catalogue) -> tuple[Measurement, ...]:
    """Look the four measurements up."""
    rows = {row.id: row for row in catalogue.records(MEASUREMENTS)}
    return tuple(rows[name] for name in _POINTS)


def _tier_bytes(point: Measurement, figures: Mapping[str, float], catalogue: Catalogue) -> TierBytes:
    """Count the KV cache of the measured model as `kvplan kv` does, for one GPU and for all of a server."""
    alone, together = (_counted(point, figures, tp, catalogue) for tp in (1, int(figures["pool.gpus"])))
    external = alone.accounting.external_tier
    return TierBytes(
        per_token=external.bytes_per_token,
        context=external.context_bytes,
        pool_tokens_alone=alone.vllm_log.tokens if alone.vllm_log else 0,
        pool_tokens_together=together.vllm_log.tokens if together.vllm_log else 0,
        longest_prompt=catalogue.model(point.model).max_position_tokens or 0,
    )


def _counted(point: Measurement, figures: Mapping[str, float], tp: int, catalogue: Catalogue) -> KvReport:
    """Run the KV calculator for the long prompt, with the published memory of a GPU."""
    request = KvRequest(
        model=point.model,
        context_tokens=point.context_tokens,
        tp=tp,
        available_bytes=int(figures["pool.bytes"]),
    )
    return kv_report(resolve_kv(request, catalogue))


def _prefill(point: Measurement, catalogue: Catalogue) -> PrefillModel:
    """Choose the prefill model of one such GPU."""
    facts = model_facts(load_model(point.model, catalogue))
    engine = PrefillEngine(
        facts.spec, facts.params_total, facts.params_active, facts.spec.weights_dtype, catalogue.gpu(point.gpu), 1
    )
    model = prefill_model(prefill_table(catalogue), engine)
    if model is None:
        what, allowed = f"no prefill model for {point.model} on {point.gpu}", "a row of the table `prefill`"
        raise InputError.single(catalogue.where(MEASUREMENTS.name, point.id), what, allowed=allowed)
    return model


def _claim_problems(catalogue: Catalogue) -> Iterator[Problem]:
    """Name claims that nothing settles, and figures that there are not."""
    known = catalogue.ids(FIGURES.name)
    for claim in catalogue.records(CLAIMS):
        where = catalogue.where(CLAIMS.name, claim.id)
        if claim.id not in CHECKS:
            allowed = f"ids with a check: {', '.join(CHECKS)}"
            hint = did_you_mean(claim.id, CHECKS)
            yield Problem(where, f"{claim.id!r} has no check", key="id", allowed=allowed, hint=hint)
        for name in claim.figures:
            if name not in known:
                hint = did_you_mean(name, known)
                yield Problem(where, f"{name!r} is no published figure", key="figures", hint=hint)


def _figure_problems(catalogue: Catalogue) -> Iterator[Problem]:
    """Name figures that nothing can be divided by."""
    for row in catalogue.records(FIGURES):
        if row.value <= 0:
            where = catalogue.where(FIGURES.name, row.id)
            yield Problem(where, f"{row.value:g} is no published figure", key="value", allowed="a number above 0")


def _point_problems(points: tuple[Measurement, ...], catalogue: Catalogue) -> Iterator[Problem]:
    """Name measurements that do not belong together: one system, a shorter and a longer prompt, cold and cached."""
    first, last = points[0], points[-1]
    for index, row in enumerate(points):
        wanted = (last.model, last.gpu, "cold" if index < len(points) / 2 else "cached")
        lengths = first.context_tokens, last.context_tokens
        fits = (row.model, row.gpu, row.prompt) == wanted and row.context_tokens == lengths[index % 2]
        if not fits or lengths[0] >= lengths[1]:
            allowed = "two lengths of one model on one GPU, the shorter first, cold and cached"
            yield Problem(catalogue.where(MEASUREMENTS.name, row.id), "does not fit the other three", allowed=allowed)
