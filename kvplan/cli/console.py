"""What goes to stdout, and how wide and colourful it may be; errors are written by `kvplan.__main__`."""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kvplan.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT_WIDTH = 80
MIN_WIDTH = 40
_PLAIN_LINES = str.maketrans("─│├└", "-|+`")


def out(text: str) -> None:
    """Write a result to stdout, in ASCII where stdout's encoding cannot hold it.

    Parameters
    ----------
    text
        The result, ending in a newline.

    Raises
    ------
    InputError
        When stdout takes no more, as a full disk does.
    """
    with _refusals_said():
        sys.stdout.write(_encodable(text, sys.stdout.encoding or "utf-8"))


def out_bytes(content: bytes) -> None:
    """Write a file's content to stdout as it is: a workbook, or a page or drawing that says that it is UTF-8.

    Parameters
    ----------
    content
        The content.

    Raises
    ------
    InputError
        When stdout takes no more.
    """
    with _refusals_said():
        sys.stdout.buffer.write(content)


@contextmanager
def _refusals_said() -> Iterator[None]:
    """Write everything out, and say why where stdout refuses; a reader that has gone is left to the caller."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        what = f"cannot be written: {(error.strerror or str(error)).lower()}"
        raise InputError.single(where="stdout", what=what) from error


def _encodable(text: str, encoding: str) -> str:
    """Replace lines by hyphens and escape the rest as JSON does where an encoding cannot hold a text."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(char if char.isascii() else json.dumps(char)[1:-1] for char in text.translate(_PLAIN_LINES))
    return text


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
