"""The decision: what to buy, whether it pays off, the figures that matter, and the margin of every limit."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kvplan.core.sizing.candidates import MAIN_LIMITS
from kvplan.render.figures import margin_text, significant
from kvplan.render.report.blocks import Fact, Figure, Part, Table, Tiles, Verdict
from kvplan.render.report.charts.bars import Margin, margins_chart
from kvplan.render.report.source import planned_words, power, priced_words, sentence, survives, titled
from kvplan.render.view import Grid
from kvplan.units import (
    counted,
    format_bytes,
    format_duration,
    format_percent,
    format_quantity,
    format_rate,
)

if TYPE_CHECKING:
    from kvplan.render.report.source import Source
    from kvplan.schema.design import Device
    from kvplan.schema.ece import Limit
    from kvplan.schema.plan import Plan
    from kvplan.schema.roles import Role

_ROLES: dict[Role, str] = {
    "storage": "Storage node",
    "leaf": "Leaf switch",
    "spine": "Spine switch",
    "super-spine": "Super-spine switch",
    "management-switch": "Management switch",
    "control": "Control node",
    "client": "Client server",
}
_SCOPES = {
    "servers": "whole servers are in the bill of materials",
    "adapters": "of these only the network adapters are in the bill of materials",
    "none": "not in the bill of materials",
}
_SHOWN_LIMITS = (*MAIN_LIMITS, "write_bandwidth")


def decision(source: Source) -> Part:
    """Put the answer first."""
    return Part(
        "decision",
        "Decision",
        (_verdict(source), Tiles(_tiles(source)), _margins(source.plan), _shopping(source)),
    )


def _verdict(source: Source) -> Verdict:
    """Say in one word and one sentence what to do, then why."""
    plan, profile = source.plan, source.plan.profile
    headline = (
        f"Buy {profile.name}: {profile.nodes} storage nodes with {profile.erasure_code}, "
        f"{format_bytes(profile.usable_bytes, digits=3)} usable, {format_rate(profile.read_bytes_per_s)} of reads"
    )
    lines = (sentence(plan.reason), *_pay_off(source), _before(source))
    if source.errors:
        return Verdict("bad", "Not ready", f"{headline}; first settle what stands in the way", (*source.errors, *lines))
    if not next(candidate.accepted for candidate in plan.candidates if candidate.chosen):
        return Verdict("bad", "Forced past its limits", headline, lines)
    if source.doubts:
        return Verdict("doubtful", "May not pay off", headline, lines)
    return Verdict("good", "Fits, and pays off" if source.measurements else "Fits the request", headline, lines)


def _pay_off(source: Source) -> tuple[str, ...]:
    """Say why the tier pays off, or why it may not."""
    plan = source.plan
    if source.doubts:
        return tuple(sentence(text) for text in source.doubts)
    holds = f"GPU memory holds {counted(plan.hbm.contexts_that_fit, 'whole context')} an engine"
    need = f"{holds}, {plan.request.concurrency:,} are in flight: without a shared tier the rest is computed anew."
    if not source.measurements:
        unknown = "What it saves depends on how often contexts come back, and was not published for this model."
        return (need, unknown)
    break_even = plan.constants["guidance.break_even_tokens"].value
    gain = (
        f"From about {break_even:,.0f} tokens on, reading a prefix back beats computing it anew; the contexts asked "
        f"for have {plan.request.context_tokens:,} tokens."
    )
    return (need, gain)


def _before(source: Source) -> str:
    """Count what is to be read and confirmed before money is spent."""
    points = len(source.plan.open_points)
    return (
        f"Before you sign: {counted(source.warned, 'warning')} to know, {counted(points, 'assumed value')} to confirm."
    )


def _tiles(source: Source) -> tuple[Fact, ...]:
    """Choose the figures that matter most."""
    return (*_performance(source), *_build(source))


def _performance(source: Source) -> tuple[Fact, ...]:
    """Give what the tier holds and reads."""
    plan = source.plan
    profile, bought, known = plan.profile, plan.buys, source.known
    asked = format_rate(plan.demand.read_bytes_per_s)
    share = format_percent(profile.usable_fraction)
    return (
        Fact(
            "Usable capacity",
            format_bytes(profile.usable_bytes),
            f"{share} of {format_bytes(profile.raw_bytes)} raw",
            known("profile.usable_bytes"),
        ),
        Fact("Reads", format_rate(profile.read_bytes_per_s), f"{asked} asked for", known("profile.read_bytes_per_s")),
        Fact(
            "Contexts held",
            f"{bought.contexts_held:,}",
            f"contexts of {plan.request.context_tokens:,} tokens, {format_bytes(plan.kv.context_stored_bytes)} each",
            known("buys.contexts_held"),
        ),
        Fact(
            "Whole-context hits",
            f"{significant(bought.hits_per_s)} a second",
            planned_words(plan),
            known("buys.hits_per_s"),
        ),
        Fact("One context loads in", format_duration(bought.load_s), "at least, alone", known("buys.load_s")),
    )


def _build(source: Source) -> tuple[Fact, ...]:
    """Give what it takes to build the tier, and what that costs."""
    racks = source.design.racks
    typical, most = (sum(getattr(rack, name) for rack in racks) for name in ("power_typical_w", "power_max_w"))
    price, word = priced_words(source.bom)
    beside = f"{power(typical)} typical; {counted(len(racks), 'rack')}, GPU servers included"
    return (
        Fact("Survives", survives(source.plan), "in the worst case, until rebuilt", "derived"),
        Fact("Power at most", power(most), beside, source.power_known),
        Fact("Price", price, word, "from price books" if source.bom.books else ""),
    )


def _margins(plan: Plan) -> Figure:
    """Draw the margin of every main limit, and of those that are broken."""
    chosen = next(candidate for candidate in plan.candidates if candidate.chosen)
    shown = [limit for limit in chosen.limits if limit.margin is not None and _is_shown(limit)]
    margins = [_margin(limit) for limit in shown]
    title = "Margins: what there is over what is needed"
    words = "; ".join(f"{margin.name}: {margin.detail}, {margin.label}" for margin in margins)
    caption = "Bars to the right of the line of need are room, by powers of four; hatched bars to its left fall short."
    return Figure("margins", title, margins_chart("margins", title, words, margins), caption, f"{words}.")


def _is_shown(limit: Limit) -> bool:
    """Tell whether a limit is one of the main ones, or does not hold."""
    return limit.name in _SHOWN_LIMITS or not limit.holds


def _margin(limit: Limit) -> Margin:
    """Write one limit out."""
    need, have = format_quantity(limit.need, limit.unit), format_quantity(limit.have, limit.unit)
    margin = limit.margin or 0.0
    label = margin_text(margin) if limit.holds else f"{margin_text(margin)} short"
    return Margin(titled(limit.name.replace("_", " ")), f"needs {need}, has {have}", margin + 1, label, limit.holds)


def _shopping(source: Source) -> Table:
    """List what is to be bought, by what it does and its model."""
    counts = Counter((device.role, device.model) for device in source.design.devices)
    rows = [
        (_ROLES[role], f"{counts[role, model]:,}", model, _remark(source, role))
        for role in _ROLES
        for model in _models(source.design.devices, role)
    ]
    return Table("What to buy", Grid(("What", "Number", "Model", "Remark"), tuple(rows), "lrll"))


def _models(devices: tuple[Device, ...], role: Role) -> tuple[str, ...]:
    """Name the models of a role, each once."""
    return tuple(dict.fromkeys(device.model for device in devices if device.role == role))


def _remark(source: Source, role: Role) -> str:
    """Say what is in a device, or what of it is quoted."""
    profile, parts = source.plan.profile, source.plan.parts
    if role == "storage":
        drives = f"{profile.drives_per_node} x {format_bytes(profile.drive_bytes)}"
        adapters = f"{parts.client_nics} x {parts.client_nic.id}, {parts.storage_nics} x {parts.storage_nic.id}"
        return f"{drives}; {adapters}"
    if role == "client":
        gpus = f"{parts.gpu.gpus_per_server} x {parts.gpu.id}, {parts.gpu.nics_per_server} x {parts.gpu_nic.id}"
        return f"{gpus}; {_SCOPES[source.design.options.clients]}"
    return ""
