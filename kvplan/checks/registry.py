"""All checks, in the order of their ids: the modules that have a `CHECK`, and the rules of the parts."""

from __future__ import annotations

import inspect
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Final

from kvplan.checks.parts import part_checks
from kvplan.errors import InputError, Problem, did_you_mean
from kvplan.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kvplan.checks.framework import Check

OWN_PACKAGES: Final = ("site", "network", "security", "releases", "capacity")
"""Packages of checks that are modules; the rules of the parts come after them."""


@cache
def all_checks() -> tuple[Check, ...]:
    """Return every check, area by area.

    Returns
    -------
    tuple of Check
        Those that are modules, then the rules of the parts.

    Examples
    --------
    >>> all_checks()[0].id
    'KV-SIT-001'
    """
    return (*own_checks(), *part_checks())


@cache
def own_checks() -> tuple[Check, ...]:
    """Return the checks that are modules, those of a package in the order of their ids."""
    return tuple(check for package in OWN_PACKAGES for check in sorted(_found_in(package), key=lambda check: check.id))


def check_of(check_id: str) -> Check:
    """Return a check by its id, however it is capitalised.

    Parameters
    ----------
    check_id
        Such as `KV-NET-003`.

    Returns
    -------
    Check
        The check.

    Raises
    ------
    InputError
        When there is none; it names those that are called alike.
    """
    known = {check.id: check for check in all_checks()}
    if check_id.upper() not in known:
        raise InputError.single(check_id, "is no check", allowed=_ALLOWED, hint=_meant(check_id, known))
    return known[check_id.upper()]


def matching(patterns: Iterable[str], option: str) -> frozenset[str]:
    """Return the ids that patterns such as `KV-NET-*` mean.

    Parameters
    ----------
    patterns
        Ids or patterns, however they are capitalised.
    option
        The option that they were given with.

    Returns
    -------
    frozenset of str
        Ids of checks.

    Raises
    ------
    InputError
        With every pattern that no check matches.

    Examples
    --------
    >>> sorted(matching(["kv-sit-00[12]"], "--skip"))
    ['KV-SIT-001', 'KV-SIT-002']
    """
    known = [check.id for check in all_checks()]
    matched = {pattern: frozenset(name for name in known if fnmatchcase(name, pattern.upper())) for pattern in patterns}
    problems = [
        Problem(option, f"no check is called {pattern!r}", allowed=_ALLOWED, hint=_meant(pattern, known))
        for pattern, names in matched.items()
        if not names
    ]
    if problems:
        raise InputError(problems)
    return frozenset().union(*matched.values())


_ALLOWED: Final = "an id such as KV-NET-003; docs/checks.md lists them"


def _meant(given: str, known: Iterable[str]) -> str:
    """Name ids that are called alike, else the first ones that begin so."""
    return did_you_mean(given, known) or _beginning(given, known)


def _beginning(given: str, known: Iterable[str]) -> str:
    """Name the first ids that begin with what was given."""
    names = [name for name in known if name.startswith(given.upper())]
    return f"did you mean {listed(names)}?" if names else ""


def _found_in(package: str) -> Iterator[Check]:
    """Load the modules of a package; the docstring of each is the reason for its check."""
    parent = import_module(f"kvplan.checks.{package}")
    for entry in iter_modules(parent.__path__):
        module = import_module(f"{parent.__name__}.{entry.name}")
        yield replace(module.CHECK, why=inspect.getdoc(module) or "")
