"""Comparison of release numbers."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kvplan.schema.software import CacheBackend, SoftwareSet

HYBRID_MANAGER_WITH_CONNECTOR_SINCE = "0.24.0"
"""From this vLLM release on a KV connector leaves the hybrid manager on where it supports it (`config/vllm.py`)."""

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
        The first four numbers, 0 where there are fewer [1].

    Examples
    --------
    >>> release_key("0.14.1") < release_key("0.23"), release_key("0.24") == release_key("0.24.0")
    (True, True)

    References
    ----------
    PEP 440, release segment (pre-releases are not told apart): https://peps.python.org/pep-0440/
    """
    return (*map(int, _NUMBERS.findall(version)), 0, 0, 0, 0)[:4]


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
    # As many numbers as the end of the range is written with: 0.14 takes in 0.14.1.
    written = len(_NUMBERS.findall(last))
    if last and key[:written] > release_key(last)[:written]:
        return f"{last} or earlier"
    return ""


def mismatches(software: SoftwareSet, backend: CacheBackend) -> tuple[str, ...]:
    """Say which versions of a software set a cache back end does not work with.

    Parameters
    ----------
    software
        The software set.
    backend
        The cache back end with its version ranges.

    Returns
    -------
    tuple of str
        One sentence a mismatch.

    References
    ----------
    The version columns of the catalogue's back ends.

    Examples
    --------
    >>> from kvplan import load_catalogue
    >>> tables = load_catalogue()
    >>> len(mismatches(tables.software("reference"), tables.backend("vllm-fs")))
    2
    """
    judged = (("Dynamo", software.dynamo, backend.dynamo), ("vLLM", software.vllm, backend.vllm))
    return tuple(
        f"{backend.id} needs {name} {reason}; this is {version}"
        for name, version, allowed in judged
        if (reason := outside(version, allowed.first, allowed.last))
    )
