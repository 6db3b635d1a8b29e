"""A private key in a variable.

ssh reads a key from a file. A variable is inherited by every process, shows in listings, and ends up in logs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look at the kind of reference."""
    if context.site.access.private_key.startswith("env:"):
        yield Found("access.private_key", "is in a variable of the environment", ("access", "private_key"))


CHECK = Check(
    id="KV-SEC-004",
    severity="error",
    title="The private key is in a file or a vault",
    expected="`access.private_key` starts with `file:` or `vault:`",
    remedy="put the key in a file of mode 0600, or in a vault",
    manual="ls -l FILE",
    source="ssh(1), -i; Ansible documentation, ansible_ssh_private_key_file",
    run=run,
)
