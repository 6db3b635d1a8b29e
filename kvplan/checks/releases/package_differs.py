"""A package of another version than the one that is to run.

Compatibility was judged for the version that `versions` names. The package decides what really runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import same_release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare each package with its version."""
    versions = context.site.versions
    wanted = {
        "storage_scale": versions.storage_scale,
        "storage_scale_client": versions.storage_scale,
        "doca": versions.doca,
        "doca_ubuntu": versions.doca,
        "gpu_driver": versions.gpu_driver,
    }
    for name, version in wanted.items():
        package = getattr(context.site.packages, name)
        if package and not same_release(package.version, version):
            what = f"is {package.version}, the version to run is {version}"
            yield Found(f"packages.{name}", what, ("packages", name, "version"))


CHECK = Check(
    id="KV-REL-004",
    severity="error",
    title="Packages are of the versions that run",
    expected="`packages` and `versions` name one version of each product",
    remedy="fetch the other package, or correct `versions`",
    manual="rpm -qp --qf '%{version}' FILE",
    source="derived: the package decides what is installed",
    run=run,
)
