"""A further name that is a machine's.

Every machine gets a list of names. A further host of the Site under a machine's inventory, admin or daemon name, or
under one name with two addresses, leads connections astray.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare further names with those of machines and with each other."""
    taken = {device: f"the name of {device}" for device in context.deployment.devices}
    for server in context.site.servers:
        names = context.deployment.names_of(server.name)
        taken |= {names.admin: f"the admin name of {server.name}", names.daemon: f"the daemon name of {server.name}"}
    for index, extra in enumerate(context.site.extra_names):
        if extra.name in taken:
            yield Found(extra.name, f"is {taken[extra.name]} too", ("extra_names", index, "name"))
        taken[extra.name] = f"the name of {extra.address}"


CHECK = Check(
    id="KV-SIT-021",
    severity="error",
    title="Further names are nobody else's",
    expected="`extra_names` apart from the machines' names, each with one address",
    remedy="give the host another name",
    manual="getent hosts NAME",
    source="hosts(5): the first line that has a name counts",
    run=run,
)
