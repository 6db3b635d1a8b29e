"""A Plan's workload as sections: what it asks, how many nodes each limit wants, and whether the tier is worth it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.figures import margin_text, significant
from kvplan.render.view import Grid, Section
from kvplan.units import counted, format_bytes, format_percent, format_quantity, format_rate

if TYPE_CHECKING:
    from kvplan.schema.plan import Plan
    from kvplan.schema.planned_workload import PlannedWorkload
    from kvplan.schema.workload_load import NodeNeed

_DOUBTS = {"no": "no", "partly": "partly", "yes": "YES"}
"""Answers, the worst also told by its letters."""


def workload_sections(plan: Plan) -> tuple[Section, ...]:
    """Arrange what a Plan says of its workload; nothing where the published guidance chose the tier."""
    if plan.workload is None:
        return ()
    return _asked(plan.workload), _worth(plan.workload)


def verdict_line(plan: Plan) -> tuple[str, ...]:
    """Say in one line whether the tier is worth it, and what decides."""
    if plan.workload is None:
        return ()
    advice = plan.workload.advice
    deciding = "; ".join(answer.text for answer in advice.deciding)
    return (f"{advice.verdict} for workload {plan.workload.name}" + (f": {deciding}" if deciding else ""),)


def _asked(planned: PlannedWorkload) -> Section:
    """Say what the workload asks, and what each limit wants."""
    load = planned.load
    lines = (
        (
            f"{significant(load.requests_per_s)} requests/s, prompts of {load.prompt_tokens:,.0f} tokens of which "
            f"{load.new_tokens:,.0f} are new ({format_percent(load.hit_share, 0)} hit), GPUs "
            f"{format_percent(load.busy_share, 0)} busy"
        ),
        (
            f"{format_percent(load.g4_share, 0)} of the hits from the tier: reads "
            f"{format_rate(load.read_bytes_per_s)}, in the busiest 10 s {format_rate(load.peak_read_bytes_per_s)}; "
            f"writes {format_rate(load.write_bytes_per_s)}, holds {format_bytes(load.held_bytes)}"
        ),
    )
    grid = Grid(("Limit", "Needs", "Has", "Margin", "Nodes"), tuple(map(_need_row, planned.needs)), "lrrrr")
    return Section(f"Workload {planned.name}", lines, grid=grid, below=(planned.relief.text, planned.guidance))


def _need_row(need: NodeNeed) -> tuple[str, ...]:
    """Write one limit out; one that does not bind says so."""
    return (
        need.limit if need.binds else f"{need.limit} (warns)",
        format_quantity(need.need, need.unit),
        format_quantity(need.have, need.unit),
        "-" if need.margin is None else margin_text(need.margin),
        "none" if need.nodes is None else f"{need.nodes:,}",
    )


def _worth(planned: PlannedWorkload) -> Section:
    """Answer the questions to ask before buying."""
    advice = planned.advice
    lines = tuple(f"{answer.question} {_DOUBTS[answer.answer]}: {answer.text}" for answer in advice.answers)
    return Section(f"Is it worth it? {advice.verdict} ({counted(len(advice.answers), 'question')})", lines)
