"""A switch in another role than the design gives it.

Role decides autonomous system number, uplinks and buffers. A spine that is described as a leaf is perhaps cabled as
one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import switches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare roles."""
    for loc, switch, device in switches(context):
        if switch.role != device.role:
            yield Found(
                switch.name, f"is described as {switch.role}, the design has it as {device.role}", (*loc, "role")
            )


CHECK = Check(
    id="KV-SIT-025",
    severity="error",
    title="Switches have the design's roles",
    expected="`role` as the design has it",
    remedy="correct `role`, or the name",
    manual="kvplan network plan.json --table devices",
    source="the Plan's design: roles of devices",
    run=run,
    blocks=True,
)
