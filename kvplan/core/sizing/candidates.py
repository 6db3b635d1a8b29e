"""Each tier judged on every limit, and the smallest that holds them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.ece.tolerance import satisfies
from kvplan.core.sizing.guidance import AXES, guidance_limits
from kvplan.errors import NoProfileFitsError
from kvplan.schema.ece import Limit
from kvplan.schema.plan import Candidate
from kvplan.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.sizing.inputs import SizingInputs
    from kvplan.core.sizing.tiers import Tier
    from kvplan.schema.plan import Demand
    from kvplan.schema.request import Survive

READ_LIMIT = "read bandwidth"
_COUNTED = (*AXES, READ_LIMIT, "capacity")
FAILURES_ASKED: dict[Survive, int] = {"node": 1, "node+drive": 2, "2-nodes": 2, "3-nodes": 3}


def limits_of(tier: Tier, inputs: SizingInputs, demand: Demand) -> tuple[Limit, ...]:
    """Judge a tier on every limit, the guidance's axes first.

    Parameters
    ----------
    tier
        Candidate with its geometry and rates.
    inputs
        The request with the catalogue rows that it names.
    demand
        What the tier must give: reads [B/s] and capacity [B].

    Returns
    -------
    tuple of Limit
        Each limit with its verdict and margin [1].

    Examples
    --------
    >>> callable(limits_of)
    True

    References
    ----------
    IBM Redbook MD260021 for the axes; the geometry's limits name their own sources. Units [B], [B/s], [1].
    """
    usable = tier.geometry.usable_bytes
    read = tier.rates.read_bytes_per_s
    capacity_text = "at least the contexts in flight"
    return (
        *guidance_limits(tier.parts.profile, inputs.request.gpus, inputs.model.params_total),
        _need_limit(READ_LIMIT, demand.read_bytes_per_s, read, "B/s", f"binding: {tier.rates.binding_stage}"),
        _need_limit("capacity", demand.capacity_bytes, usable, "B", capacity_text),
        *_tolerance_limit(tier, inputs.request.survive),
        *tier.geometry.limits,
    )


def broken(limits: Sequence[Limit]) -> tuple[Limit, ...]:
    """Return the limits that rule a tier out."""
    return tuple(limit for limit in limits if not limit.holds and limit.severity == "error")


def choose(tiers: Sequence[Tier], limits: Sequence[Sequence[Limit]]) -> int:
    """Return the position of the chosen tier: the forced one, else the first that holds every limit.

    Parameters
    ----------
    tiers
        Candidates, smallest first; at most one is marked as forced.
    limits
        The limits of each.

    Returns
    -------
    int
        Position of the chosen tier, from 0 [1].

    Raises
    ------
    NoProfileFitsError
        When nothing fits, or the forced tier cannot be built; the message lists the candidates and what they break.

    Notes
    -----
    A forced tier wins although it breaks the guidance; what it breaks is reported. Only an impossible geometry
    rules it out.
    """
    forced = next((index for index, tier in enumerate(tiers) if tier.forced), None)
    if forced is not None:
        if broken(tiers[forced].geometry.limits):
            raise _refusal([tiers[forced]], [limits[forced]])
        return forced
    for index, judged in enumerate(limits):
        if not broken(judged):
            return index
    raise _refusal(tiers, limits)


def candidate(tier: Tier, limits: tuple[Limit, ...], *, chosen: bool) -> Candidate:
    """Write a judged tier down for the Plan."""
    failing = broken(limits)
    return Candidate(
        name=tier.name,
        nodes=tier.nodes,
        erasure_code=tier.code.name,
        usable_bytes=tier.geometry.usable_bytes,
        usable_fraction=tier.geometry.usable_fraction,
        read_bytes_per_s=tier.rates.read_bytes_per_s,
        accepted=not failing,
        chosen=chosen,
        limits=limits,
        reason="; ".join(limit_sentence(limit) for limit in failing) or "holds every limit",
    )


def physical_choice(limits: Sequence[Sequence[Limit]], planned_share: float) -> int | None:
    """Return the first tier that physics alone would choose: every limit but the guidance's two axes.

    Parameters
    ----------
    limits
        The limits of each tier, smallest first.
    planned_share
        Share of read bandwidth that may be planned [1]; unlike the guidance, physics keeps the rest in reserve.

    Returns
    -------
    int or None
        Position of the tier, from 0 [1]; None when none is enough.
    """
    for index, judged in enumerate(limits):
        reads = next(limit for limit in judged if limit.name == READ_LIMIT)
        others = [limit for limit in broken(judged) if limit.name not in AXES]
        if not others and reads.have * planned_share >= reads.need:
            return index
    return None


def limit_sentence(limit: Limit) -> str:
    """Say in words how a limit is broken."""
    if limit.text and limit.name not in _COUNTED:
        return limit.text
    need, have = format_quantity(limit.need, limit.unit), format_quantity(limit.have, limit.unit)
    return f"{limit.name}: needs {need}, has {have}"


def _refusal(tiers: Sequence[Tier], limits: Sequence[Sequence[Limit]]) -> NoProfileFitsError:
    """Build the error that lists every candidate and what it breaks."""
    lines = [
        f"  {tier.name}, {tier.nodes} nodes, {tier.code.name}: {'; '.join(map(limit_sentence, broken(judged)))}"
        for tier, judged in zip(tiers, limits, strict=True)
    ]
    return NoProfileFitsError(
        "no profile fits:\n" + "\n".join(lines),
        hint="relax --survive, split the fleet over several tiers, or force a choice with --profile, --nodes or --code",
    )


def _need_limit(name: str, need: float, have: float, unit: str, text: str) -> Limit:
    """Judge something that there must be enough of."""
    margin = have / need - 1 if need else None
    return Limit(name=name, need=need, have=have, unit=unit, margin=margin, holds=have >= need, text=text)


def _tolerance_limit(tier: Tier, survive: Survive | None) -> tuple[Limit, ...]:
    """Judge fault tolerance where it was made a requirement."""
    if survive is None:
        return ()
    tolerance = tier.geometry.fault_tolerance
    need = FAILURES_ASKED[survive]
    have = tolerance.node_failures
    if survive == "node+drive":
        have += min(tolerance.further_device_failures, 1)
    text = (
        f"--survive {survive}: {tier.code.name} on {tier.nodes} nodes survives {tolerance.node_failures} node(s) "
        f"and {tolerance.further_device_failures} further device(s)"
    )
    return (
        Limit(
            name="fault tolerance",
            need=need,
            have=have,
            unit="failures",
            margin=have / need - 1,
            holds=satisfies(tolerance, survive),
            text=text,
        ),
    )
