"""All parts of a sizing before they become a Plan; what findings and open points look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kvplan.core.sizing.inputs import SizingInputs
    from kvplan.core.sizing.setup import Setup
    from kvplan.core.sizing.tiers import Tier
    from kvplan.schema.demand import Buys, Demand
    from kvplan.schema.ece import Endurance, Limit
    from kvplan.schema.network import NetworkBudget
    from kvplan.schema.performance import Performance, PlanEndurance
    from kvplan.schema.plan import PlanHbm, PlanKv
    from kvplan.schema.planned_workload import PlannedWorkload


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of one sizing: what was judged, what was chosen, what it does."""

    inputs: SizingInputs
    setup: Setup
    concurrency: int
    kv: PlanKv
    hbm: PlanHbm
    demand: Demand
    tiers: tuple[Tier, ...]
    limits: tuple[tuple[Limit, ...], ...]
    chosen_index: int
    endurance: Endurance
    network: NetworkBudget
    buys: Buys
    performance: Performance
    wear: PlanEndurance
    workload: PlannedWorkload | None = None

    @property
    def chosen(self) -> Tier:
        """The chosen tier."""
        return self.tiers[self.chosen_index]

    @property
    def chosen_limits(self) -> tuple[Limit, ...]:
        """The limits of the chosen tier."""
        return self.limits[self.chosen_index]
