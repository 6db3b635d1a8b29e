"""A hash that stands for none.

A hash of one digit, or of a few that repeat, was typed to satisfy the form. The download would be refused, or, worse,
never compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.downloads import downloads
from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context

PERIODS = (1, 2, 4, 8)
"""Lengths of a piece that, repeated, makes the whole hash."""


def run(context: Context) -> Iterator[Found]:
    """Look for hashes with a period."""
    for name, download, loc in downloads(context):
        if any(download.sha256 == download.sha256[:period] * (len(download.sha256) // period) for period in PERIODS):
            yield Found(name, f"sha256 {download.sha256[:8]}… is made up", (*loc, "sha256"))


CHECK = Check(
    id="KV-SEC-011",
    severity="error",
    title="Hashes are those of files",
    expected="a `sha256` as `sha256sum` prints it",
    remedy="run sha256sum on the file, and copy what it prints",
    manual="sha256sum FILE",
    source="FIPS 180-4: digits of a hash do not repeat",
    run=run,
)
