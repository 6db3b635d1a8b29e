"""Services of the engines at an address of the wrong machine.

Discovery and metrics run on control nodes. At the address of a storage node or a GPU server nothing of it answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import machine_addresses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look up whose the address is."""
    address = context.site.inference.services_address
    owner = machine_addresses(context).get(address or "", "")
    control = tuple(device.name for device in context.design.devices if device.role == "control")
    if owner and not owner.startswith(control):
        yield Found(
            "inference.services_address", f"{address} is the address of {owner}", ("inference", "services_address")
        )


CHECK = Check(
    id="KV-NET-012",
    severity="error",
    title="The engines' services are on control nodes",
    expected="`inference.services_address` a control node's address, or one that no machine has",
    remedy="leave `services_address` out, or correct it",
    manual="curl http://ADDRESS:2379/health",
    source="the Plan's design: control nodes carry the services",
    run=run,
)
