"""One secret for several purposes.

Whoever learns the one has the other: the password of a switch's monitoring that is that of its login, say. One
password for all controllers of a kind is not judged here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.keys import secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context
    from kvplan.checks.walk import Entry


def run(context: Context) -> Iterator[Found]:
    """Compare references of different purposes."""
    first: dict[str, Entry] = {}
    for entry in secrets(context):
        known = first.setdefault(entry.value, entry)
        if known.owner != entry.owner:
            yield Found(entry.owner, f"{entry.value} is that of {known.owner} too", entry.loc)


CHECK = Check(
    id="KV-SEC-006",
    severity="warning",
    title="Each purpose has a secret of its own",
    expected="references that differ between controllers, switches, consoles, keys and SNMP",
    remedy="make a second secret, and refer to it",
    manual="grep -nE '(env|file|vault):' site.yaml | sort -k2",
    source="NIST SP 800-57 part 1, section 5.2: one key, one purpose",
    run=run,
)
