"""Each tier judged on every limit, and the smallest that holds them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.ece.judge import judge
from kvplan.core.ece.strips import survival_words
from kvplan.core.ece.tolerance import SURVIVED_BY
from kvplan.core.sizing.guidance import AXES, guidance_limits
from kvplan.core.sizing.tiers import required
from kvplan.core.sizing.workload_demand import as_limit
from kvplan.errors import NoProfileFitsError
from kvplan.schema.plan import Candidate
from kvplan.units import format_percent, format_quantity, format_rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.sizing.inputs import SizingInputs
    from kvplan.core.sizing.tiers import Tier
    from kvplan.schema.demand import Demand
    from kvplan.schema.ece import Limit
    from kvplan.schema.request import Request
    from kvplan.schema.workload_load import NodeNeed

READ_LIMIT = "read_bandwidth"
CAPACITY_LIMIT = "capacity"
MAIN_LIMITS = (*AXES, READ_LIMIT, CAPACITY_LIMIT)
"""The limits that every candidate is shown with; need and have say all of them, so they take no rule in words."""


def limits_of(
    tier: Tier, inputs: SizingInputs, demand: Demand, needs: Sequence[NodeNeed] | None = None
) -> tuple[Limit, ...]:
    """Judge a tier on every limit, the guidance's axes first.

    Parameters
    ----------
    tier
        Candidate with its geometry and rates.
    inputs
        The request with the catalogue rows that it names.
    demand
        What the tier must give: reads [B/s] and capacity [B].
    needs
        What a workload needs of it, where one was given; the guidance's axes then only warn.

    Returns
    -------
    tuple of Limit
        Each limit with its verdict and margin [1].

    Examples
    --------
    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> [limit.name for limit in plan.candidates[1].limits[:4]]
    ['gpus', 'model_parameters', 'read_bandwidth', 'capacity']

    References
    ----------
    IBM Redbook MD260021 for the axes; the geometry's limits name their own sources. Units [B], [B/s], [1].
    """
    guided = guidance_limits(tier.parts.profile, inputs.request.gpus, inputs.model.params_class)
    if needs is not None:
        return (
            *(limit.model_copy(update={"severity": "warning"}) for limit in guided),
            *map(as_limit, needs),
            _tolerance_limit(tier, inputs.request),
            *tier.geometry.limits,
        )
    usable = tier.geometry.usable_bytes
    read = tier.rates.read_bytes_per_s
    return (
        *guided,
        judge(READ_LIMIT, demand.read_bytes_per_s, read, "B/s", text=f"binding: {tier.rates.binding_stage}"),
        judge(CAPACITY_LIMIT, demand.capacity_bytes, usable, "B", text="at least the contexts in flight"),
        _write_limit(tier, inputs, demand),
        _tolerance_limit(tier, inputs.request),
        *tier.geometry.limits,
    )


def broken(limits: Sequence[Limit]) -> tuple[Limit, ...]:
    """Return the limits that rule a tier out.

    Parameters
    ----------
    limits
        The limits of a tier.

    Returns
    -------
    tuple of Limit
        Those of severity error that do not hold.

    References
    ----------
    Severity as defined by `kvplan.schema.ece.Limit`: a warning never rules out.

    Examples
    --------
    >>> [limit.name for limit in broken([judge("gpus", 80, 64, "GPUs"), judge("capacity", 1, 2, "B")])]
    ['gpus']
    """
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

    References
    ----------
    IBM Redbook MD260021, sizing guidance: the smallest profile that covers the request.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> sizes = [SimpleNamespace(forced=False), SimpleNamespace(forced=False)]
    >>> choose(sizes, [[judge("gpus", 128, 64, "GPUs")], [judge("gpus", 128, 256, "GPUs")]])
    1
    """
    # Who forces a tier knows the guidance; only a geometry that cannot exist is refused.
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
    """Write a judged tier down for the Plan.

    Parameters
    ----------
    tier
        The tier.
    limits
        Its limits, judged.
    chosen
        Whether it is the one.

    Returns
    -------
    Candidate
        Capacity [B], read rate [B/s], limits, and in words why it was rejected.

    References
    ----------
    The limits name their own sources.

    Examples
    --------
    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> [(found.name, found.accepted, found.chosen) for found in plan.candidates[:2]]
    [('compact-4', False, False), ('standard-8', True, True)]
    """
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

    References
    ----------
    Derived: the guidance's axes are a rule of thumb for the same bandwidth and capacity.

    Examples
    --------
    >>> limits = [judge("gpus", 128, 64, "GPUs"), judge("read_bandwidth", 150e9, 157e9, "B/s")]
    >>> physical_choice([limits], 1.0), physical_choice([limits], 0.7)
    (0, None)
    """
    for index, judged in enumerate(limits):
        reads = next(limit for limit in judged if limit.name == READ_LIMIT)
        others = [limit for limit in broken(judged) if limit.name not in AXES]
        if not others and reads.have * planned_share >= reads.need:
            return index
    return None


def limit_sentence(limit: Limit) -> str:
    """Say in words how a limit is broken.

    Parameters
    ----------
    limit
        The limit.

    Returns
    -------
    str
        Its rule where it has one, else need and have with their unit, such as [GPUs] or [B/s].

    References
    ----------
    The rule is the limit's own text.

    Examples
    --------
    >>> limit_sentence(judge("gpus", 128, 64, "GPUs"))
    'gpus: needs 128 GPUs, has 64 GPUs'
    """
    if limit.text and limit.name not in MAIN_LIMITS:
        return limit.text
    need, have = format_quantity(limit.need, limit.unit), format_quantity(limit.have, limit.unit)
    return f"{limit.title}: needs {need}, has {have}"


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


def _write_limit(tier: Tier, inputs: SizingInputs, demand: Demand) -> Limit:
    """Judge the writes that go with the reads; their rate rests on an assumed hit share, so they only warn."""
    need, have = demand.write_bytes_per_s, tier.rates.write_bytes_per_s
    text = "" if have >= need else _write_text(need, have, inputs.constant("guidance.hit_share"))
    return judge("write_bandwidth", need, have, "B/s", text=text, severity="warning")


def _write_text(need: float, have: float, hit_share: float) -> str:
    """Say what the writes ask for and what there is [B/s]."""
    return (
        f"at a hit share of {format_percent(hit_share, 0)} (assumed) the read demand brings {format_rate(need)} of "
        f"writes; the tier writes {format_rate(have)}"
    )


def _tolerance_limit(tier: Tier, request: Request) -> Limit:
    """Judge fault tolerance against what was asked for, one node at least."""
    tolerance, survive = tier.geometry.fault_tolerance, required(request)
    nodes, drives = SURVIVED_BY[survive]
    # Only the drives that were asked for count, or many drives would pass for a node.
    have = tolerance.node_failures + min(tolerance.further_device_failures, drives)
    survived = survival_words(tolerance.node_failures, tolerance.further_device_failures)
    asked = f"--survive {survive}" if request.survive else "every tier must survive a node"
    text = f"{asked}: {tier.code.name} on {tier.nodes} nodes survives {survived}"
    return judge("fault_tolerance", nodes + drives, have, "failures", text=text)
