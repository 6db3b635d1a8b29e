"""The sizing engine: resolved inputs in, a Plan out; pure and deterministic."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kvplan.core.ece.codes import parse_code
from kvplan.core.ece.endurance import endurance
from kvplan.core.network.budget import network_budget
from kvplan.core.network.segments import GPU_PCIE
from kvplan.core.network.sides import ClientSide
from kvplan.core.prediction.prefill_choice import prefill_model
from kvplan.core.sizing.buys import buys, engine_read, planned_read
from kvplan.core.sizing.candidates import choose, limits_of
from kvplan.core.sizing.demand import redbook_demand
from kvplan.core.sizing.document import plan_of
from kvplan.core.sizing.hbm import Fleet, MemoryBudget, hbm_check
from kvplan.core.sizing.inputs import prefill_engine
from kvplan.core.sizing.kv import kv_section
from kvplan.core.sizing.needs import GuidedNeed, workload_need
from kvplan.core.sizing.outcome import Outcome
from kvplan.core.sizing.planned_workload import planned_workload
from kvplan.core.sizing.predicted import Serving, performance, plan_endurance
from kvplan.core.sizing.setup import Setup, setup_of, tensor_parallelism
from kvplan.core.sizing.tiers import build_tier, tiers
from kvplan.errors import InputError, NoProfileFitsError

if TYPE_CHECKING:
    from kvplan.core.sizing.inputs import SizingInputs
    from kvplan.core.sizing.needs import WorkloadNeed
    from kvplan.core.sizing.tiers import Tier
    from kvplan.schema.demand import Buys, Demand
    from kvplan.schema.ece import Endurance, Limit
    from kvplan.schema.network import NetworkBudget
    from kvplan.schema.plan import Plan, PlanKv


def size_resolved(inputs: SizingInputs) -> Plan:
    """Size a tier for a request whose names are resolved.

    Parameters
    ----------
    inputs
        The request and every catalogue row that it names.

    Returns
    -------
    Plan
        Equal inputs give equal Plans, byte for byte.

    Raises
    ------
    InputError
        When the model keeps no KV cache.
    NoProfileFitsError
        When no candidate holds every limit.

    Examples
    --------
    >>> from kvplan import Request, load_catalogue
    >>> from kvplan.resolve import resolve
    >>> request = Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128)
    >>> size_resolved(resolve(request, load_catalogue())).profile.name
    'standard-8'

    References
    ----------
    The basis `redbook`: IBM Redbook MD260021, sizing guidance. Units are part of the field names, such as [B/s].
    """
    return plan_of(_outcome(inputs))


def _outcome(inputs: SizingInputs) -> Outcome:
    """Compute every part of a sizing in the order in which they depend on each other."""
    request, model = inputs.request, inputs.model
    budget = MemoryBudget(
        inputs.gpu.memory_bytes, request.gpu_memory_utilisation, int(inputs.constant("hbm.overhead_bytes"))
    )
    setup = setup_of(request, inputs.stack, tensor_parallelism(inputs, budget), model.spec.groups)
    concurrency = request.concurrency or int(inputs.constant("hbm.concurrency_per_engine"))
    kv = kv_section(model.spec.groups, request.kv_dtype, request.context_tokens, setup)
    if not (kv.context_stored_bytes and kv.context_loaded_bytes):
        raise InputError.single(where="--model", what=f"{model.spec.id} keeps no KV cache: there is nothing to store")
    fleet = Fleet(request.gpus, setup.tp, concurrency)
    hbm = hbm_check(budget, fleet, model.weights_bytes, kv.accounting.vllm_gpu.context_bytes)
    in_flight = hbm.engines * concurrency
    prefill = prefill_model(inputs.prefill, prefill_engine(inputs, setup.tp))
    asked = workload_need(inputs, kv, setup.tp, in_flight, prefill)
    guided = redbook_demand(
        kv,
        request.gpus,
        in_flight,
        rate_per_gpu=inputs.constant("guidance.read_bytes_per_s_per_gpu"),
        hit_share=inputs.constant("guidance.hit_share"),
    )
    demand = asked.demand if asked else guided
    judged, limits, index = _chosen(inputs, demand, asked)
    chosen = judged[index]
    network = _network(inputs, chosen, setup, demand)
    bought = _buys(inputs, chosen, network, kv, setup.tp, asked)
    serving = Serving(inputs, setup, kv, hbm, bought, network, prefill)
    wear = _endurance(inputs, chosen, demand)
    return Outcome(
        inputs=inputs,
        setup=setup,
        concurrency=concurrency,
        kv=kv,
        hbm=hbm,
        demand=demand,
        tiers=judged,
        limits=limits,
        chosen_index=index,
        endurance=wear,
        network=network,
        buys=bought,
        performance=performance(serving),
        wear=plan_endurance(serving, chosen, wear, demand.write_bytes_per_s),
        workload=planned_workload(asked, chosen, _largest(inputs), serving, _guidance(inputs, guided))
        if asked
        else None,
    )


def _chosen(
    inputs: SizingInputs, demand: Demand, asked: WorkloadNeed | None
) -> tuple[tuple[Tier, ...], tuple[tuple[Limit, ...], ...], int]:
    """Judge every tier, and choose one."""
    judged = tiers(inputs, asked or GuidedNeed(demand))
    limits = tuple(limits_of(tier, inputs, demand, asked.needs(tier) if asked else None) for tier in judged)
    return judged, limits, choose(judged, limits)


def _largest(inputs: SizingInputs) -> Tier:
    """Return the largest profile as published."""
    parts = max(inputs.profiles, key=lambda parts: parts.profile.nodes.start)
    return build_tier(parts, parse_code(parts.profile.erasure_code), parts.profile.nodes.start, inputs)


def _guidance(inputs: SizingInputs, guided: Demand) -> str:
    """Say what the published guidance would have chosen without the workload."""
    neutral = inputs.request.model_copy(update={"profile": None, "nodes": None})
    try:
        judged, _, index = _chosen(replace(inputs, request=neutral), guided, None)
    except NoProfileFitsError:
        return "the published guidance has no profile for this fleet and model"
    tier = judged[index]
    return f"the published guidance would choose {tier.name} with {tier.nodes} nodes, by GPUs and model alone"


def _network(inputs: SizingInputs, tier: Tier, setup: Setup, demand: Demand) -> NetworkBudget:
    """Work out the network budget of the chosen tier."""
    request = inputs.request
    client = ClientSide(gpus=request.gpus, gpu=inputs.gpu, nic=inputs.gpu_nic, tp=setup.tp)
    return network_budget(
        tier.storage,
        client,
        inputs.calibration,
        tier.parts.switch,
        read_bytes_per_s=demand.read_bytes_per_s,
        write_bytes_per_s=demand.write_bytes_per_s,
        oversubscription=request.oversubscription,
    )


def _buys(
    inputs: SizingInputs, tier: Tier, network: NetworkBudget, kv: PlanKv, tp: int, asked: WorkloadNeed | None
) -> Buys:
    """Work out what the chosen tier buys through the network there is; a workload's writes take of its reads."""
    share = inputs.constant("guidance.planned_read_share")
    planned = planned_read(tier.rates.read_bytes_per_s, network.read_bytes_per_s, share)
    links = next(stage for stage in network.stages if stage.name == GPU_PCIE)
    link_rate = links.planned_bytes_per_s / links.count
    return buys(
        kv,
        gpus=inputs.request.gpus,
        usable_bytes=tier.geometry.usable_bytes,
        planned_read_bytes_per_s=min(asked.planned_reads(tier), planned) if asked else planned,
        engine_read_bytes_per_s=engine_read(
            tp, link_rate, inputs.gpu.gpus_per_server, network.client_planned_bytes_per_s
        ),
    )


def _endurance(inputs: SizingInputs, tier: Tier, demand: Demand) -> Endurance:
    """Work out what the drives' rating allows."""
    return endurance(
        tier.geometry.raw_bytes,
        tier.code,
        tier.parts.drive.drive_writes_per_day,
        demand.write_bytes_per_s,
        inputs.constant("endurance.write_amplification"),
    )
