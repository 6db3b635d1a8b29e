"""A server of another model than the Plan counts on.

Drive bays, slots and lanes of the chassis decide capacity and bandwidth. Another chassis may hold fewer drives or
adapters, or take them in other slots. Makes that the Plan leaves open are not judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import plain, servers
from kvplan.schema.hardware import ANY_VENDOR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare models by letters and digits alone."""
    chassis_of = {"storage": context.plan.parts.server, "client": context.plan.parts.client_server}
    for loc, server, device in servers(context, "storage", "client"):
        chassis = chassis_of[device.role]
        names = [plain(name) for name in (chassis.id, *chassis.aliases)]
        is_open = chassis.vendor == ANY_VENDOR or chassis.stands_for_unknown
        if not is_open and not any(name in plain(server.model) for name in names):
            yield Found(server.name, f"model {server.model}, the Plan counts on {chassis.id}", (*loc, "model"))


CHECK = Check(
    id="KV-SIT-004",
    severity="error",
    title="Servers are of the Plan's models",
    expected="the model of the Plan's chassis, as its label has it",
    remedy="correct `model`, or size a Plan with a profile of that chassis",
    manual="ipmitool -H BMC fru print 0  # Product Part Number",
    source="the Plan's parts: server and client_server",
    run=run,
)
