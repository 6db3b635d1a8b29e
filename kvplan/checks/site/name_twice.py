"""A machine that is described twice.

Of two entries with one name only the last would count, so that the serial number or the controller of another machine
is taken for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import Entry, repeated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look for names that repeat."""
    entries = [
        Entry(server.name, f"server {index + 1}", ("servers", index, "name"))
        for index, server in enumerate(context.site.servers)
    ]
    entries += [
        Entry(switch.name, f"switch {index + 1}", ("switches", index, "name"))
        for index, switch in enumerate(context.site.switches)
    ]
    yield from repeated(entries, "the name")


CHECK = Check(
    id="KV-SIT-003",
    severity="error",
    title="Every machine is described once",
    expected="each name once in `servers` and `switches` together",
    remedy="take one of the entries out, or correct its name",
    manual="grep -n 'name:' site.yaml | sort -k3 | uniq -D -f2",
    source="derived: a name means one machine",
    run=run,
)
