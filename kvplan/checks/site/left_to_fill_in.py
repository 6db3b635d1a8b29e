"""Values that are still to be filled in.

`kvplan init` marks what neither Plan nor asset list knows. A mark inside a longer text passes for a value, and ends
up in a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.inputs.loc import key_path
from kvplan.schema.site.forms import UNFILLED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Look for the mark in every text."""
    for loc, text in context.site_texts:
        if UNFILLED in text.upper():
            yield Found(key_path(loc), f"{text!r} is still to be filled in", loc)


CHECK = Check(
    id="KV-SIT-027",
    severity="error",
    title="Nothing is left to fill in",
    expected="no `CHANGE-ME` in the Site",
    remedy="fill the value in",
    manual="grep -n CHANGE-ME site.yaml",
    source="kvplan init",
    run=run,
)
