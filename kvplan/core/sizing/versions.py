"""Comparison of release numbers."""

from __future__ import annotations

import re
from functools import lru_cache

_NUMBERS = re.compile(r"\d+")


@lru_cache(maxsize=256)
def release_key(version: str) -> tuple[int, ...]:
    """Turn a release number into something that sorts.

    Parameters
    ----------
    version
        Dotted release number; anything after the numbers is ignored [1].

    Returns
    -------
    tuple of int
        The first four numbers [1].

    Examples
    --------
    >>> release_key("0.14.1") < release_key("0.23")
    True

    References
    ----------
    PEP 440, release segment (pre-releases are not told apart): https://peps.python.org/pep-0440/
    """
    return tuple(int(number) for number in _NUMBERS.findall(version)[:4])


def outside(version: str, first: str, last: str) -> str:
    """Say which range a version misses, or nothing when it is inside.

    Parameters
    ----------
    version
        Release number in question [1].
    first
        First release of the range, inclusive; empty where it has no beginning [1].
    last
        Last release of the range, inclusive with all its patch releases; empty where it has no end [1].

    Returns
    -------
    str
        The range missed, such as `0.22 or later`; empty inside.

    Examples
    --------
    >>> outside("0.14.1", "0.22", ""), outside("0.14.1", "0.10", "0.14")
    ('0.22 or later', '')

    References
    ----------
    The version columns of the catalogue's back ends.
    """
    key = release_key(version)
    if first and key < release_key(first):
        return f"{first} or later"
    if last and key[: len(release_key(last))] > release_key(last):
        return f"{last} or earlier"
    return ""
