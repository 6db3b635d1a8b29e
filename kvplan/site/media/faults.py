"""What is wrong with the recipe of boot media."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.site.media import rules
from kvplan.site.rules import findings, rules_in, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.design import Finding
    from kvplan.site.deployment import Deployment
    from kvplan.site.rules import Rule

ALL_RULES: Final[tuple[Rule[rules.Seen], ...]] = rules_in(rules)
RULES: Final[dict[str, str]] = sentences(ALL_RULES)
"""What each rule checks, by its id."""


def media_faults(deployment: Deployment, tree: Mapping[str, str]) -> Iterator[Finding]:
    """Judge the recipe as it was rendered.

    Parameters
    ----------
    deployment
        What it was rendered from.
    tree
        The rendered files, text by path.

    Yields
    ------
    Finding
        What is wrong, rule by rule; the ids are those of `RULES`.
    """
    yield from findings(ALL_RULES, rules.seen_in(deployment, tree), "render again")
