"""Figures as people read them: bytes, rates, margins and shares, each with its unit."""

from __future__ import annotations

from typing import Any

from kvplan.units import format_binary, format_bytes

_LARGE_MARGIN = 9.995
_MANY = 1000


def both_bytes(count: float) -> str:
    """Write bytes in decimal and binary units.

    >>> both_bytes(9_584_640_000)
    '9.585 GB (8.926 GiB)'
    """
    return f"{format_bytes(count)} ({format_binary(count)})"


def per_token(count: float) -> str:
    """Write bytes a token, whole where they are many.

    >>> per_token(36_864), per_token(9_687_040.25), per_token(0.5)
    ('36,864', '9,687,040', '0.5')
    """
    return f"{count:,.0f}" if count % 1 == 0 or count >= _MANY else f"{count:,.4g}"


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


def value_text(value: Any) -> str:
    """Write the value of any field: numbers grouped, yes or no, nothing where there is none.

    >>> value_text(1234567), value_text(0.123456789), value_text(True), value_text(None), value_text("8+2P")
    ('1,234,567', '0.123457', 'yes', '', '8+2P')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return significant(value, 6) if isinstance(value, float) else str(value)


def significant(value: float, digits: int = 3) -> str:
    """Write a number with so many digits, grouped; large ones whole, never with an exponent.

    >>> significant(0.17973), significant(105.2), significant(8412.7), significant(3.15e11, 6)
    ('0.18', '105', '8,413', '315,000,000,000')
    """
    return f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:,.{digits}g}"
