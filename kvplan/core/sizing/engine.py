"""The sizing engine: resolved inputs in, a Plan out; pure and deterministic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.ece.endurance import endurance
from kvplan.core.network.budget import network_budget
from kvplan.core.network.segments import GPU_PCIE
from kvplan.core.network.sides import ClientSide
from kvplan.core.sizing.buys import buys, engine_read, planned_read
from kvplan.core.sizing.candidates import choose, limits_of
from kvplan.core.sizing.demand import redbook_demand
from kvplan.core.sizing.document import plan_of
from kvplan.core.sizing.hbm import Fleet, MemoryBudget, hbm_check
from kvplan.core.sizing.kv import kv_section
from kvplan.core.sizing.outcome import Outcome
from kvplan.core.sizing.predicted import Served, performance, plan_endurance
from kvplan.core.sizing.setup import Setup, setup_of, tensor_parallelism
from kvplan.core.sizing.tiers import tiers
from kvplan.errors import InputError

if TYPE_CHECKING:
    from kvplan.core.sizing.inputs import SizingInputs
    from kvplan.core.sizing.tiers import Tier
    from kvplan.schema.ece import Endurance
    from kvplan.schema.network import NetworkBudget
    from kvplan.schema.plan import Buys, Demand, Plan, PlanKv


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
    demand = redbook_demand(
        kv,
        request.gpus,
        hbm.engines * concurrency,
        rate_per_gpu=inputs.constant("guidance.read_bytes_per_s_per_gpu"),
        hit_share=inputs.constant("guidance.hit_share"),
    )
    judged = tiers(inputs, demand)
    limits = tuple(limits_of(tier, inputs, demand) for tier in judged)
    index = choose(judged, limits)
    chosen = judged[index]
    network = _network(inputs, chosen, setup, demand)
    bought = _buys(inputs, chosen, network, kv, setup.tp)
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
        endurance=_endurance(inputs, chosen, demand),
        network=network,
        buys=bought,
        performance=performance(Served(inputs, setup, kv, hbm, bought, network)),
        wear=plan_endurance(inputs, chosen, setup, kv, demand),
    )


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


def _buys(inputs: SizingInputs, tier: Tier, network: NetworkBudget, kv: PlanKv, tp: int) -> Buys:
    """Work out what the chosen tier buys through the network there is."""
    share = inputs.constant("guidance.planned_read_share")
    links = next(stage for stage in network.stages if stage.name == GPU_PCIE)
    link_rate = links.planned_bytes_per_s / links.count
    return buys(
        kv,
        gpus=inputs.request.gpus,
        usable_bytes=tier.geometry.usable_bytes,
        planned_read_bytes_per_s=planned_read(tier.rates.read_bytes_per_s, network.read_bytes_per_s, share),
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
