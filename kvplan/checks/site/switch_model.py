"""A switch of another model than the design counts on.

Cages, their rate and how they break out are the model's. Another one has other port names, or too few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import plain, switches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare models by letters and digits alone."""
    part = context.plan.parts.switch
    for loc, switch, device in switches(context):
        names = (part.id, part.part_number, *part.aliases) if device.model == part.id else (device.model,)
        if not any(plain(name) in plain(switch.model) for name in names if name):
            yield Found(switch.name, f"model {switch.model}, the design has {device.model}", (*loc, "model"))


CHECK = Check(
    id="KV-SIT-026",
    severity="error",
    title="Switches are of the design's models",
    expected="the model of the design, as its label has it",
    remedy="correct `model`, or size a Plan with that switch",
    manual="decode-syseeprom  # Product Name, Part Number",
    source="the Plan's design: models of devices",
    run=run,
)
