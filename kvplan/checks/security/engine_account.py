"""Engines that run under an account of the system.

Ids below 1,000 belong to services that a package may install later. Files of the cache would then be that service's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context

FIRST_ID = 1000
"""UID_MIN and GID_MIN of both systems: login.defs(5)."""


def run(context: Context) -> Iterator[Found]:
    """Compare with the first id for people."""
    engines = context.site.inference.engines
    for name, value in (("uid", engines.uid), ("gid", engines.gid)):
        if value < FIRST_ID:
            yield Found(f"inference.engines.{name}", f"{value} is an id of the system", ("inference", "engines", name))


CHECK = Check(
    id="KV-SEC-010",
    severity="warning",
    title="Engines run under an account of their own",
    expected="`inference.engines.uid` and `gid` of 1,000 or more",
    remedy="choose an id that is free on all machines",
    manual="getent passwd UID; getent group GID",
    source="login.defs(5), UID_MIN and GID_MIN",
    run=run,
)
