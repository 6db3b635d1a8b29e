"""The decision: what to buy, whether it pays off, the figures that matter, and the margin of every limit."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kvplan.core.certainty import Certainty
from kvplan.core.prediction.load import pays_off
from kvplan.core.sizing.candidates import MAIN_LIMITS
from kvplan.render.figures import margin_text, significant
from kvplan.render.limits_view import need_and_have
from kvplan.render.report.blocks import Fact, Figure, Part, Table, Tiles, Verdict
from kvplan.render.report.charts.bars import Margin, margins_chart
from kvplan.render.report.source import planned_words, priced_words, survives
from kvplan.render.report.words import sentence, titled
from kvplan.render.view import Grid
from kvplan.schema.roles import ROLE_NOUNS
from kvplan.units import (
    counted,
    format_bytes,
    format_duration,
    format_percent,
    format_power,
    format_rate,
)

if TYPE_CHECKING:
    from kvplan.render.report.source import Source
    from kvplan.schema.build import ClientScope
    from kvplan.schema.ece import Limit
    from kvplan.schema.plan import Plan
    from kvplan.schema.roles import Role

_SCOPES: dict[ClientScope, str] = {
    "servers": "whole servers are in the bill of materials",
    "adapters": "of these only the network adapters are in the bill of materials",
    "none": "not in the bill of materials",
}
_SHOWN_LIMITS = (*MAIN_LIMITS, "write_bandwidth")


def decision(source: Source) -> Part:
    """Put the answer first."""
    tiles = Tiles((*_performance(source), *_build(source)))
    return Part("decision", "Decision", (_verdict(source), tiles, _margins(source), _shopping(source)))


def _verdict(source: Source) -> Verdict:
    """Say in one word and one sentence what to do, then why."""
    plan, profile = source.plan, source.plan.profile
    headline = (
        f"Buy {profile.name}: {profile.nodes} storage nodes with {profile.erasure_code}, "
        f"{format_bytes(profile.usable_bytes, digits=3)} usable, {format_rate(profile.read_bytes_per_s)} of reads"
    )
    lines = (_chosen(plan), *_pay_off(source), _before(source))
    if source.errors:
        return Verdict("bad", "Not ready", f"{headline}; first settle what stands in the way", (*source.errors, *lines))
    if not source.chosen.accepted:
        return Verdict("bad", "Forced past its limits", headline, lines)
    if pays_off(plan) is False:
        return Verdict("doubtful", "May not pay off", headline, lines)
    return Verdict("good", "Fits, and pays off" if pays_off(plan) else "Fits the request", headline, lines)


def _chosen(plan: Plan) -> str:
    """Say why the tier was chosen; of one that was forced, what would be chosen otherwise."""
    if not plan.request.forced:
        return sentence(plan.reason)
    asked = f"{plan.reason} (forced: {', '.join(plan.request.forced)})"
    smallest = next((candidate for candidate in plan.candidates if candidate.accepted), None)
    if smallest is None:
        return sentence(f"{asked}; no candidate holds every limit")
    if smallest.chosen:
        return sentence(f"{asked}; it is the smallest candidate that holds every limit")
    named = f"{smallest.name} with {smallest.nodes} nodes and {smallest.erasure_code}"
    return sentence(f"{asked}; the smallest candidate that holds every limit is {named}")


def _pay_off(source: Source) -> tuple[str, ...]:
    """Say why the tier pays off, why it may not, or that nothing is predicted."""
    plan, predicted = source.plan, source.plan.performance
    if plan.workload is not None:
        advice, name = plan.workload.advice, plan.workload.name
        shown = advice.deciding or advice.answers
        return (f"For the workload {name} it is {advice.verdict}:", *(sentence(answer.text) for answer in shown))
    if pays_off(plan) is False:
        return tuple(map(sentence, source.doubts))
    need = (
        f"GPU memory holds {counted(plan.hbm.contexts_that_fit, 'whole context')} an engine, "
        f"{plan.request.concurrency:,} are in flight: without a shared tier the rest is computed anew."
    )
    if predicted.prefill is None:
        return (
            need,
            "Whether it pays off is not predicted: nothing is known of how long this GPU computes this model.",
        )
    gain = (
        f"From about {significant(predicted.break_even_tokens or 0, 2)} tokens on, reading a prefix back beats "
        f"computing it anew ({predicted.prefill.confidence}); the contexts asked for have "
        f"{plan.request.context_tokens:,} tokens."
    )
    return (need, gain)


def _before(source: Source) -> str:
    """Count what is to be read and confirmed before money is spent."""
    points = len(source.plan.open_points)
    return (
        f"Before you sign: {counted(source.warned, 'warning')} to know, {counted(points, 'assumed value')} to confirm."
    )


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
    typical, most = source.design.power_w
    racks = counted(len(source.design.racks), "rack")
    return (
        Fact("Survives", survives(source.plan), "in the worst case, until rebuilt", Certainty("derived")),
        Fact(
            "Power at most",
            format_power(most),
            f"{format_power(typical)} typical; {racks}, GPU servers included",
            source.power_known,
        ),
        Fact("Price", *priced_words(source.bom)),
    )


def _margins(source: Source) -> Figure:
    """Draw the margin of every main limit, and of those that are broken."""
    margins = [
        _margin(limit, limit.margin)
        for limit in source.chosen.limits
        if limit.margin is not None and (limit.name in _SHOWN_LIMITS or not limit.holds)
    ]
    title = "Margins: what there is over what is needed"
    words = "; ".join(f"{margin.name}: {margin.detail}, {margin.label}" for margin in margins)
    caption = (
        "Bars to the right of the line of need are room, by powers of four; hatched bars to its left fall short, or "
        "are beyond what is advised. A slit bar goes on beyond the scale."
    )
    return Figure("margins", title, margins_chart("margins", title, words, margins), caption, f"{words}.")


def _margin(limit: Limit, margin: float) -> Margin:
    """Write one limit out."""
    need, have = need_and_have(limit)
    name, label = titled(limit.name), margin_text(margin)
    if limit.bound == "most":
        beyond = "beyond advice" if limit.severity == "warning" else "too many"
        return Margin(name, f"takes {need}, {have}", margin + 1, label if limit.holds else beyond, limit.holds)
    return Margin(
        name, f"needs {need}, has {have}", margin + 1, label if limit.holds else f"{label} short", limit.holds
    )


def _shopping(source: Source) -> Table:
    """List what is to be bought, by what it does and its model."""
    counts = Counter((device.role, device.model) for device in source.design.devices)
    rows = tuple(
        (titled(one), f"{count:,}", model, _remark(source, role))
        for role, (one, _) in ROLE_NOUNS.items()
        for (found, model), count in counts.items()
        if found == role
    )
    return Table("What to buy", Grid(("What", "Number", "Model", "Remark"), rows, "lrll"))


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
