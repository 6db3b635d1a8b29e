"""A public key that is cut off or garbled.

A system keeps such a line and ignores it. Whoever has the private key is then locked out of a machine that was just
installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.keys import is_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Take each key apart."""
    for index, key in enumerate(context.site.access.ssh_keys):
        if not is_whole(key):
            yield Found(
                "access.ssh_keys",
                f"key {index + 1} ({key.split()[0]}) is cut off or garbled",
                ("access", "ssh_keys", index),
            )


CHECK = Check(
    id="KV-SEC-002",
    severity="error",
    title="Public keys are whole",
    expected="a line as `ssh-keygen` wrote it",
    remedy="copy the whole line again",
    manual="ssh-keygen -l -f KEY.pub",
    source="RFC 4253 section 6.6; RFC 8709",
    run=run,
)
