"""A package that GPU servers need and no location has.

No distribution carries these drivers. Without a location, or a repository that has them, the installation of GPU
servers stops half way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look for packages of GPU servers without a location."""
    packages = context.site.packages
    for name in ("doca_ubuntu", "gpu_driver"):
        if getattr(packages, name) is None and packages.deb_repo is None:
            yield Found(f"packages.{name}", "has no location, and there is no deb_repo", ("packages",))


CHECK = Check(
    id="KV-REL-005",
    severity="error",
    title="Everything that is installed has a location",
    expected="`packages.doca_ubuntu` and `packages.gpu_driver`, or `packages.deb_repo`",
    remedy="add the location, or a repository that has the package",
    manual="curl -I URL",
    source="NVIDIA DOCA and driver installation guides for Ubuntu",
    run=run,
)
