"""Back ends for the shared tier side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.core.prediction.alternatives import comparisons
from kvplan.render.view import Grid, Section, View
from kvplan.units import counted, format_bytes, format_percent, format_rate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.schema.alternative import BackendComparison, StorageAlternative
    from kvplan.schema.plan import Plan

UNKNOWN: Final = "not known"
"""What stands where nobody has published a figure."""


def alternatives_view(plan: Plan, rows: Iterable[StorageAlternative]) -> View:
    """Put the planned tier beside others of the same usable capacity."""
    listed = tuple(rows)
    compared = comparisons(plan, listed)
    marked = next((index for index, row in enumerate(listed) if row.from_plan), None)
    usable = format_bytes(plan.profile.usable_bytes)
    drives = f"{plan.profile.drives_per_node} x {format_bytes(plan.profile.drive_bytes)}"
    return (
        Section(
            f"Back ends for {usable} usable",
            (
                f"nodes have {drives}; read rates are those published, for the hardware of their source",
                "shares of the others are those of their code and fill limit; the planned one leaves out spares too",
            ),
            _capacity(compared, marked),
        ),
        Section("Access and support", grid=_access(compared, marked)),
        Section("What a lost node does", tuple(f"{item.id}: {item.node_loss}" for item in compared)),
        Section("Sources", tuple(_source(item) for item in compared)),
    )


def _capacity(compared: Iterable[BackendComparison], marked: int | None) -> Grid:
    """Lay capacity, losses and read rates out."""
    headers = ("Back end", "Usable share", "Raw", "Nodes", "Serves without", "Keeps data without", "Read")
    return Grid(headers, tuple(_capacity_row(item) for item in compared), "lrrrrrr", marked=marked)


def _capacity_row(item: BackendComparison) -> tuple[str, ...]:
    """Write the figures of one back end."""
    return (
        item.id,
        UNKNOWN if item.usable_share is None else format_percent(item.usable_share),
        UNKNOWN if item.raw_bytes is None else format_bytes(item.raw_bytes),
        UNKNOWN if item.nodes is None else str(item.nodes),
        _nodes(item.serves_without),
        _nodes(item.keeps_without),
        UNKNOWN if item.read_bytes_per_s is None else format_rate(item.read_bytes_per_s),
    )


def _access(compared: Iterable[BackendComparison], marked: int | None) -> Grid:
    """Lay out how engines reach it and who answers the phone."""
    rows = tuple(
        (item.id, item.gpudirect or UNKNOWN, ", ".join(item.supported_by) or UNKNOWN, item.integration or UNKNOWN)
        for item in compared
    )
    return Grid(("Back end", "GPUDirect", "Supported by", "Dynamo and vLLM"), rows, "llll", marked=marked)


def _nodes(count: int | None) -> str:
    """Write how many nodes may be lost."""
    return UNKNOWN if count is None else counted(count, "node")


def _source(item: BackendComparison) -> str:
    """Say where the row comes from, and its read rate."""
    read = f"; read: {item.read_source}" if item.read_source else ""
    note = f"; {item.note}" if item.note else ""
    return f"{item.id}: {item.source}{read} [{item.confidence}]{note}"
