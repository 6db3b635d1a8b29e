"""Rules about supplies and feeds: a device must run on one feed, and one feed must carry its rack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.core.design.power import FEEDS, client_box, control_box, storage_box, switch_box
from kvplan.schema.design import Finding
from kvplan.units import counted, format_power, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kvplan.core.design.inputs import DesignInputs
    from kvplan.schema.design import Design


def _supplies(inputs: DesignInputs, _design: Design) -> Iterator[Finding]:
    """Report devices that the supplies on one feed do not carry alone."""
    boxes = (
        storage_box(inputs),
        client_box(inputs),
        control_box(inputs),
        switch_box(inputs, inputs.plan.parts.switch),
        switch_box(inputs, inputs.management_switch),
    )
    for box in boxes:
        if not box.runs_on_one_feed:
            count, rating = box.enclosure.psu_count // FEEDS, box.enclosure.psu_w or 0.0
            yield Finding(
                id="psu-redundancy",
                severity="warning",
                where=box.model,
                text=f"draws up to {box.power_max_w:,.0f} W, the supplies on one feed carry {count} x {rating:,.0f} W: "
                "with a feed lost it stops or must be capped",
                remedy="larger supplies, fewer GPUs a server, or a power cap",
            )


def _feeds(_inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report racks that draw more than one feed carries."""
    over = [rack for rack in design.racks if rack.power_max_w > rack.power_limit_w]
    if over:
        worst = max(over, key=lambda rack: rack.power_max_w)
        yield Finding(
            id="rack-power",
            severity="error",
            where=listed([rack.name for rack in over]),
            text=f"{worst.name} draws up to {format_power(worst.power_max_w)}, one feed carries "
            f"{format_power(worst.power_limit_w)}",
            remedy="a higher limit (`--rack-power-kw`) if the site has it, or a smaller device",
        )


def _limits_assumed(inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report limits of a rack that nobody gave."""
    given, default = inputs.options.racks, type(inputs.options.racks)()
    words = {
        "units": f"{given.units} units",
        "power_w": f"{format_power(given.power_w)} on either feed",
        "weight_kg": f"{given.weight_kg:,.0f} kg",
    }
    assumed = [text for name, text in words.items() if getattr(given, name) == getattr(default, name)]
    if assumed:
        yield Finding(
            id="rack-limits-assumed",
            severity="info",
            where=counted(len(design.racks), "rack"),
            text=f"assumed of a rack: {', '.join(assumed)}",
            remedy="give the site's own in a build file or with `--rack-units` and `--rack-power-kw`",
        )


def _power_unknown(inputs: DesignInputs, _design: Design) -> Iterator[Finding]:
    """Report parts whose power is not known and so counts as nothing."""
    parts = inputs.plan.parts
    rows = (parts.drive, parts.gpu, parts.client_nic, parts.storage_nic, parts.gpu_nic)
    unknown = sorted({row.id for row in rows if row.power_w is None})
    if unknown:
        yield Finding(
            id="power-unknown",
            severity="warning",
            where=listed(unknown),
            text="the power of these parts is not known and counts as 0 W",
            remedy="give `power_w` in tables of your own",
        )


RULES: Final[tuple[Callable[[DesignInputs, Design], Iterator[Finding]], ...]] = (
    _supplies,
    _feeds,
    _limits_assumed,
    _power_unknown,
)
