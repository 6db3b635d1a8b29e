"""A licence that nobody has accepted.

Installers of these products ask for acceptance, and kvplan answers only for whom the Site names. What needs the
licence cannot be installed without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context

ALWAYS = ("storage-scale", "doca", "gpu-driver", "rhel", "ubuntu", "cumulus", "dynamo")
"""Products that every deployment installs or runs."""


def run(context: Context) -> Iterator[Found]:
    """Compare what is installed with what is accepted."""
    accepted = {licence.what for licence in context.site.licences}
    needed: dict[str, str] = dict.fromkeys(ALWAYS, "is installed")
    if any(server.bmc.kind.startswith("supermicro") for server in context.site.servers):
        needed["dcms"] = "is what virtual media of these controllers needs"
    for what, why in needed.items():
        if what not in accepted:
            yield Found(what, f"{why}, and its licence is not accepted", ("licences",))


CHECK = Check(
    id="KV-SIT-029",
    severity="error",
    title="The licence of every product is accepted",
    expected="an entry in `licences` for each product that is installed",
    remedy="read the licence, and add `what`, `accepted_by` and `date` to `licences`",
    manual="grep -n -A3 licences site.yaml",
    source="licence terms of IBM, NVIDIA, Red Hat, Canonical and Supermicro",
    run=run,
)
