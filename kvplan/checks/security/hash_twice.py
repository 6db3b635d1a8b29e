"""One hash for two files.

A hash was copied to the wrong line. One of the two downloads would be refused when it is too late.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.downloads import downloads
from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look for hashes that repeat with another address."""
    first: dict[str, tuple[str, str]] = {}
    for name, download, loc in downloads(context):
        known, url = first.setdefault(download.sha256, (name, download.url))
        if url != download.url:
            yield Found(name, f"sha256 {download.sha256[:8]}… is that of {known} too", (*loc, "sha256"))


CHECK = Check(
    id="KV-SEC-012",
    severity="warning",
    title="Each file has a hash of its own",
    expected="each `sha256` once, but for one file at two places",
    remedy="run sha256sum on both files, and copy what it prints",
    manual="sha256sum FILE FILE",
    source="FIPS 180-4: different files have different hashes",
    run=run,
)
