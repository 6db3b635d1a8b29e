"""The files that a Site installs from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.schema.site.software import Download

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context
    from kvplan.inputs.loc import Loc


def downloads(context: Context) -> Iterator[tuple[str, Download, Loc]]:
    """Yield every image and package with its name and path."""
    for section in ("images", "packages"):
        for name, value in getattr(context.site, section):
            if isinstance(value, Download):
                yield f"{section}.{name}", value, (section, name)
