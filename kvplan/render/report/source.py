"""What a report is made from, and what several of its sections say of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.core.certainty import Certainty, certainty
from kvplan.core.ece.strips import survival_words
from kvplan.render.notices import all_found
from kvplan.render.report.words import money, spelled
from kvplan.units import counted, format_percent

if TYPE_CHECKING:
    from kvplan.schema.bom import Bom
    from kvplan.schema.design import Design
    from kvplan.schema.measurement import Measurement
    from kvplan.schema.plan import Candidate, Plan

_DOUBTS = ("memory-suffices", "short-context")
"""Warnings which say that the tier may not pay off."""


@dataclass(frozen=True, slots=True)
class Source:
    """The Plan, how it is built, what it costs, and what was published of the same model on the same GPU."""

    plan: Plan
    design: Design
    bom: Bom
    measurements: tuple[Measurement, ...] = ()

    @property
    def chosen(self) -> Candidate:
        """The chosen candidate."""
        return next(candidate for candidate in self.plan.candidates if candidate.chosen)

    @property
    def power_known(self) -> Certainty:
        """How well power and weight are known: the boxes of which they are assumed."""
        assumed = (device.model for device in self.design.devices if device.confidence == "assumed")
        return Certainty("derived", tuple(dict.fromkeys(assumed)))

    @property
    def errors(self) -> tuple[str, ...]:
        """Texts of everything that stands in the way."""
        found = all_found(self.plan, self.design, self.bom)
        return tuple(finding.text for finding in found if finding.severity == "error")

    @property
    def warned(self) -> int:
        """How many warnings there are."""
        return sum(finding.severity == "warning" for finding in all_found(self.plan, self.design, self.bom))

    @property
    def doubts(self) -> tuple[str, ...]:
        """Texts of the warnings which say that the tier may not pay off."""
        return tuple(warning.text for warning in self.plan.warnings if warning.id in _DOUBTS)

    def known(self, path: str) -> Certainty:
        """Say how well a number of the Plan is known."""
        return certainty(self.plan, path)


def priced_words(bom: Bom) -> tuple[str, str]:
    """Write the total and a word on it; what has no price is never counted as nothing."""
    lines = counted(sum(group.lines for group in bom.groups), "line")
    if not bom.priced:
        return "not priced", f"no price book names any of the {lines}"
    if bom.complete:
        return money(bom.total, bom.currency), f"all {lines} priced, net"
    return money(bom.total, bom.currency), f"incomplete: {bom.missing:,} of {lines} have no price"


def survives(plan: Plan) -> str:
    """Say what the tier survives."""
    tolerance = plan.profile.fault_tolerance
    return survival_words(tolerance.node_failures, tolerance.further_device_failures)


def planned_words(plan: Plan) -> str:
    """Say what the planned read rate is the planned share of, or what bounds it."""
    network = plan.network
    if plan.buys.planned_read_bytes_per_s < network.read_bytes_per_s:
        return f"at {format_percent(plan.constants['guidance.planned_read_share'].value, 0)} of read bandwidth"
    return f"bounded by the stage {spelled(network.binding_stage)}"
