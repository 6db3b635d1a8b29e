"""What the capacity is used for, how long data stays, and what the drives are rated for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.prediction.retention import retention_seconds, space_by_use
from kvplan.render.figures import significant
from kvplan.render.report.blocks import Fact, Facts, Figure, Pair, Part
from kvplan.render.report.charts.bars import Piece, pieces_chart
from kvplan.render.report.charts.curves import Curve, Point, retention_chart
from kvplan.render.report.scales import spaced
from kvplan.units import counted, format_bytes, format_duration, format_percent, format_rate

if TYPE_CHECKING:
    from kvplan.render.report.source import Source
    from kvplan.schema.plan import Plan

_SAMPLES = 2
_LITTLE = 0.0005


def capacity(source: Source) -> Part:
    """Draw space by use, and retention over the write rate."""
    return Part(
        "capacity",
        "Capacity and retention",
        (Pair((_space(source.plan), _retention(source.plan))), Facts("Lifetime and repair", _repair(source))),
    )


def _space(plan: Plan) -> Figure:
    """Draw raw space by use, and usable space by what is in flight and what is room for reuse."""
    profile, demand = plan.profile, plan.demand
    space = space_by_use(profile.raw_bytes, profile.usable_bytes, profile.code_efficiency)
    raw = [
        _piece(space.usable_bytes, space.raw_bytes, "usable"),
        _piece(space.parity_bytes, space.raw_bytes, f"parity of {profile.erasure_code}"),
        _piece(space.reserved_bytes, space.raw_bytes, "spares, logs, checksums, reserves"),
    ]
    flight = min(demand.capacity_bytes, space.usable_bytes)
    usable = [
        _piece(space.usable_bytes - flight, space.usable_bytes, "room for contexts to be used again"),
        _piece(flight, space.usable_bytes, "contexts in flight"),
    ]
    title = "Space by use"
    bars = [(f"{format_bytes(space.raw_bytes)} raw", raw), (f"{format_bytes(space.usable_bytes)} usable", usable)]
    words = "; ".join(f"{name}: {', '.join(piece.words for piece in pieces)}" for name, pieces in bars)
    caption = (
        f"The usable space holds {plan.buys.contexts_held:,} contexts of {plan.request.context_tokens:,} tokens "
        "(derived), before file-system metadata."
    )
    return Figure("space", title, pieces_chart("space", title, words, bars), caption, f"{words}.")


def _piece(part: int, whole: int, name: str) -> Piece:
    """Write one piece of a bar."""
    share = part / whole if whole else 0.0
    written = "less than 0.1 %" if 0 < share < _LITTLE else format_percent(share)
    return Piece(share, f"{format_bytes(part)} {name}, {written}")


def _retention(plan: Plan) -> Figure:
    """Draw how long data stays over the rate of writes, with the rates that matter."""
    usable, rated = plan.profile.usable_bytes, plan.profile.endurance.allowed_write_bytes_per_s
    most, asked = plan.profile.write_bytes_per_s, plan.demand.write_bytes_per_s
    marks = [
        (rated, "as the drives are rated for (derived)", "square", "third"),
        *([(asked, "demand (derived from an assumed hit share)", "diamond", "second")] if asked else []),
        (most, "most that the tier can write (derived)", "disc", "first"),
    ]
    rates = [rate for rate, *_ in marks]
    curve = Curve(
        tuple((rate, retention_seconds(usable, rate)) for rate in spaced(min(rates) / 5, max(rates) * 2, _SAMPLES)),
        "curve first",
        "more than the drives' rated writes a day",
    )
    stays = [retention_seconds(usable, rate) for rate in rates]
    points = [
        (Point(rate, stay, format_duration(stay), shape, look), f"{format_rate(rate)}: {name}")
        for (rate, name, shape, look), stay in zip(marks, stays, strict=True)
    ]
    title = "How long data stays, by the rate of new data"
    words = "; ".join(f"{entry}: data stays {point.label}" for point, entry in points)
    drawn = retention_chart("retention", title, words, curve, points, rated)
    caption = "Usable capacity over the rate of new data, the oldest going first. Dotted ground wears drives out early."
    return Figure("retention", title, drawn, caption, f"{words}.")


def _repair(source: Source) -> tuple[Fact, ...]:
    """Give endurance, rebuild times and spares."""
    profile, known = source.plan.profile, source.known
    wear, rebuild = profile.endurance, profile.rebuild
    return (
        Fact(
            "Sustained writes within the rating",
            format_rate(wear.allowed_write_bytes_per_s),
            f"{wear.rated_drive_writes_per_day:g} drive writes a day",
            known("profile.endurance.allowed_write_bytes_per_s"),
        ),
        Fact(
            "Drive writes asked for",
            f"{significant(wear.demanded_drive_writes_per_day, 2)} a day",
            "if the demand went on all day",
            known("profile.endurance.demanded_drive_writes_per_day"),
        ),
        Fact("Rebuild of a drive", format_duration(rebuild.drive_s), "at least", known("profile.rebuild.drive_s")),
        Fact("Rebuild of a node", format_duration(rebuild.node_s), "at least", known("profile.rebuild.node_s")),
        Fact("Spare space", counted(profile.spare_pdisks, "drive"), "spread over all", known("profile.spare_pdisks")),
    )
