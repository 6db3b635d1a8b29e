"""The ground that texts of a chart cover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Anchor = Literal["start", "middle", "end"]
_CHARACTER, _ASCENT, _DESCENT = 6.8, 10.0, 3.0
"""A text of 12.5: its width a character, and how far it reaches above and below its line."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of the chart."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Tell whether two boxes share ground.

        >>> Box(0, 0, 10, 10).meets(Box(9, 9, 20, 20)), Box(0, 0, 10, 10).meets(Box(10, 0, 20, 10))
        (True, False)
        """
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def text_box(x: float, y: float, words: str, anchor: Anchor = "start") -> Box:
    """Estimate the ground that a text covers."""
    width = len(words) * _CHARACTER
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return Box(left, y - _ASCENT, left + width, y + _DESCENT)
