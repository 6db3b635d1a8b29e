"""Quantities as people write them, and back: GB is 10^9 bytes, GiB is 2^30, and neither is ever the other."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

KB, MB, GB, TB, PB = 10**3, 10**6, 10**9, 10**12, 10**15
KIB, MIB, GIB, TIB, PIB = 2**10, 2**20, 2**30, 2**40, 2**50

_MULTIPLES: dict[str, int] = {"": 1, "k": KB, "m": MB, "g": GB, "t": TB, "ki": KIB, "mi": MIB, "gi": GIB, "ti": TIB}
_COUNT = re.compile(r"(?P<number>\d+(?:[_,]\d{3})*(?:\.\d+)?)\s*(?P<multiple>[kmgt]i?)?", re.IGNORECASE | re.ASCII)
MAX_COUNT = 10**15
BTU_PER_WATT_HOUR = 3.412
"""Heat that a watt gives in an hour: 3,600 J over 1,055.06 J/BTU."""
YES_NO = "yes/no"
"""Unit of a value that is 1 for yes and 0 for no."""


def parse_count(text: str) -> int:
    """Read a whole number as people write it.

    Parameters
    ----------
    text
        Digits with an optional fraction, thousands marks (`,` or `_`) and one of k, M, G, T (powers of 1,000)
        or Ki, Mi, Gi, Ti (powers of 1,024); letter case does not matter.

    Returns
    -------
    int
        The count [1].

    Raises
    ------
    ValueError
        When the text is no such number, is not whole, or is beyond 10^15.

    Examples
    --------
    >>> [parse_count(text) for text in ("130k", "128Ki", "131072", "1.5M", "131,072")]
    [130000, 131072, 131072, 1500000, 131072]
    """
    match = _COUNT.fullmatch(text.strip())
    if match is None:
        message = f"{text!r} is {'below zero' if text.strip().startswith('-') else 'not a number'}"
        raise ValueError(message)
    # In whole numbers throughout: as floats, 1.1M might come out one short.
    whole, _, fraction = match["number"].replace(",", "").replace("_", "").partition(".")
    multiple = _MULTIPLES[(match["multiple"] or "").lower()]
    scaled, rest = divmod(int(whole + fraction) * multiple, 10 ** len(fraction))
    if rest:
        message = f"{text!r} is not a whole number"
        raise ValueError(message)
    if scaled > MAX_COUNT:
        message = f"{text!r} is beyond {MAX_COUNT:,}"
        raise ValueError(message)
    return int(scaled)


def is_number(text: str) -> bool:
    """Tell whether a text is a plain number, with or without a fraction or an exponent.

    >>> is_number("-1.5e9"), is_number("1,024"), is_number("x")
    (True, False, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=4096)
def format_bytes(count: float, *, digits: int = 4) -> str:
    """Write bytes in decimal units.

    >>> format_bytes(315e9), format_bytes(983_040_000_000_000), format_bytes(512)
    ('315 GB', '983 TB', '512 B')
    """
    for unit, size in (("PB", PB), ("TB", TB), ("GB", GB), ("MB", MB), ("kB", KB)):
        if abs(count) >= size:
            return f"{_trim(count / size, digits)} {unit}"
    return f"{_trim(count, digits)} B"


def format_binary(count: float, *, digits: int = 4) -> str:
    """Write bytes in binary units.

    >>> format_binary(19.6 * 2**30), format_binary(4718592)
    ('19.6 GiB', '4.5 MiB')
    """
    for unit, size in (("PiB", PIB), ("TiB", TIB), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if abs(count) >= size:
            return f"{_trim(count / size, digits)} {unit}"
    return f"{_trim(count, digits)} B"


def format_rate(bytes_per_s: float, *, digits: int = 3) -> str:
    """Write a rate in decimal units per second.

    >>> format_rate(39.375e9)
    '39.4 GB/s'
    """
    return f"{format_bytes(bytes_per_s, digits=digits)}/s"


def format_quantity(value: float, unit: str) -> str:
    """Write a value with its unit: rates and sizes in multiples that fit, whole KiB and MiB as such.

    >>> format_quantity(315e9, "B/s"), format_quantity(512, "pdisks"), format_quantity(116_829_156_672, "parameters")
    ('315 GB/s', '512 pdisks', '116.8B parameters')
    >>> format_quantity(4 * 2**20, "B"), format_quantity(7.68e12, "B"), format_quantity(1, "yes/no")
    ('4 MiB', '7.68 TB', 'yes')
    """
    if unit == "B/s":
        return format_rate(value)
    if unit == "B":
        return format_binary(value) if value and value % KIB == 0 and value < GIB else format_bytes(value)
    if unit == "parameters":
        return f"{value / 1e9:,.4g}B parameters"
    if unit == YES_NO:
        return "yes" if value else "no"
    return f"{value:,.0f} {unit}" if value % 1 == 0 else f"{value:,.6g} {unit}"


def format_percent(share: float, digits: int = 1) -> str:
    """Write a share in percent.

    >>> format_percent(0.757), format_percent(0.65, 0)
    ('75.7 %', '65 %')
    """
    return f"{100 * share:.{digits}f} %"


def format_power(watts: float) -> str:
    """Write power.

    >>> format_power(8412), format_power(640), format_power(5_790_000)
    ('8.41 kW', '640 W', '5.79 MW')
    """
    unit, size = next(((unit, size) for unit, size in (("MW", 1e6), ("kW", 1e3)) if watts >= size), ("W", 1))
    return f"{watts / size:,.3g} {unit}"


def format_line_rate(bits_per_s: float) -> str:
    """Write the rate of a network port as it is named.

    >>> format_line_rate(400e9), format_line_rate(1e9)
    ('400G', '1G')
    """
    return f"{bits_per_s / GB:g}G"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Write the first few names and how many more there are.

    >>> listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a, b', 'a, b, c and 2 more')
    """
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def counted(count: int, noun: str) -> str:
    """Write a count with its noun in the right number.

    >>> counted(1, "whole context"), counted(1200, "engine")
    ('1 whole context', '1,200 engines')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def format_duration(seconds: float) -> str:
    """Write a time span with a unit that fits.

    >>> format_duration(0.0421), format_duration(95), format_duration(11_300)
    ('42 ms', '1.6 min', '3.1 h')
    """
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:  # noqa: PLR2004 - seconds of a minute
        return f"{seconds:.3g} s"
    if seconds < 2 * 3600:
        return f"{seconds / 60:.3g} min"
    if seconds < 2 * 86_400:
        return f"{seconds / 3600:.3g} h"
    return f"{seconds / 86_400:.3g} d"


def _trim(value: float, digits: int) -> str:
    """Write a number with so many significant digits, grouped, without an exponent or trailing zeros."""
    if value == 0:
        return "0"
    whole = len(str(int(abs(value))))
    text = f"{value:,.{max(digits - whole, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
