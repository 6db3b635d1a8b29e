"""How much room text takes: spreadsheet programs do not make rows higher for what is wrapped when they open a file."""

from __future__ import annotations

_NARROW, _BROAD = frozenset("iljtfrI.,:;'|()[]!-/ "), frozenset("mwMW@%&")
_DIGIT = 0.92
"""A digit of the tables' type, in digits of the type that column widths are measured in."""
_BOLD, _SMALL = 1.06, 0.9


def text_width(text: str) -> float:
    """Estimate how wide a text is, in the unit of column widths.

    >>> text_width("0000"), text_width("illicit") < text_width("hammock")
    (3.68, True)
    """
    return sum(map(_width, text))


def lines_needed(text: str, width: float, *style: str) -> int:
    """Estimate how many lines a text takes in a column, broken at blanks.

    >>> lines_needed("one line", 20), lines_needed("two lines, if the column is narrow", 20)
    (1, 2)
    """
    scale = (_BOLD if {"strong", "chosen", "head"} & set(style) else 1) * (_SMALL if "small" in style else 1)
    room, lines, used = max(width - 0.5, 1) / scale, 1, 0.0
    for word in text.split(" "):
        needed, blank = text_width(word), _width(" ") if used else 0
        if used and used + blank + needed > room:
            lines, used, blank = lines + 1, 0, 0
        broken = int(needed // room)
        lines += broken
        used = used + blank + needed - broken * room
    return lines


def _width(letter: str) -> float:
    """Estimate the width of one letter."""
    if letter in _NARROW:
        return 0.53
    if letter in _BROAD:
        return 1.4
    return 1.08 if letter.isupper() else (0.86 if letter.islower() else _DIGIT)
