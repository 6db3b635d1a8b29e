"""The network budget: every stage, the one that binds, and what is left with something lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.report.blocks import Figure, Fold, Pair, Part, Prose, Table
from kvplan.render.report.charts.bars import Left, Load, left_chart, loads_chart
from kvplan.render.report.words import sentence, spelled, titled
from kvplan.render.view import Grid
from kvplan.units import format_percent, format_rate

if TYPE_CHECKING:
    from kvplan.render.report.source import Source
    from kvplan.schema.design import FailureState
    from kvplan.schema.network import NetworkBudget, Stage
    from kvplan.schema.plan import Plan

_LOST = {
    "normal": "nothing lost",
    "drive": "a drive lost",
    "node": "a storage node lost",
    "leaf": "a leaf lost",
    "spine": "a spine lost",
    "feed": "a power feed lost",
}


def network(source: Source) -> Part:
    """Draw the use of every stage and the states with something lost; the numbers stand in tables."""
    budget, states = source.plan.network, source.design.states
    figures = (_stages(budget), *((_states(states),) if states else ()))
    lost = tuple(f"{titled(_named(state))}: {sentence(state.text)}" for state in states if state.text)
    return Part(
        "network",
        "Network budget",
        (
            Pair(figures),
            Table("Stages of the read path, from drive to GPU", _grid(budget), mark="binding"),
            Prose((_calibration(source.plan),)),
            *((Fold(Prose(lost, listed=True, caption="What is lost in each state, and why")),) if lost else ()),
        ),
    )


def _stages(budget: NetworkBudget) -> Figure:
    """Draw the share of each stage's planned rate that is used."""
    loads = [_load(stage, binds=stage.name == budget.binding_stage) for stage in budget.stages]
    title = "Use of each stage"
    words = "; ".join(
        f"{load.name}: reads {format_percent(load.reads, 0)}, writes {format_percent(load.writes, 0)} of planned"
        for load in loads
    )
    text = (
        f"Binding stage: {spelled(budget.binding_stage)}. The path carries {format_rate(budget.read_bytes_per_s)} of "
        f"reads, or {format_rate(budget.write_bytes_per_s)} of writes (derived)."
    )
    return Figure("stages", title, loads_chart("stages", title, words, loads), text, f"{words}.")


def _load(stage: Stage, *, binds: bool) -> Load:
    """Compute the shares of one stage."""
    written = stage.planned_write_bytes_per_s or stage.planned_bytes_per_s
    reads = stage.load_bytes_per_s / stage.planned_bytes_per_s
    return Load(titled(stage.name), reads, stage.write_load_bytes_per_s / written, binds)


def _states(states: tuple[FailureState, ...]) -> Figure:
    """Draw the share of reads that is left in each state."""
    title = "Reads left with something lost"
    rows = [
        Left(
            titled(_named(state)),
            state.read_share,
            f"{format_rate(state.read_bytes_per_s)}, {spelled(state.binding_stage)} binds",
        )
        for state in states
    ]
    words = "; ".join(f"{row.name}: {format_percent(row.share, 0)}, {row.detail}" for row in rows)
    caption = "Share of the normal read rate that clients keep, until what was lost is replaced or rebuilt (derived)."
    return Figure("states", title, left_chart("states", title, words, rows), caption, f"{words}.")


def _named(state: FailureState) -> str:
    """Name a state as people say it."""
    return _LOST[state.name]


def _grid(budget: NetworkBudget) -> Grid:
    """Lay the stages out."""
    names = [stage.name for stage in budget.stages]
    return Grid(
        ("Stage", "Parallel", "Line rate", "Planned", "Reads", "Writes", "Used"),
        tuple(_row(stage) for stage in budget.stages),
        "lrrrrrr",
        marked=names.index(budget.binding_stage),
    )


def _row(stage: Stage) -> tuple[str, ...]:
    """Build the row of one stage."""
    return (
        titled(stage.name),
        f"{stage.count:,} x",
        format_rate(stage.capacity_bytes_per_s),
        format_rate(stage.planned_bytes_per_s),
        format_rate(stage.load_bytes_per_s),
        format_rate(stage.write_load_bytes_per_s),
        format_percent(stage.utilisation, 0),
    )


def _calibration(plan: Plan) -> str:
    """Say what share of a line is planned, and how well that share is known."""
    factor = plan.constants["network.planning_factor"]
    storage = plan.constants["network.storage_client_factor"]
    return (
        f"Planned is {format_percent(factor.value, 0)} of the line rate ({factor.confidence}), on the storage node's "
        f"client NIC {format_percent(storage.value, 2)} ({storage.confidence}: {storage.source})."
    )
