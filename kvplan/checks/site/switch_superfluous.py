"""Switches that the Site has and the design has not.

Nothing is rendered for such a switch. Often the name is misspelled, and the switch that was meant is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.errors import did_you_mean
from kvplan.schema.roles import SWITCH_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare names, and guess what was meant."""
    known = [device.name for device in context.design.devices if device.role in SWITCH_ROLES]
    for index, switch in enumerate(context.site.switches):
        if switch.name not in known:
            hint = did_you_mean(switch.name, known)
            yield Found(
                switch.name,
                "; ".join(filter(None, ("the design has no such switch", hint))),
                ("switches", index, "name"),
            )


CHECK = Check(
    id="KV-SIT-024",
    severity="error",
    title="Every switch of the Site is in the design",
    expected="names in `switches` are those of the design",
    remedy="correct the name, or take the switch out",
    manual="kvplan network plan.json --table devices",
    source="the Plan's design: its list of devices",
    run=run,
)
