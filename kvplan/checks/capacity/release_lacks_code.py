"""An erasure code that the Storage Scale release does not have.

The recovery group would be refused when its vdisk set is made, after everything is installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look the code up."""
    code, release = context.plan.profile.erasure_code, context.deployment.release
    if code not in release.erasure_codes:
        yield Found("versions.storage_scale", f"{release.version} has no {code}", ("versions", "storage_scale"))


CHECK = Check(
    id="KV-CAP-018",
    severity="error",
    title="The release has the Plan's erasure code",
    expected="a release whose row lists the code",
    remedy="choose another release, or size the Plan with another --code",
    manual="mmvdisk vdiskset define --help",
    source="catalogue, releases: erasure_codes",
    run=run,
)
