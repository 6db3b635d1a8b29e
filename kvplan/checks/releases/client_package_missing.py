"""Clients that form a cluster of their own, without a package of the edition that they install.

The Erasure Code Edition is licensed to the cluster that holds the drives. A cluster of clients has the Data Management
Edition, which comes in another package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look for the package where clients mount from afar."""
    packages = context.site.packages
    located = packages.storage_scale_client or packages.deb_repo
    if context.deployment.clients and context.site.storage.clients == "remote-mount" and not located:
        what = "has no location, and GPU servers mount from a cluster of their own"
        yield Found("packages.storage_scale_client", what, ("packages",))


CHECK = Check(
    id="KV-REL-011",
    severity="error",
    title="Clients of a remote mount have the package of their edition",
    expected="`packages.storage_scale_client`, or `packages.deb_repo`, where `storage.clients` is remote-mount",
    remedy="add the package of the Data Management Edition, or let clients join the storage cluster",
    manual="dpkg-query --show gpfs.license.dm",
    source="IBM Storage Scale 6.0 documentation, product editions: one edition in a cluster",
    run=run,
)
