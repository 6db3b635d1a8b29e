"""What a rule is: an id, how grave a break of it is, what it checks, and the function that looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kvplan.schema.design import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kvplan.schema.base import Severity
    from kvplan.site.scale.rendered import Rendered


class Found(NamedTuple):
    """A break of a rule: the file or machine, what is wrong, and what to do."""

    where: str
    text: str
    remedy: str


class Rule(NamedTuple):
    """A rule over the rendered files."""

    id: str
    severity: Severity
    what: str
    look: Callable[[Rendered], Iterator[Found]]

    def findings(self, rendered: Rendered) -> Iterator[Finding]:
        """Yield what the rule finds."""
        for found in self.look(rendered):
            yield Finding(id=self.id, severity=self.severity, where=found.where, text=found.text, remedy=found.remedy)


def rule(number: int, severity: Severity, what: str) -> Callable[[Callable[[Rendered], Iterator[Found]]], Rule]:
    """Make a rule of the function below.

    >>> @rule(1, "error", "Nothing.")
    ... def nothing(rendered):
    ...     return iter(())
    >>> nothing.id
    'KV-SCL-001'
    """

    def made(look: Callable[[Rendered], Iterator[Found]]) -> Rule:
        return Rule(f"KV-SCL-{number:03d}", severity, what, look)

    return made
