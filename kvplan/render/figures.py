"""Figures as people read them: bytes, rates, margins and shares, each with its unit."""

from __future__ import annotations

from kvplan.units import format_binary, format_bytes

_LARGE_MARGIN = 9.995


def both_bytes(count: float) -> str:
    """Write bytes in decimal and binary units.

    >>> both_bytes(9_584_640_000)
    '9.585 GB (8.926 GiB)'
    """
    return f"{format_bytes(count)} ({format_binary(count)})"


def percent(share: float, digits: int = 1) -> str:
    """Write a share in percent.

    >>> percent(0.757)
    '75.7 %'
    """
    return f"{100 * share:.{digits}f} %"


def margin_text(margin: float | None) -> str:
    """Write a margin with its sign; large ones as a factor, open ones as a dash.

    >>> margin_text(0.41), margin_text(-0.25), margin_text(85.9), margin_text(None)
    ('+41 %', '-25 %', 'x 87', '-')
    """
    if margin is None:
        return "-"
    if margin > _LARGE_MARGIN:
        return f"x {margin + 1:,.0f}"
    return f"{100 * margin:+.0f} %"
