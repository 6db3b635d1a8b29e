"""Weights that lie in the cache's file system.

The cache fills its quota and is evicted. Weights beside it compete for space and bandwidth, and below the cache's own
directory an evictor may take them.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare the two paths."""
    path, mount = PurePosixPath(context.site.inference.engines.model_path), PurePosixPath(context.site.storage.mount)
    if path.is_relative_to(mount):
        yield Found("inference.engines.model_path", f"{path} is below {mount}", ("inference", "engines", "model_path"))


CHECK = Check(
    id="KV-CAP-011",
    severity="error",
    title="Weights lie outside the cache",
    expected="`inference.engines.model_path` not below `storage.mount`",
    remedy="put the weights on a local drive, or on another file system",
    manual="df MODEL_PATH",
    source="IBM Storage Scale documentation, file placement and deletion rules",
    run=run,
)
