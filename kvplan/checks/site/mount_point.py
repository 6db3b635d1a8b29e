"""A mount point over a directory that the system lives in.

What is mounted over `/etc` or `/usr` hides it, on every storage node and GPU server at once, from the first mount on.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context

_SYSTEM: Final = frozenset(
    ["bin", "boot", "dev", "etc", "lib", "lib64", "proc", "root", "run", "sbin", "sys", "tmp", "usr"]
)
"""Nothing is mounted at or below these."""
_SHARED: Final = frozenset(("home", "media", "mnt", "opt", "srv", "var"))
"""Nothing is mounted at these; below them is fine."""


def run(context: Context) -> Iterator[Found]:
    """Look at the first names of the path."""
    mount = context.site.storage.mount
    _, first, *rest = PurePosixPath(mount).parts
    if ".." in rest or first == ".." or str(PurePosixPath(mount)) != mount:
        yield Found("storage.mount", f"{mount} is no plain path", ("storage", "mount"))
    elif first in _SYSTEM or (first in _SHARED and not rest):
        yield Found("storage.mount", f"{mount} would hide /{first} of the system", ("storage", "mount"))


CHECK = Check(
    id="KV-SIT-031",
    severity="error",
    title="The mount point hides nothing of the system",
    expected="a directory of its own, such as /kvfs or /mnt/kvfs",
    remedy="name another directory in `storage.mount`",
    manual="ls -ld MOUNT",
    source="Filesystem Hierarchy Standard 3.0; IBM Storage Scale documentation, mmcrfs -T",
    run=run,
)
