"""What a rule over rendered files is: declared beside the function that looks, and collected from a part's modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from kvplan.schema.design import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType

    from kvplan.schema.base import Severity

SeenT = TypeVar("SeenT")


class Break(NamedTuple):
    """A break of a rule: the file or field, what is wrong, and what to do.

    Without a remedy it has that of its part, without a severity that of its rule.
    """

    where: str
    text: str
    remedy: str = ""
    severity: Severity | None = None


class Rule(NamedTuple, Generic[SeenT]):
    """A rule over something seen: its id, what is checked in one sentence, and the function that looks."""

    id: str
    what: str
    look: Callable[[SeenT], Iterator[Break]]
    severity: Severity = "error"


def rule(
    rule_id: str, what: str, severity: Severity = "error"
) -> Callable[[Callable[[SeenT], Iterator[Break]]], Rule[SeenT]]:
    """Make a rule of the function below.

    Parameters
    ----------
    rule_id
        Its id, which is never given to another.
    what
        What is checked, in one sentence.
    severity
        How grave a break is that says nothing else.

    Returns
    -------
    Callable
        What turns the function into the rule.

    Examples
    --------
    >>> @rule("KV-SIT-900", "A text is short.", "warning")
    ... def short(text):
    ...     if len(text) > 3:
    ...         yield Break(text, f"has {len(text)} characters")
    >>> short.id, short.what
    ('KV-SIT-900', 'A text is short.')
    >>> [(found.where, found.severity, found.remedy) for found in findings([short], "long", "cut it")]
    [('long', 'warning', 'cut it')]
    """

    def made(look: Callable[[SeenT], Iterator[Break]]) -> Rule[SeenT]:
        return Rule(rule_id, what, look, severity)

    return made


def rules_in(*modules: ModuleType) -> tuple[Rule[Any], ...]:
    """Collect the rules that modules declare, in the order of their ids."""
    declared = (value for module in modules for value in vars(module).values() if isinstance(value, Rule))
    return tuple(sorted(declared, key=lambda found: found.id))


def sentences(rules: Iterable[Rule[Any]]) -> dict[str, str]:
    """Say what each rule checks, by its id; an id that two rules have is a ValueError.

    >>> sentences([Rule("KV-SIT-900", "A.", iter), Rule("KV-SIT-901", "B.", iter)])
    {'KV-SIT-900': 'A.', 'KV-SIT-901': 'B.'}
    """
    said: dict[str, str] = {}
    for found in rules:
        if found.id in said:
            message = f"two rules are called {found.id}"
            raise ValueError(message)
        said[found.id] = found.what
    return said


def findings(rules: Iterable[Rule[SeenT]], seen: SeenT, remedy: str) -> Iterator[Finding]:
    """Apply rules.

    Parameters
    ----------
    rules
        The rules.
    seen
        What they look at.
    remedy
        What to do about a break that names no remedy of its own.

    Yields
    ------
    Finding
        Every break, rule by rule.
    """
    for found in rules:
        for broken in found.look(seen):
            yield Finding(
                id=found.id,
                severity=broken.severity or found.severity,
                where=broken.where,
                text=broken.text,
                remedy=broken.remedy or remedy,
            )
