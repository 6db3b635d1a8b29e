"""From a workload to the rates of a whole fleet, and to the node count that each limit asks for."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Final, Literal

from kvplan.core.ece.judge import judge
from kvplan.core.prediction.contention import read_beside_writes
from kvplan.core.sizing.workload import (
    arrival_rate,
    burst_factor,
    cold_gpu_seconds,
    kv_production,
    shape,
    warm_gpu_seconds,
)
from kvplan.core.sizing.workload_tiers import g4_share
from kvplan.schema.workload_load import NodeNeed, WorkloadLoad
from kvplan.units import format_duration, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.core.sizing.workload import Served
    from kvplan.schema.ece import Limit
    from kvplan.schema.workload import Workload
    from kvplan.schema.workload_load import NodeLimit

_LIMIT_NAMES: Final[dict[NodeLimit, str]] = {
    "capacity": "capacity",
    "read": "read_bandwidth",
    "write": "write_bandwidth",
    "retention": "retention",
    "endurance": "endurance",
    "tolerance": "tolerance_nodes",
}
"""What each limit is called among the limits of a candidate."""


@dataclass(frozen=True, slots=True)
class Burst:
    """A traced burst: peak over mean [1], and the request rate at which it was traced [1/s]."""

    peak_to_mean: float
    requests_per_s: float


@dataclass(frozen=True, slots=True)
class TierOffer:
    """What a tier of so many nodes gives: rates [B/s], usable capacity [B], writes that its drives' rating allows."""

    nodes: int
    read_bytes_per_s: float
    write_bytes_per_s: float
    usable_bytes: float
    endurance_bytes_per_s: float


@dataclass(frozen=True, slots=True)
class NodeRules:
    """How a tier is planned.

    `planned_share` [1] of what writes leave of the read rate may be read; writes take `write_interference` [1] of their
    own share of the tier off it, as `kvplan.core.prediction.contention.read_beside_writes` has it. A purge leaves
    `low_watermark` [1] of the capacity; `in_flight_bytes` [B] of contexts are held at least, and `least_nodes` [nodes]
    survive what must be survived.
    """

    planned_share: float
    low_watermark: float
    write_interference: float
    in_flight_bytes: float = 0.0
    least_nodes: int = 1


def workload_load(workload: Workload, gpus: int, served: Served, burst: Burst) -> WorkloadLoad:
    r"""Return what a workload asks of the tier, for the whole fleet.

    .. math:: r = \lambda f_4 (n - m) B_r, \qquad w = \lambda (m + o) s B_w, \qquad C = w \tau

    Parameters
    ----------
    workload
        The workload: prompts of n tokens with m new, o of output where it is stored, write share s [1], retention
        tau [s].
    gpus
        GPUs of the fleet [GPUs].
    served
        The model as an engine serves it, B_w stored and B_r loaded [B/token].
    burst
        Used where the workload gives no burst factor.

    Returns
    -------
    WorkloadLoad
        Rates [1/s] and [B/s], sizes [B], shares [1]; lambda is the request rate [1/s], f4 the share of hits that the
        tier serves [1].

    Notes
    -----
    Means. Loading does not keep a GPU busy, and a fleet busy above 1 cannot serve the workload at all.

    References
    ----------
    `kvplan.core.sizing.workload` and `kvplan.core.sizing.workload_tiers`.

    Examples
    --------
    gpt-oss-120b on 256 H200, an agent with nine of ten hits in local tiers:

    >>> from kvplan.core.prediction.prefill import PrefillModel
    >>> from kvplan.core.sizing.workload import Served
    >>> from kvplan.schema.workload import Workload
    >>> h200 = Served(PrefillModel(0.036, 17.3e-6, 0.313e-9, 1.15, "derived", "aiconfigurator"), 1, 73_728, 73_728)
    >>> agent = Workload(busy_share=0.7, prompt_tokens=66_000, suffix_tokens=2_000, local_hit_share=0.9)
    >>> load = workload_load(agent, 256, h200, Burst(2.7, 3.4))
    >>> round(load.read_bytes_per_s / 1e9), round(load.write_bytes_per_s / 1e9)
    (268, 84)
    """
    request, rate = shape(workload), arrival_rate(workload, gpus, served)
    warm, factor = warm_gpu_seconds(workload, served), workload.burst_factor
    if factor is None:
        factor = burst_factor(rate, burst.peak_to_mean, burst.requests_per_s)
    share = g4_share(workload, gpus, served)
    read = rate * share * request.hit_tokens * served.loaded_bytes_per_token
    stored_tokens = request.new_tokens + (workload.output_tokens if workload.store_output else 0.0)
    write = rate * stored_tokens * workload.write_share * served.stored_bytes_per_token
    return WorkloadLoad(
        requests_per_s=rate,
        busy_share=rate * served.gpus_per_engine * warm / gpus,
        gpu_s=warm,
        cold_gpu_s=cold_gpu_seconds(workload, served),
        prompt_tokens=request.tokens,
        new_tokens=request.new_tokens,
        hit_share=request.hit_tokens / request.tokens,
        g4_share=share,
        read_bytes_per_s=read,
        peak_read_bytes_per_s=read * factor,
        burst_factor=factor,
        write_bytes_per_s=write,
        held_bytes=write * workload.retention_s,
        kv_production_bytes_per_s_per_gpu=kv_production(workload, served),
    )


