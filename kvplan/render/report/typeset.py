"""Signs as a printer sets them; other outputs of kvplan keep to the letters of a keyboard."""

from __future__ import annotations

import re

_TIMES = re.compile(r"(?<![^ (])x(?=[ )]|$)")
_MINUS = re.compile(r"(?<![\w)])-(?=\d)")
_NOTHING = re.compile(r"^-$")


def typeset(text: str) -> str:
    r"""Write a times sign for a lone x, a minus sign before digits, and a dash for nothing.

    >>> [typeset(text).encode("ascii", "backslashreplace").decode() for text in ("8 x 16 drives", "-25 %", "-", "H-8")]
    ['8 \\xd7 16 drives', '\\u221225 %', '\\u2013', 'H-8']
    """
    signed = _MINUS.sub("\N{MINUS SIGN}", _TIMES.sub("\N{MULTIPLICATION SIGN}", text))
    return _NOTHING.sub("\N{EN DASH}", signed)
