"""An outcome written down as a Plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.ece.rebuild import rebuild
from kvplan.core.network.rates import nic_line_bytes_per_s
from kvplan.core.sizing.candidates import candidate
from kvplan.core.sizing.explained import derivation_table
from kvplan.core.sizing.findings import findings
from kvplan.core.sizing.kv import other_software
from kvplan.core.sizing.open_points import open_points
from kvplan.core.sizing.setup import setup_of
from kvplan.schema.parts import PlanParts
from kvplan.schema.plan import Plan, PlanModel, PlanProfile, PlanRequest

if TYPE_CHECKING:
    from kvplan.core.sizing.outcome import Outcome
    from kvplan.schema.ece import Rebuild
    from kvplan.schema.plan import OtherSoftware


def plan_of(outcome: Outcome) -> Plan:
    """Write an outcome down.

    Parameters
    ----------
    outcome
        Everything that the engine computed.

    Returns
    -------
    Plan
        The document, complete with findings, open points and derivations.

    Examples
    --------
    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> plan.profile.name, plan.request.concurrency, plan.catalogue.user_tables
    ('standard-8', 7, ())

    References
    ----------
    `kvplan.schema.plan` defines the document; units are part of the field names, such as [B].
    """
    inputs = outcome.inputs
    return Plan(
        kvplan_version=inputs.kvplan_version,
        request=_request(outcome),
        model=_model(outcome),
        kv=outcome.kv,
        hbm=outcome.hbm,
        demand=outcome.demand,
        workload=outcome.workload,
        profile=_profile(outcome),
        candidates=tuple(
            candidate(tier, judged, chosen=index == outcome.chosen_index)
            for index, (tier, judged) in enumerate(zip(outcome.tiers, outcome.limits, strict=True))
        ),
        reason=_reason(outcome),
        buys=outcome.buys,
        performance=outcome.performance,
        endurance=outcome.wear,
        network=outcome.network,
        other_software=_other(outcome),
        warnings=findings(outcome),
        open_points=open_points(outcome),
        parts=_parts(outcome),
        constants=dict(inputs.constants),
        derivation=derivation_table(outcome),
        catalogue=inputs.lock,
    )


def _request(outcome: Outcome) -> PlanRequest:
    """Echo the request with every default filled in."""
    request, setup = outcome.inputs.request, outcome.setup
    forced = (("profile", request.profile), ("nodes", request.nodes), ("code", request.erasure_code))
    return PlanRequest(
        model=outcome.inputs.model.spec.id,
        context_tokens=request.context_tokens,
        gpus=request.gpus,
        gpu=outcome.inputs.gpu.id,
        tp=setup.tp,
        basis="workload" if outcome.workload else "redbook",
        software=setup.stack.software.id,
        cache_backend=setup.stack.backend.id,
        chunk_tokens=setup.chunk_tokens,
        checkpoint_tokens=setup.checkpoint_tokens,
        block_tokens=setup.stack.software.block_tokens,
        hybrid_manager=setup.hybrid_manager,
        vllm_version=setup.stack.software.vllm,
        kv_dtype=request.kv_dtype,
        concurrency=outcome.concurrency,
        gpu_memory_utilisation=request.gpu_memory_utilisation,
        survive=request.survive or "",
        forced=tuple(f"{name}={value}" for name, value in forced if value is not None),
        oversubscription=request.oversubscription,
        beyond_max=request.beyond_max,
    )


def _model(outcome: Outcome) -> PlanModel:
    """Write down the model as it was read."""
    facts = outcome.inputs.model
    return PlanModel(
        id=facts.spec.id,
        model_type=facts.spec.model_type,
        groups=facts.spec.groups,
        max_position_tokens=facts.spec.max_position_tokens,
        params_total=facts.params_total,
        params_active=facts.params_active,
        params_class=facts.params_class,
        params_source=facts.params_source,
        weights_bytes=facts.weights_bytes,
        source=facts.spec.source,
        confidence=facts.spec.confidence,
    )


def _parts(outcome: Outcome) -> PlanParts:
    """Keep the rows that a build of the Plan is made from."""
    inputs, parts = outcome.inputs, outcome.chosen.parts
    return PlanParts(
        server=parts.server,
        drive=parts.drive,
        client_nic=parts.client_nic,
        client_nics=parts.profile.node.client_nics,
        storage_nic=parts.storage_nic,
        storage_nics=parts.profile.node.storage_nics,
        switch=parts.switch,
        gpu=inputs.gpu,
        gpu_nic=inputs.gpu_nic,
        client_server=inputs.client_server,
        software=outcome.setup.stack.software,
    )


def _profile(outcome: Outcome) -> PlanProfile:
    """Write down the chosen tier."""
    tier = outcome.chosen
    recipe, layout = tier.parts.profile, tier.geometry
    return PlanProfile(
        name=recipe.name,
        title=recipe.title,
        nodes=tier.nodes,
        erasure_code=tier.code.name,
        server=recipe.node.server,
        drive=recipe.node.drive,
        client_nic=recipe.node.client_nic,
        storage_nic=recipe.node.storage_nic,
        switch=recipe.switch,
        drives_per_node=layout.drives_per_node,
        drive_bytes=layout.drive_bytes,
        block_bytes=layout.block_bytes,
        code_efficiency=layout.code_efficiency,
        usable_fraction=layout.usable_fraction,
        raw_bytes=layout.raw_bytes,
        usable_bytes=layout.usable_bytes,
        read_bytes_per_s=tier.rates.read_bytes_per_s,
        write_bytes_per_s=tier.rates.write_bytes_per_s,
        recovery_groups=layout.recovery_groups,
        spare_pdisks=layout.spare_pdisks,
        fault_tolerance=layout.fault_tolerance,
        rebuild=_rebuild(outcome),
        endurance=outcome.endurance,
    )


def _rebuild(outcome: Outcome) -> Rebuild:
    """Work out the lower bounds of rebuild time."""
    tier, inputs = outcome.chosen, outcome.inputs
    nic_rate = nic_line_bytes_per_s(tier.parts.storage_nic, inputs.constant("network.line_share"))
    return rebuild(
        tier.code,
        nodes=tier.storage.nodes_in_group,
        drives_per_node=tier.geometry.drives_per_node,
        drive_bytes=tier.geometry.drive_bytes,
        storage_nic_bytes_per_s=nic_rate * tier.storage.storage_nics,
        network_share=inputs.constant("rebuild.network_share"),
    )


def _other(outcome: Outcome) -> OtherSoftware:
    """Say what the other software set would change, with its own back end and defaults."""
    inputs = outcome.inputs
    neutral = inputs.request.model_copy(
        update={"chunk_tokens": None, "checkpoint_tokens": None, "hybrid_manager": None}
    )
    setup = setup_of(neutral, inputs.other_stack, outcome.setup.tp, inputs.model.spec.groups)
    request = inputs.request
    return other_software(inputs.model.spec.groups, request.kv_dtype, request.context_tokens, setup, outcome.kv)


def _reason(outcome: Outcome) -> str:
    """Say in one sentence why the tier was chosen."""
    tier = outcome.chosen
    if tier.forced:
        return f"{tier.name} with {tier.nodes} nodes was asked for"
    count = len(outcome.tiers)
    what = "serve the workload" if outcome.workload else "cover the guidance"
    sentence = f"{tier.name} is the smallest of {count} candidates to {what} and hold every hard limit"
    start = tier.parts.profile.nodes.start
    if tier.nodes > start:
        sentence += f", grown from {start} to {tier.nodes} nodes by need"
    return sentence