def sustained_requests(load: WorkloadLoad, engines: float, planned_read_bytes_per_s: float) -> tuple[float, float]:
    r"""Return how many requests a fleet sustains with a tier, and with recompute alone.

    .. math:: \lambda_4 = \min(N / t, \lambda R / r), \qquad \lambda_0 = N / t_0

    Parameters
    ----------
    load
        What the workload asks: lambda requests [1/s] read r [B/s], each takes t [s] of an engine, or t0 uncached.
    engines
        Engines N of the fleet [engines].
    planned_read_bytes_per_s
        What hits may read of the tier, R [B/s].

    Returns
    -------
    tuple of float
        Requests with the tier and without it [1/s].

    Notes
    -----
    Where the first is the lower one the tier still shortens the wait, but engines should compute rather than queue.

    References
    ----------
    Utilisation law, applied to engines and to the tier.

    Examples
    --------
    Long contexts of gpt-oss-120b on 256 H200, every hit from the tier: recompute sustains more.

    >>> from kvplan.core.prediction.prefill import PrefillModel
    >>> from kvplan.core.sizing.workload import Served
    >>> from kvplan.schema.workload import Spread, Workload
    >>> h200 = Served(PrefillModel(0.036, 17.3e-6, 0.313e-9, 1.15, "derived", "aiconfigurator"), 1, 73_728, 73_728)
    >>> long = Workload(requests_per_s=50.0, prompt_tokens=Spread(mean=57_000, sigma=0.5), hit_share=0.95,
    ...                 output_tokens=0)
    >>> with_tier, alone = sustained_requests(workload_load(long, 256, h200, Burst(2.7, 3.4)), 256, 315e9)
    >>> round(with_tier), round(alone)
    (79, 96)
    """
    computed = engines / load.gpu_s
    # Nothing read means that the tier never is the limit.
    fetched = (
        load.requests_per_s * planned_read_bytes_per_s / load.read_bytes_per_s if load.read_bytes_per_s else computed
    )
    return min(computed, fetched), engines / load.cold_gpu_s


def planned_reads(tier: TierOffer, write_bytes_per_s: float, rules: NodeRules) -> float:
    r"""Return what hits may read of a tier beside the writes.

    .. math:: R = s T \max(1 - \phi w / W, 0)

    Parameters
    ----------
    tier
        The tier, which reads T alone, and writes W alone [B/s].
    write_bytes_per_s
        Writes w [B/s].
    rules
        Planned share s [1], write interference phi [1].

    Returns
    -------
    float
        Rate [B/s].

    References
    ----------
    Planning rule of this project; how far writes slow reads is not published for Storage Scale ECE.

    Examples
    --------
    >>> tier = TierOffer(8, 315e9, 200e9, 744e12, 8e9)
    >>> [round(planned_reads(tier, 84e9, NodeRules(0.7, 0.75, phi)) / 1e9, 1) for phi in (0, 1)]
    [220.5, 127.9]
    """
    if not tier.write_bytes_per_s:
        return 0.0 if write_bytes_per_s and rules.write_interference else rules.planned_share * tier.read_bytes_per_s
    left = read_beside_writes(
        tier.read_bytes_per_s, write_bytes_per_s, tier.write_bytes_per_s, rules.write_interference
    )
    return rules.planned_share * left


