"""No password for the console.

When the network is down or a key is lost, the controller's console is the only way in, and it asks for a password.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look for the reference."""
    if context.site.access.console_password_hash is None:
        yield Found("access.console_password_hash", "is missing, so nobody can log in at the console", ("access",))


CHECK = Check(
    id="KV-SEC-009",
    severity="info",
    title="Somebody can log in at the console",
    expected="`access.console_password_hash` refers to a hash",
    remedy="make one with `mkpasswd -m sha-512`, keep it in the vault, and refer to it",
    manual="grep -n console_password_hash site.yaml",
    source="kickstart documentation, user --iscrypted; autoinstall reference, identity",
    run=run,
)
