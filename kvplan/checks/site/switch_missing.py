"""Switches that the design has and the Site has not.

Without serial number and release no configuration is written for the switch, and its neighbours wait for a session
that never comes up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.schema.roles import ROLE_NOUNS, SWITCH_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare names."""
    known = {switch.name for switch in context.site.switches}
    for device in context.design.devices:
        if device.role in SWITCH_ROLES and device.name not in known:
            yield Found(
                device.name, f"the design has this {ROLE_NOUNS[device.role][0]}, the Site has not", ("switches",)
            )


CHECK = Check(
    id="KV-SIT-023",
    severity="error",
    title="Every switch of the design is in the Site",
    expected="one entry in `switches` for each switch of the design",
    remedy="add the switch to `switches`, or change the Plan or `build`",
    manual="kvplan network plan.json --table devices",
    source="the Plan's design: its list of devices",
    run=run,
    blocks=True,
)
