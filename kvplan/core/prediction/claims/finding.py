"""What a check of a claim returns, and how its numbers are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.units import format_bytes, format_percent, format_rate

if TYPE_CHECKING:
    from kvplan.schema.claims import Verdict


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict with what was published, what was computed (`value` in `unit`), and why it is so."""

    published: str
    computed: str
    value: float
    unit: str
    verdict: Verdict
    why: str


def close(value: float, to: float, tolerance: float) -> bool:
    r"""Say whether a value is as close to another as a share of it.

    .. math:: |v - t| \le \epsilon |t|

    Parameters
    ----------
    value
        Value v, in any unit [unit].
    to
        Value t that it is compared with [unit].
    tolerance
        Share epsilon of t [1].

    Returns
    -------
    bool
        Whether it is.

    References
    ----------
    Definition of the relative deviation.

    Examples
    --------
    >>> close(56.4, 56, 0.03), close(78.4, 56, 0.03)
    (True, False)
    """
    return abs(value - to) <= tolerance * abs(to)


def agrees(*, holds: bool) -> Verdict:
    """Name the verdict of a claim that either holds or does not.

    >>> agrees(holds=True), agrees(holds=False)
    ('agrees', 'contradicts')
    """
    return "agrees" if holds else "contradicts"


def text(value: float, unit: str) -> str:
    """Write a number of a claim.

    >>> [text(56.386, "x"), text(0.16203, "s"), text(825e9, "B"), text(0.1836, "ratio"), text(1140000, "tokens")]
    ['56.4x', '0.162 s', '825 GB', '18.4 %', '1,140,000 tokens']
    >>> text(5.2988, "GPUs"), text(1, "GPUs"), text(37.69e9, "B/s"), text(4.261, "requests/s")
    ('5.3 GPUs', '1 GPU', '37.7 GB/s', '4.26 requests/s')
    """
    written = {
        "x": lambda: f"{value:.3g}x",
        "s": lambda: f"{value:,.4g} s",
        "B": lambda: format_bytes(value),
        "B/s": lambda: format_rate(value),
        "ratio": lambda: format_percent(value),
        "tokens": lambda: f"{value:,.0f} tokens",
        "GPUs": lambda: "1 GPU" if value == 1 else f"{value:.3g} GPUs",
    }
    return written[unit]() if unit in written else f"{value:.3g} {unit}"
