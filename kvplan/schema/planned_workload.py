"""What a Plan says of the workload that it was made for: what that asks, node by node, and whether it is worth it."""

from __future__ import annotations

from kvplan.schema.advice import Advice
from kvplan.schema.base import Record
from kvplan.schema.workload import Workload
from kvplan.schema.workload_load import NodeNeed, Relief, WorkloadLoad


class PlannedWorkload(Record):
    """The workload as it was understood, its rates, the chosen tier against each of its limits, and the advice.

    `name` is a preset's or a file's, `relief` what local tiers and routing would change beside the chosen tier,
    `largest_relief` the same beside the largest profile as published, `guidance` what the published guidance would
    have chosen without a workload.
    """

    name: str
    given: Workload
    load: WorkloadLoad
    needs: tuple[NodeNeed, ...]
    relief: Relief
    largest_relief: Relief
    advice: Advice
    guidance: str
