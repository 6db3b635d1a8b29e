"""Which hits GPU, host and local flash answer, and what routing and local room would take off the shared tier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.core.sizing.workload import arrival_rate, shape
from kvplan.core.sizing.workload_spread import LogNormal, lognormal, mean_up_to, share_below, value_at
from kvplan.schema.workload_load import Relief
from kvplan.units import format_bytes, format_duration, format_percent, format_rate

if TYPE_CHECKING:
    from kvplan.core.sizing.workload import Served, Shape
    from kvplan.schema.workload import Routing, Workload
    from kvplan.schema.workload_load import WorkloadLoad

_HALVINGS: Final = 60
_ALL_BUT: Final = 1e-9
"""Share of gaps that may be longer than the longest time looked at."""


def resident_bytes(request: Shape, gap: LogNormal, bytes_per_s_per_token: float, kept_s: float) -> float:
    r"""Return what a cache holds that keeps every prefix for a while after its last use.

    .. math:: C(T) = \lambda B (m T + (n - m) E[\min(T, G)])

    Parameters
    ----------
    request
        The mean request: n tokens, m of them new.
    gap
        Time G from one use of a prefix to the next [s].
    bytes_per_s_per_token
        Requests of all engines whose caches are meant, times KV bytes of a token: lambda B [B/s/token].
    kept_s
        Time T that a prefix stays after its last use [s].

    Returns
    -------
    float
        Bytes [B].

    Notes
    -----
    The working set of a cache that expires by time; an LRU cache of that size reaches the same hits within two points.
    Every use touches all n tokens of a prompt: as many as hit are followed by another use, as many as are new are not.
    With the gaps of a trace as a lognormal it gives the capacity for 90 % of achievable hits 6 % too small on the
    Mooncake conversation trace and 24 % on the synthetic one.

    References
    ----------
    Denning, The working set model for program behavior, 1968; Mooncake FAST'25 traces for the checks.

    Examples
    --------
    The conversation trace, gaps up to 493 s kept:

    >>> from kvplan.schema.workload import Workload
    >>> traced = shape(Workload(requests_per_s=3.4, prompt_tokens=12_035, hit_share=0.374))
    >>> round(resident_bytes(traced, LogNormal(114, 1.142), 3.4, 493) / 1e6, 1)
    15.2
    """
    again = request.hit_tokens * mean_up_to(gap, kept_s)
    return bytes_per_s_per_token * (request.new_tokens * kept_s + again)


def kept_seconds(request: Shape, gap: LogNormal, bytes_per_s_per_token: float, local_bytes: float) -> float:
    """Return how long a prefix stays in caches of a size after its last use: the inverse of `resident_bytes`.

    Parameters
    ----------
    request
        The mean request [tokens].
    gap
        Time from one use of a prefix to the next [s].
    bytes_per_s_per_token
        Requests of all engines whose caches are meant, times KV bytes of a token [B/s/token].
    local_bytes
        Size of these caches together [B].

    Returns
    -------
    float
        Time [s]; never longer than practically every gap.

    Notes
    -----
    Requests that go back to their engine make many caches behave as one of their joint size.

    References
    ----------
    As `resident_bytes`.

    Examples
    --------
    >>> from kvplan.schema.workload import Workload
    >>> traced = shape(Workload(requests_per_s=3.4, prompt_tokens=12_035, hit_share=0.374))
    >>> round(kept_seconds(traced, LogNormal(114, 1.142), 3.4, 15.2e6))
    491
    """
    low, high = 0.0, value_at(gap, 1 - _ALL_BUT)
    if resident_bytes(request, gap, bytes_per_s_per_token, high) <= local_bytes:
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if resident_bytes(request, gap, bytes_per_s_per_token, middle) > local_bytes:
            high = middle
        else:
            low = middle
    return low


def routed_share(local_share: float, routing: Routing, engines: float, shared_share: float) -> float:
    r"""Return the share of hits that local caches answer when requests are routed so.

    .. math:: l = L \quad \text{(sticky)}, \qquad l = L (s + (1 - s) / N) \quad \text{(random)}

    Parameters
    ----------
    local_share
        The share L with requests going back to the engine that served them before [1].
    routing
        Whether they do.
    engines
        Engines N with caches of their own [engines].
    shared_share
        Share s of hits on a prefix that all prompts share, which every engine soon holds [1].

    Returns
    -------
    float
        Share [1].

    Notes
    -----
    Replaying the Mooncake conversation trace over 4, 8 and 16 engines leaves 42, 28 and 20 % of the hits local under
    random routing; with s = 0.2 the rule gives 38, 28 and 24 %.

    References
    ----------
    Mooncake FAST'25 conversation trace, replayed with local caches of a fifth of the working set.

    Examples
    --------
    >>> routed_share(0.9, "sticky", 8, 0.0), round(routed_share(0.9, "random", 8, 0.0), 4)
    (0.9, 0.1125)
    """
    if routing == "sticky":
        return local_share
    return local_share * (shared_share + (1 - shared_share) / max(engines, 1))


def g4_share(workload: Workload, gpus: int, served: Served, *, routing: Routing | None = None) -> float:
    r"""Return the share of hit tokens that the shared tier must serve.

    .. math:: f_4 = 1 - l(F(T))

    Parameters
    ----------
    workload
        The share itself, what local tiers answer, or their sizes; none of these means all hits.
    gpus
        GPUs of the fleet [GPUs].
    served
        The model as an engine serves it.
    routing
        Another routing than the workload's, for comparison; a share that was given stays.

    Returns
    -------
    float
        Share [1].

    References
    ----------
    F is the share of gaps shorter than `kept_seconds`, l is `routed_share`.

    Examples
    --------
    An agent whose local tiers answer nine of ten hits, until requests go to any engine:

    >>> from kvplan.core.prediction.prefill import PrefillModel
    >>> from kvplan.core.sizing.workload import Served
    >>> from kvplan.schema.workload import Workload
    >>> h200 = Served(PrefillModel(0.036, 17.3e-6, 0.313e-9, 1.15, "derived", "aiconfigurator"), 1, 73_728, 73_728)
    >>> agent = Workload(busy_share=0.7, prompt_tokens=66_000, suffix_tokens=2_000, local_hit_share=0.9)
    >>> [round(g4_share(agent, 256, h200, routing=way), 3) for way in ("sticky", "random")]
    [0.1, 0.996]
    """
    if workload.g4_share is not None:
        return workload.g4_share
    local = workload.local_hit_share or 0.0
    if workload.local_bytes_per_gpu and workload.reuse_gap_s:
        gap, touched = (
            lognormal(workload.reuse_gap_s),
            arrival_rate(workload, gpus, served) * served.stored_bytes_per_token,
        )
        local = share_below(gap, kept_seconds(shape(workload), gap, touched, workload.local_bytes_per_gpu * gpus))
    engines = gpus / served.gpus_per_engine
    return 1 - routed_share(local, routing or workload.routing, engines, workload.shared_share)


def relief(
    workload: Workload, load: WorkloadLoad, gpus: int, served: Served, planned_read_bytes_per_s: float
) -> Relief:
    r"""Say whether a tier reads enough for a workload, and what local tiers would have to take off it.

    .. math:: f_4^* = \min(1, R f_4 / r), \qquad C^* = C(F^{-1}(1 - f_4^*)) / G

    Parameters
    ----------
    workload
        The workload; without `reuse_gap_s` no local room can be told.
    load
        What it asks: r reads [B/s] at the share f4 [1].
    gpus
        GPUs G of the fleet [GPUs].
    served
        The model as an engine serves it.
    planned_read_bytes_per_s
        What hits may read of the tier, R [B/s].

    Returns
    -------
    Relief
        Shares [1], room for each GPU [B], and the answer in words.

    Notes
    -----
    The room stands for GPU, host and local flash together, with requests going back to their engine.

    References
    ----------
    As `resident_bytes` and `routed_share`.

    Examples
    --------
    >>> from kvplan.core.prediction.prefill import PrefillModel
    >>> from kvplan.core.sizing.workload import Served
    >>> from kvplan.core.sizing.workload_demand import Burst, workload_load
    >>> from kvplan.schema.workload import Spread, Workload
    >>> b200 = Served(PrefillModel(0.013, 14.9e-6, 0.2e-9, 1.15, "derived", "aiconfigurator"), 1, 73_728, 73_728)
    >>> questions = Workload(busy_share=0.7, prompt_tokens=100_500, suffix_tokens=500, g4_share=0.2,
    ...                      reuse_gap_s=Spread(p50=59, p90=282, p99=583))
    >>> load = workload_load(questions, 200, b200, Burst(2.7, 3.4))
    >>> found = relief(questions, load, 200, b200, 0.7 * 630e9)
    >>> found.suffices, round(found.g4_share_needed, 2)
    (False, 0.08)
    """
    per_share = load.read_bytes_per_s / load.g4_share if load.g4_share else 0.0
    needed = min(planned_read_bytes_per_s / per_share, 1.0) if per_share else 1.0
    kept = room = None
    if workload.reuse_gap_s and 0 < needed < 1:
        gap, touched = lognormal(workload.reuse_gap_s), load.requests_per_s * served.stored_bytes_per_token
        kept = value_at(gap, 1 - needed)
        room = resident_bytes(shape(workload), gap, touched, kept) / gpus
    known = workload.g4_share is None
    sticky = g4_share(workload, gpus, served, routing="sticky") if known else None
    scattered = g4_share(workload, gpus, served, routing="random") if known else None
    found = Relief(
        planned_read_bytes_per_s=planned_read_bytes_per_s,
        read_bytes_per_s=load.read_bytes_per_s,
        suffices=load.read_bytes_per_s <= planned_read_bytes_per_s,
        g4_share=load.g4_share,
        g4_share_needed=needed,
        sticky_g4_share=sticky,
        random_g4_share=scattered,
        local_bytes_per_gpu_needed=room,
        local_s_needed=kept,
        text="",
    )
    return found.model_copy(update={"text": _relief_text(found, workload.routing)})


def _relief_text(found: Relief, routing: Routing) -> str:
    """Say in words what a tier lets a workload read, and what would help where that is too little."""
    rates = (
        f"hits read {format_rate(found.read_bytes_per_s)} of the tier, "
        f"which plans {format_rate(found.planned_read_bytes_per_s)}"
    )
    if found.suffices:
        return f"{rates}: enough"
    may, do = format_percent(found.g4_share_needed), format_percent(found.g4_share)
    words = [f"{rates}: not enough; {may} of the hit tokens may come from it, {do} do"]
    if routing == "random" and found.sticky_g4_share is not None:
        words.append(f"sticky routing would leave {format_percent(found.sticky_g4_share)}")
    if found.local_bytes_per_gpu_needed is not None and found.local_s_needed is not None:
        words.append(
            f"{format_bytes(found.local_bytes_per_gpu_needed)} of local KV for each GPU (memory and local flash, G1 to "
            f"G3) with sticky routing keeps a prefix {format_duration(found.local_s_needed)}, which is enough"
        )
    else:
        words.append("local tiers or sticky routing must answer the rest")
    return "; ".join(words)
