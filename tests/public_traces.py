"""Where the public traces lie, if they are here at all; they are never committed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

TRACES: Final = Path(__file__).parents[2] / "shared" / "data" / "traces"
"""Beside the repository."""


def mooncake_trace(name: str) -> Path:
    """Return where one of Mooncake's traces lies."""
    return TRACES / f"mooncake_{name}_trace.jsonl.xz"
