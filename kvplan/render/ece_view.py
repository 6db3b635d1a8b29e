"""The geometry calculator's report as sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.paths import scalars
from kvplan.render.figures import both_bytes
from kvplan.render.limits_view import limit_grid
from kvplan.render.view import Grid, Section, View
from kvplan.units import KIB, MIB, format_bytes, format_duration, format_percent, format_rate

if TYPE_CHECKING:
    from kvplan.schema.ece import FaultTolerance
    from kvplan.schema.reports import EceReport


def ece_view(report: EceReport) -> View:
    """Arrange the geometry: capacity, tolerance with alternatives, limits, rebuild and endurance."""
    wear = report.endurance
    return (
        _capacity(report),
        _tolerance(report.fault_tolerance),
        Section("Limits", grid=limit_grid(report.limits), below=_limit_texts(report)),
        Section(
            "Rebuild and endurance",
            (
                (
                    f"rebuild at least {format_duration(report.rebuild.drive_s)} for a drive, "
                    f"{format_duration(report.rebuild.node_s)} for a node (network bound, drives full)"
                ),
                (
                    f"rated {wear.rated_drive_writes_per_day:g} drive writes a day allow "
                    f"{format_rate(wear.allowed_write_bytes_per_s)} of sustained writes; asked: "
                    f"{wear.demanded_drive_writes_per_day:.2f} a day"
                ),
            ),
        ),
    )


def ece_rows(report: EceReport) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return every value of the report as rows."""
    data = report.model_dump(mode="json")
    return ("field", "value"), [(path, "" if value is None else str(value)) for path, value in scalars(data)]


def _capacity(report: EceReport) -> Section:
    """Show code efficiency and real usable fraction side by side."""
    groups = ", ".join(
        f"{nodes} nodes with {pdisks} pdisks"
        for nodes, pdisks in zip(report.nodes_per_recovery_group, report.pdisks_per_recovery_group, strict=True)
    )
    return Section(
        f"{report.erasure_code} on {report.nodes} nodes of {report.drives_per_node} x "
        f"{format_bytes(report.drive_bytes)}, block {report.block_bytes // MIB} MiB",
        (
            (
                f"raw {both_bytes(report.raw_bytes)}, usable {both_bytes(report.usable_bytes)}, before file-system "
                "metadata"
            ),
            (
                f"code efficiency {format_percent(report.code_efficiency)}, real usable fraction "
                f"{format_percent(report.usable_fraction)}"
            ),
            (
                f"{report.recovery_groups} recovery group(s): {groups}; {report.spare_pdisks} spare pdisks; checksum "
                f"granularity {report.checksum_granularity_bytes // KIB} KiB"
            ),
        ),
    )


def _tolerance(tolerance: FaultTolerance) -> Section:
    """Show what is survived, IBM's recommendation and the alternatives."""
    rows = tuple(
        (
            item.erasure_code,
            str(item.nodes),
            str(item.node_failures),
            str(item.further_device_failures),
            format_percent(item.code_efficiency),
        )
        for item in tolerance.alternatives
    )
    verdict = "IBM recommends it" if tolerance.ibm_recommended else "IBM's table does not name it"
    return Section(
        "Fault tolerance",
        (
            (
                f"{tolerance.strips_per_node} strip(s) a node: survives {tolerance.node_failures} node(s), then "
                f"{tolerance.further_device_failures} further device(s)"
            ),
            f"{verdict} for this node count; it names {', '.join(tolerance.ibm_codes) or '3-way replication'}",
        ),
        Grid(("Alternative", "Nodes", "Node failures", "Further devices", "Efficiency"), rows, "lrrrr")
        if rows
        else None,
        tuple(item.text for item in tolerance.alternatives),
    )


def _limit_texts(report: EceReport) -> tuple[str, ...]:
    """Explain the limits that do not hold."""
    return tuple(f"{limit.severity}: {limit.text}" for limit in report.limits if not limit.holds and limit.text)
