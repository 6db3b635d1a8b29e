"""Axes: where a value stands, and which values are worth a tick."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, floor, log, log10

_STEPS = (1, 2, 5, 10)
_ONE_DECADE, _FEW_DECADES = 1.3, 2.8


@dataclass(frozen=True, slots=True)
class Scale:
    """A range of values over a stretch of the drawing, even or by powers of ten; what lies outside stops at its end."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """Return the place of a value.

        >>> Scale(0, 10, 100, 200).at(5), Scale(1, 100, 0, 50, log=True).at(10), Scale(0, 1, 0, 9).at(7)
        (150.0, 25.0, 9.0)
        """
        low, high = (log10(self.low), log10(self.high)) if self.log else (self.low, self.high)
        here = log10(max(value, self.low)) if self.log else value
        share = (here - low) / (high - low)
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)


def nice_ticks(high: float, count: int = 5) -> tuple[float, ...]:
    """Return round values from 0 to the first one that is not below `high`.

    >>> nice_ticks(5.6), nice_ticks(128)
    ((0, 2, 4, 6), (0, 50, 100, 150))
    """
    rough = high / count
    power = 10.0 ** floor(log10(rough))
    step = next(step * power for step in _STEPS if step * power >= rough)
    step = int(step) if step >= 1 else step
    return tuple(round(step * index, 12) for index in range(ceil(high / step - 1e-9) + 1))


def decades(low: float, high: float) -> tuple[float, float]:
    """Return the powers of ten round a range; one of no width gets a decade.

    >>> decades(0.013, 32), decades(1, 1)
    ((0.01, 100.0), (1.0, 10.0))
    """
    first, last = floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9)
    return 10.0**first, 10.0 ** max(last, first + 1)


def log_ticks(low: float, high: float) -> tuple[float, ...]:
    """Return powers of ten in a range, with 3 times them, or 2 and 5 times, where it holds few of them.

    >>> log_ticks(1, 1000), log_ticks(10, 100), log_ticks(2, 500)
    ((1.0, 10.0, 100.0, 1000.0), (10.0, 20.0, 50.0, 100.0), (3.0, 10.0, 30.0, 100.0, 300.0))
    """
    first, last = floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9)
    width = log10(high / low)
    steps = (1, 2, 5) if width < _ONE_DECADE else (1, 3) if width < _FEW_DECADES else (1,)
    values = (step * 10.0**power for power in range(first, last + 1) for step in steps)
    return tuple(value for value in values if low <= value * (1 + 1e-9) and value <= high * (1 + 1e-9))


def spaced(first: float, last: float, count: int) -> tuple[float, ...]:
    """Return so many values from one to another, each the same factor above the one before.

    >>> [round(value, 6) for value in spaced(1, 100, 3)]
    [1.0, 10.0, 100.0]
    """
    step = log(last / first) / (count - 1)
    return (*(first * exp(step * index) for index in range(count - 1)), float(last))
