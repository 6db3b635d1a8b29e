"""What a tier must give so that it needs no further node: by the published guidance, or for a workload."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Final

from kvplan.core.ece.endurance import endurance
from kvplan.core.sizing.workload import Served
from kvplan.core.sizing.workload_demand import (
    Burst,
    NodeRules,
    TierOffer,
    node_needs,
    nodes_needed,
    planned_reads,
    workload_load,
)
from kvplan.errors import InputError
from kvplan.schema.demand import Demand
from kvplan.units import format_percent

if TYPE_CHECKING:
    from kvplan.core.prediction.prefill import PrefillModel
    from kvplan.core.sizing.inputs import SizingInputs
    from kvplan.core.sizing.tiers import Tier
    from kvplan.schema.plan import PlanKv
    from kvplan.schema.workload import Workload
    from kvplan.schema.workload_load import NodeNeed, WorkloadLoad

_ENOUGH_NODES: Final = 10**6
"""More nodes than any tier has: what is asked for where no number of nodes is enough."""


@dataclass(frozen=True, slots=True)
class GuidedNeed:
    """A demand by the published guidance: rates and space that a tier has or has not."""

    demand: Demand

    def nodes(self, tier: Tier) -> int:
        """Estimate how many nodes like the tier's meet the demand [nodes]."""
        read = self.demand.read_bytes_per_s * tier.nodes / tier.rates.read_bytes_per_s
        return ceil(max(read, self.demand.capacity_bytes * tier.nodes / max(tier.geometry.usable_bytes, 1)))

    def met(self, tier: Tier) -> bool:
        """Tell whether the tier meets the demand."""
        return (
            tier.rates.read_bytes_per_s >= self.demand.read_bytes_per_s
            and tier.geometry.usable_bytes >= self.demand.capacity_bytes
        )


@dataclass(frozen=True)
class WorkloadNeed:
    """What a workload asks of a tier: reads beside writes, writes, retention, and wear where that binds."""

    inputs: SizingInputs
    workload: Workload
    served: Served
    in_flight_bytes: int

    @cached_property
    def load(self) -> WorkloadLoad:
        """Rates and sizes of the whole fleet."""
        constant = self.inputs.constant
        burst = Burst(constant("workload.peak_to_mean"), constant("workload.traced_requests_per_s"))
        return workload_load(self.workload, self.inputs.request.gpus, self.served, burst)

    @cached_property
    def rules(self) -> NodeRules:
        """How a tier is planned."""
        constant = self.inputs.constant
        return NodeRules(
            planned_share=constant("guidance.planned_read_share"),
            low_watermark=constant("flash.low_watermark"),
            write_interference=constant("tier.write_interference"),
            in_flight_bytes=self.in_flight_bytes,
        )

    @property
    def demand(self) -> Demand:
        """The workload as a demand of rates and space."""
        held = self.load.held_bytes / self.rules.low_watermark
        return Demand(
            read_bytes_per_s=self.load.read_bytes_per_s,
            write_bytes_per_s=self.load.write_bytes_per_s,
            capacity_bytes=max(self.in_flight_bytes, ceil(held)),
        )

    def offer(self, tier: Tier) -> TierOffer:
        """Say what a tier gives."""
        rated = endurance(
            tier.geometry.raw_bytes,
            tier.code,
            tier.parts.drive.drive_writes_per_day,
            self.load.write_bytes_per_s,
            self.inputs.constant("endurance.write_amplification"),
        )
        return TierOffer(
            nodes=tier.nodes,
            read_bytes_per_s=tier.rates.read_bytes_per_s,
            write_bytes_per_s=tier.rates.write_bytes_per_s,
            usable_bytes=tier.geometry.usable_bytes,
            endurance_bytes_per_s=rated.allowed_write_bytes_per_s,
        )

    def needs(self, tier: Tier) -> tuple[NodeNeed, ...]:
        """Judge a tier on what the workload asks; what it must survive is judged with every tier."""
        found = node_needs(self.load, self.workload, self.offer(tier), self.rules)
        return tuple(need for need in found if need.limit != "tolerance")

    def planned_reads(self, tier: Tier) -> float:
        """Return what hits may read of a tier beside the writes [B/s]."""
        return planned_reads(self.offer(tier), self.load.write_bytes_per_s, self.rules)

    def nodes(self, tier: Tier) -> int:
        """Estimate how many nodes like the tier's are enough [nodes]."""
        return nodes_needed(self.needs(tier)) or _ENOUGH_NODES

    def met(self, tier: Tier) -> bool:
        """Tell whether the tier is enough."""
        return all(need.have >= need.need for need in self.needs(tier) if need.binds)


def workload_need(
    inputs: SizingInputs, kv: PlanKv, tp: int, in_flight: int, prefill: PrefillModel | None
) -> WorkloadNeed | None:
    """Return what the request's workload asks of a tier; None without a workload.

    Parameters
    ----------
    inputs
        The request with its rows.
    kv
        Bytes of a token, stored and loaded [B/token].
    tp
        GPUs of an engine [GPUs].
    in_flight
        Contexts that all engines have in flight [1].
    prefill
        How long an engine computes, where that is known.

    Returns
    -------
    WorkloadNeed or None
        What is asked.

    Raises
    ------
    InputError
        When nothing is known of how long the GPU computes the model, or the fleet cannot serve the workload at all.

    References
    ----------
    `kvplan.core.sizing.workload_demand`.

    Examples
    --------
    >>> from kvplan import Request, load_catalogue
    >>> from kvplan.resolve import resolve
    >>> request = Request(model="gpt-oss-120b", context_tokens=1_000, gpus=8)
    >>> workload_need(resolve(request, load_catalogue()), None, 1, 8, None)
    """
    workload = inputs.request.workload
    if workload is None:
        return None
    if prefill is None:
        what = f"cannot be planned for: nothing is known of how long {inputs.gpu.id} computes {inputs.model.spec.id}"
        raise InputError.single(where="--workload", what=what, hint="leave it out, or name a GPU of the prefill table")
    served = Served(prefill, tp, kv.stored_bytes_per_token, kv.loaded_bytes_per_token)
    need = WorkloadNeed(inputs, workload, served, in_flight * kv.context_stored_bytes)
    if need.load.busy_share > 1:
        gpus = ceil(need.load.busy_share * inputs.request.gpus)
        what = (
            f"keeps the fleet {format_percent(need.load.busy_share, 0)} busy though every hit is read back: "
            f"{inputs.request.gpus:,} GPUs cannot serve it"
        )
        raise InputError.single(where="--workload", what=what, allowed=f"{gpus:,} GPUs or more, or fewer requests")
    return need
