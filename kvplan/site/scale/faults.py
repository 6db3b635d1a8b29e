"""What is wrong with the rendered files about Storage Scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.site.scale import rules_export, rules_nodes, rules_parameters, rules_policy, rules_steps
from kvplan.site.scale.rendered import Rendered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.design import Finding
    from kvplan.site.deployment import Deployment

_ALL: Final = (
    *rules_nodes.RULES,
    *rules_parameters.RULES,
    *rules_steps.RULES,
    *rules_policy.RULES,
    *rules_export.RULES,
)
RULES: Final[dict[str, str]] = {rule.id: rule.what for rule in _ALL}
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
    51
    """
    rendered = Rendered(deployment, tree)
    for rule in _ALL:
        yield from rule.findings(rendered)
