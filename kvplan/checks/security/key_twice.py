"""A public key that is listed twice.

Once is enough. Twice often means that a colleague's key was meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import Entry, repeated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look for keys that repeat, whatever their comments."""
    yield from repeated(
        (
            Entry(" ".join(key.split()[:2]), f"key {index + 1}", ("access", "ssh_keys", index))
            for index, key in enumerate(context.site.access.ssh_keys)
        ),
        "the key",
    )


CHECK = Check(
    id="KV-SEC-003",
    severity="warning",
    title="Public keys are listed once",
    expected="each key once in `access.ssh_keys`",
    remedy="take one out, or add the key that was meant",
    manual="sort KEYS | uniq -d",
    source="sshd(8), AUTHORIZED_KEYS",
    run=run,
)
