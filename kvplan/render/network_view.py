"""The network budget as sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.view import Grid, Section
from kvplan.units import counted, format_percent, format_rate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.schema.base import Constant
    from kvplan.schema.network import NetworkBudget, Stage


def network_sections(network: NetworkBudget, constants: Mapping[str, Constant]) -> tuple[Section, ...]:
    """Show every stage, the binding one marked, the states with something lost, the switches, and the calibration."""
    degraded = network.degraded
    names = [stage.name for stage in network.stages]
    return (
        Section(
            "Network budget",
            grid=Grid(
                ("Stage", "Capacity", "Planned", "Reads", "Writes", "Used"),
                tuple(_stage_row(stage) for stage in network.stages),
                "lrrrrr",
                marked=names.index(network.binding_stage),
            ),
            below=(
                f"binding stage: {network.binding_stage}",
                *_calibration(constants),
                *(
                    f"{name} lost: {state.binding_stage} binds, {format_rate(state.read_bytes_per_s)} of reads left"
                    + (f"; {state.text}" if state.text else "")
                    for name, state in (("drive", degraded.drive), ("node", degraded.node), ("leaf", degraded.leaf))
                ),
                (
                    f"{network.leaf_switches} leaf and {network.spine_switches} spine switches{_core(network)}, "
                    f"{network.uplinks_per_leaf} uplink cages a leaf ({network.oversubscription:.2g}:1); "
                    f"{counted(network.client_servers, 'client server')}, "
                    f"{format_rate(network.client_planned_bytes_per_s)} planned into each"
                ),
            ),
        ),
    )


def _core(network: NetworkBudget) -> str:
    """Name the super-spines where there are any."""
    return f" under {network.super_spine_switches} super-spines" if network.super_spine_switches else ""


def _stage_row(stage: Stage) -> tuple[str, ...]:
    """Build the row of one stage."""
    return (
        stage.name,
        format_rate(stage.capacity_bytes_per_s),
        format_rate(stage.planned_bytes_per_s),
        format_rate(stage.load_bytes_per_s),
        format_rate(stage.write_load_bytes_per_s),
        format_percent(stage.utilisation, 0),
    )


def _calibration(constants: Mapping[str, Constant]) -> tuple[str, ...]:
    """Say what share of a line is planned and how well that share is known."""
    factor, storage = constants["network.planning_factor"], constants["network.storage_client_factor"]
    planned = f"{format_percent(factor.value, 0)} of the line ({factor.confidence})"
    exception = f"{format_percent(storage.value, 2)} on the storage node's client NIC ({storage.confidence})"
    return (f"planned: {planned}, {exception}: {storage.source}",)
