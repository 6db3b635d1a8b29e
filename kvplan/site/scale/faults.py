"""What is wrong with the rendered files about Storage Scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.site.rules import findings, rules_in, sentences
from kvplan.site.scale import rules_export, rules_nodes, rules_parameters, rules_policy, rules_steps
from kvplan.site.scale.rendered import Rendered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.design import Finding
    from kvplan.site.deployment import Deployment
    from kvplan.site.rules import Rule

ALL_RULES: Final[tuple[Rule[Rendered], ...]] = rules_in(
    rules_export, rules_nodes, rules_parameters, rules_policy, rules_steps
)
RULES: Final[dict[str, str]] = sentences(ALL_RULES)
"""What each rule checks, by id."""


def scale_faults(deployment: Deployment, tree: Mapping[str, str]) -> Iterator[Finding]:
    """Judge the rendered files, which are read back without the generator.

    Parameters
    ----------
    deployment
        Plan, design and Site together.
    tree
        The whole rendered tree: text by path.

    Yields
    ------
    Finding
        Every break of a rule, in the order of the rules.

    Examples
    --------
    >>> len(RULES)
    53
    """
    yield from findings(ALL_RULES, Rendered(deployment, tree), "render the tree again")