def node_needs(load: WorkloadLoad, workload: Workload, tier: TierOffer, rules: NodeRules) -> tuple[NodeNeed, ...]:
    r"""Judge a tier on every limit of a workload, and say how many nodes like its own each limit asks for.

    .. math:: N_{read} = \left\lceil \frac{r}{s T / N} + \frac{\phi w}{W / N} \right\rceil, \qquad
              N_{retention} = \left\lceil \frac{w \tau / \omega}{U / N} \right\rceil

    Parameters
    ----------
    load
        What the workload asks: reads r, writes w [B/s].
    workload
        Retention tau [s], and whether the drives' rating binds.
    tier
        A tier of N nodes that reads T, writes W [B/s] and holds U [B].
    rules
        Planned share s, write interference phi, low watermark omega [1]; least nodes and contexts in flight.

    Returns
    -------
    tuple of NodeNeed
        Capacity, read, write, retention, endurance, tolerance: need, have, margin and nodes.

    Notes
    -----
    Nodes are taken to add up evenly. Spares and recovery groups do not quite, so a count is confirmed by judging a
    tier of that many nodes in turn.

    References
    ----------
    Little's law for retention; the drives' data sheets for endurance; IBM Redbook MD260021 for rates of a node.

    Examples
    --------
    >>> from kvplan.core.prediction.prefill import PrefillModel
    >>> from kvplan.core.sizing.workload import Served
    >>> from kvplan.schema.workload import Workload
    >>> h200 = Served(PrefillModel(0.036, 17.3e-6, 0.313e-9, 1.15, "derived", "aiconfigurator"), 1, 73_728, 73_728)
    >>> agent = Workload(busy_share=0.7, prompt_tokens=66_000, suffix_tokens=2_000, local_hit_share=0.9)
    >>> load = workload_load(agent, 256, h200, Burst(2.7, 3.4))
    >>> rules = NodeRules(planned_share=0.7, low_watermark=0.75, write_interference=1.0, least_nodes=4)
    >>> needs = node_needs(load, agent, TierOffer(8, 315e9, 200e9, 744e12, 9.1e9), rules)
    >>> [(need.limit, need.nodes) for need in needs]
    [('capacity', 1), ('read', 14), ('write', 4), ('retention', 5), ('endurance', 74), ('tolerance', 4)]
    >>> nodes_needed(needs)
    14
    """
    write, share = load.write_bytes_per_s, rules.planned_share
    held, kept = load.held_bytes / rules.low_watermark, format_duration(workload.retention_s)
    texts: dict[NodeLimit, str] = {
        "capacity": "holds the contexts in flight",
        "read": f"hits may read {format_percent(share, 0)} of what writes leave",
        "write": "takes what is new",
        "retention": f"keeps what is written {kept}, purged down to {format_percent(rules.low_watermark, 0)}",
        "endurance": "stays within the drives' rated writes a day",
        "tolerance": "survives what must be survived",
    }
    found = (
        _need("capacity", rules.in_flight_bytes, tier.usable_bytes, "B", tier.nodes),
        _read_need(load, tier, rules),
        _need("write", write, tier.write_bytes_per_s, "B/s", tier.nodes),
        _need("retention", held, tier.usable_bytes, "B", tier.nodes),
        _need("endurance", write, tier.endurance_bytes_per_s, "B/s", tier.nodes, binds=workload.keep_endurance),
        _need("tolerance", rules.least_nodes, tier.nodes, "nodes", tier.nodes),
    )
    return tuple(need.model_copy(update={"text": texts[need.limit]}) for need in found)


def nodes_needed(needs: Iterable[NodeNeed]) -> int | None:
    """Return the node count that satisfies every limit that binds.

    Parameters
    ----------
    needs
        The limits, as `node_needs` judges them.

    Returns
    -------
    int or None
        Nodes [nodes]; None where no number of such nodes does.

    References
    ----------
    Each limit is met by its own count, so all are by the largest.

    Examples
    --------
    >>> nodes_needed([_need("read", 300, 100, "B/s", 4), _need("endurance", 900, 100, "B/s", 4, binds=False)])
    12
    """
    counts = [need.nodes for need in needs if need.binds]
    known = [count for count in counts if count is not None]
    return max(known, default=0) if len(known) == len(counts) else None


def as_limit(need: NodeNeed) -> Limit:
    """Write a need down as one of a candidate's limits; what does not bind warns.

    Parameters
    ----------
    need
        A need as `node_needs` judges it.

    Returns
    -------
    Limit
        The limit with its margin [1].

    References
    ----------
    `kvplan.core.ece.judge.judge`.

    Examples
    --------
    >>> limit = as_limit(_need("read", 300, 100, "B/s", 4))
    >>> limit.name, limit.holds, round(limit.margin, 2)
    ('read_bandwidth', False, -0.67)
    """
    severity: Literal["error", "warning"] = "error" if need.binds else "warning"
    name = _LIMIT_NAMES[need.limit]
    return judge(name, need.need, need.have, need.unit, text=need.text, severity=severity)


def _need(
    limit: NodeLimit,
    need: float,
    have: float,
    unit: str,
    tier_nodes: int,
    *,
    binds: bool = True,
) -> NodeNeed:
    """Judge one limit, and count the nodes that it asks for; none where a tier gives nothing of what is needed."""
    # Rounding must not ask for a node that arithmetic does not.
    nodes = ceil(round(need * tier_nodes / have, 9)) if have else None
    return NodeNeed(
        limit=limit,
        nodes=max(nodes, 1) if nodes is not None else None if need else 1,
        need=need,
        have=have,
        margin=have / need - 1 if need else None,
        unit=unit,
        binds=binds,
        text="",
    )


def _read_need(load: WorkloadLoad, tier: TierOffer, rules: NodeRules) -> NodeNeed:
    """Judge reads: nodes for the reads, and nodes that are busy with the writes."""
    read, write = load.read_bytes_per_s, load.write_bytes_per_s
    judged = _need("read", read, planned_reads(tier, write, rules), "B/s", tier.nodes)
    disturbed = rules.write_interference * write
    if not read or not tier.read_bytes_per_s or (disturbed and not tier.write_bytes_per_s):
        return judged
    share = read / (rules.planned_share * tier.read_bytes_per_s)
    share += disturbed / tier.write_bytes_per_s if disturbed else 0.0
    return judged.model_copy(update={"nodes": max(ceil(round(share * tier.nodes, 9)), 1)})
