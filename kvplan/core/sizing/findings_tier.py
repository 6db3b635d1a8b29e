"""Findings about the chosen tier: forced choices, limits, tolerance, writes, network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from kvplan.core.sizing.candidates import broken, limit_sentence
from kvplan.schema.plan import PlanWarning
from kvplan.units import YES_NO, format_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.core.sizing.outcome import Outcome
    from kvplan.schema.network import Stage

GEOMETRY = "computed from strips per node; IBM documentation, storage-scale-ece selection recommendations"


def _forced_limits(outcome: Outcome) -> Iterator[PlanWarning]:
    """List what a forced choice breaks."""
    for limit in broken(outcome.chosen_limits):
        text = f"forced choice {outcome.chosen.name} breaks a limit: {limit_sentence(limit)}"
        yield PlanWarning(id="forced-limit", severity="warning", text=text, source=limit.source or "computed")


def _soft_limits(outcome: Outcome) -> Iterator[PlanWarning]:
    """Pass on the limits that warn without ruling the tier out; what a release lacks is for information only."""
    for limit in outcome.chosen_limits:
        if not limit.holds and limit.severity == "warning":
            name = limit.name.replace("_", "-")
            grave: Literal["info", "warning"] = "info" if limit.unit == YES_NO else "warning"
            source = limit.source or "computed"
            yield PlanWarning(id=f"limit-{name}", severity=grave, text=limit_sentence(limit), source=source)


def _thin_tolerance(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when a node failure is not survived, or leaves nothing in reserve, with the alternatives."""
    tolerance = outcome.chosen.geometry.fault_tolerance
    tier = outcome.chosen
    if tolerance.node_failures > 1 or (tolerance.node_failures and tolerance.further_device_failures):
        return
    survives = "one node and nothing more until rebuilt" if tolerance.node_failures else "no node failure at all"
    better = "; ".join(alternative.text for alternative in tolerance.alternatives)
    text = f"{tier.code.name} on {tier.nodes} nodes survives {survives}" + (f"; {better}" if better else "")
    yield PlanWarning(id="thin-tolerance", severity="warning", text=text, source=GEOMETRY)


def _endurance(outcome: Outcome) -> Iterator[PlanWarning]:
    """Say so when sustained writes wear the drives out before their rated life."""
    wear = outcome.endurance
    if wear.demanded_drive_writes_per_day > wear.rated_drive_writes_per_day:
        text = (
            f"writing {format_rate(outcome.demand.write_bytes_per_s)} all day is "
            f"{wear.demanded_drive_writes_per_day:.1f} drive writes a day, the drives are rated for "
            f"{wear.rated_drive_writes_per_day:g}; up to {format_rate(wear.allowed_write_bytes_per_s)} of sustained "
            "writes stay within the rating"
        )
        yield PlanWarning(id="drive-endurance", severity="warning", text=text, source=outcome.chosen.parts.drive.source)


def _overloaded_network(outcome: Outcome) -> Iterator[PlanWarning]:
    """Name the stages that reads, writes or both together overload, the worst with its figures."""
    overloaded = [stage for stage in outcome.network.stages if _strain(stage) > 1]
    if overloaded:
        worst = max(overloaded, key=_strain)
        text = (
            f"reads of {format_rate(worst.load_bytes_per_s)} and writes of {format_rate(worst.write_load_bytes_per_s)} "
            f"at stage '{worst.name}' meet {format_rate(worst.planned_bytes_per_s)} planned; "
            f"overloaded: {', '.join(stage.name for stage in overloaded)}"
        )
        yield PlanWarning(id="network-overload", severity="warning", text=text, source="network budget")


def _strain(stage: Stage) -> float:
    """Return the utilisation of a stage by reads and writes together where they share a direction."""
    return max(stage.utilisation, stage.combined_utilisation or 0.0)


def _fabric_notes(outcome: Outcome) -> Iterator[PlanWarning]:
    """Pass on what the fabric design says of itself."""
    for note in outcome.network.notes:
        yield PlanWarning(id="fabric-note", severity="info", text=note, source="rules of the fabric design")


FINDINGS = (
    _forced_limits,
    _soft_limits,
    _thin_tolerance,
    _endurance,
    _overloaded_network,
    _fabric_notes,
)
