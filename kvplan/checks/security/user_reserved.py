"""A deployer who logs in under a system's own account.

Accounts such as root or nobody exist before the deployer's does. Installers refuse to make them again, and a login as
root tells nobody who it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context

RESERVED = frozenset(
    ("root", "bin", "daemon", "adm", "lp", "sync", "mail", "news", "games", "man", "proxy", "backup", "nobody", "sshd")
)
"""Accounts that both systems have from the start."""


def run(context: Context) -> Iterator[Found]:
    """Compare with the accounts that exist."""
    user = context.site.access.user
    if user in RESERVED:
        yield Found("access.user", f"{user} is an account of the system", ("access", "user"))


CHECK = Check(
    id="KV-SEC-008",
    severity="error",
    title="The deployer has an account of its own",
    expected="`access.user` is no account of the system",
    remedy="choose another name, such as kvplan",
    manual="getent passwd NAME",
    source="Linux Standard Base, required users; CIS benchmark for RHEL 9, 5.1",
    run=run,
)
