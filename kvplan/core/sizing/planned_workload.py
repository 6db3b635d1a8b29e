"""A workload written down for the Plan: its rates, the chosen tier against them, and whether the tier is worth it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.prediction.advice import AdviceRules, Situation, advise, busy_without, gpus_saved
from kvplan.core.prediction.payoff import break_even_tokens
from kvplan.core.prediction.prefill import cold_seconds, suffix_seconds
from kvplan.core.prediction.warm import warm_seconds
from kvplan.core.sizing.workload import shape
from kvplan.core.sizing.workload_demand import sustained_requests
from kvplan.core.sizing.workload_tiers import relief
from kvplan.schema.planned_workload import PlannedWorkload

if TYPE_CHECKING:
    from kvplan.core.sizing.needs import WorkloadNeed
    from kvplan.core.sizing.predicted import Serving
    from kvplan.core.sizing.tiers import Tier


def planned_workload(need: WorkloadNeed, tier: Tier, largest: Tier, serving: Serving, guidance: str) -> PlannedWorkload:
    """Write a workload down with what the chosen tier does for it.

    Parameters
    ----------
    need
        The workload and its rates.
    tier
        The chosen tier.
    largest
        The largest profile, as published.
    serving
        Engine and tier, as the predictions have them.
    guidance
        What the published guidance would have chosen, in words.

    Returns
    -------
    PlannedWorkload
        Needs with units of their own, such as [B/s], and the verdict.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.workloads import load_workload
    >>> agent = load_workload("agent", kvplan.load_catalogue())
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=128_000, gpus=128, gpu="h200",
    ...                                   workload=agent, workload_name="agent"))
    >>> plan.request.basis, plan.workload.advice.verdict
    ('workload', 'worth it')

    References
    ----------
    `kvplan.core.sizing.workload_demand`, `kvplan.core.prediction.advice`.
    """
    request, served = need.inputs.request, need.served
    return PlannedWorkload(
        name=request.workload_name,
        given=need.workload,
        load=need.load,
        needs=need.needs(tier),
        relief=relief(need.workload, need.load, request.gpus, served, serving.buys.planned_read_bytes_per_s),
        largest_relief=relief(need.workload, need.load, request.gpus, served, need.planned_reads(largest)),
        advice=advise(_situation(need, tier, serving), _rules(need)),
        guidance=guidance,
    )


def _rules(need: WorkloadNeed) -> AdviceRules:
    """Gather the thresholds of the advice."""
    constant = need.inputs.constant
    return AdviceRules(
        worthwhile_speedup=constant("workload.worthwhile_speedup"),
        gpus_saved_per_node=constant("workload.gpus_saved_per_node"),
        marginal_share=constant("workload.marginal_share"),
    )


def _situation(need: WorkloadNeed, tier: Tier, serving: Serving) -> Situation:
    """Put together what the advice asks for."""
    load, served, request = need.load, need.served, shape(need.workload)
    planned, stream = serving.buys.planned_read_bytes_per_s, serving.stream_bytes_per_s
    fetch = request.hit_tokens * served.loaded_bytes_per_token / stream
    suffix = suffix_seconds(served.prefill, request.suffix_at_tokens, request.new_tokens)
    sustained, alone = sustained_requests(load, serving.hbm.engines, planned)
    target = need.workload.ttft_target_s or need.inputs.constant("workload.ttft_target_s")
    return Situation(
        hit_share=load.hit_share,
        cold_s=cold_seconds(served.prefill, request.tokens),
        hit_s=warm_seconds(serving.cost, request.tokens, fetch, suffix),
        target_s=target,
        prompt_tokens=request.tokens,
        break_even_tokens=break_even_tokens(
            served.prefill, serving.cost, served.loaded_bytes_per_token, stream, request.new_tokens
        ),
        gpus_saved=gpus_saved(load, served.gpus_per_engine, planned),
        storage_nodes=tier.nodes,
        busy_without=busy_without(load, served.gpus_per_engine, need.inputs.request.gpus),
        requests_per_s=load.requests_per_s,
        sustained_per_s=sustained,
        recompute_per_s=alone,
        read_bytes_per_s=load.read_bytes_per_s,
        path_bytes_per_s=serving.network.read_bytes_per_s,
        path_limit=f"the {serving.network.binding_stage} stage",
    )
