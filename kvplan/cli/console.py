"""What goes to the terminal: results to stdout, everything else to stderr; width and colour decided here."""

from __future__ import annotations

import os
import shutil
import sys

DEFAULT_WIDTH = 80
MIN_WIDTH = 40


def out(text: str) -> None:
    """Write a result to stdout."""
    sys.stdout.write(text)


def say(text: str) -> None:
    """Write a line for people to stderr."""
    sys.stderr.write(f"{text}\n")


def width() -> int:
    """Return the columns to use: the terminal's, 80 at most; 80 where there is none."""
    columns = shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns
    return max(MIN_WIDTH, min(DEFAULT_WIDTH, columns))


def color() -> bool:
    """Tell whether stdout takes colour: a terminal that is not dumb, unless NO_COLOR or FORCE_COLOR decide."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
