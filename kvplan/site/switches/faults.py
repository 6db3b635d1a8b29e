"""Every rule about switches over a rendered tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.site.switches.reading import scene_of
from kvplan.site.switches.rules import links, ports, provisioning, qos, routing, shape, system

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.design import Finding
    from kvplan.site.deployment import Deployment
    from kvplan.site.switches.rules.finding import Rule

_ALL: Final[dict[str, tuple[str, Rule]]] = {
    **shape.RULES,
    **system.RULES,
    **ports.RULES,
    **links.RULES,
    **routing.RULES,
    **qos.RULES,
    **provisioning.RULES,
}
RULES: Final[dict[str, str]] = {rule_id: text for rule_id, (text, _) in _ALL.items()}
"""What each rule checks, by its id."""


def switch_faults(deployment: Deployment, tree: Mapping[str, str]) -> Iterator[Finding]:
    """Judge the rendered files of the switches.

    Parameters
    ----------
    deployment
        What was rendered.
    tree
        The text of each file of the tree by path.

    Yields
    ------
    Finding
        What is wrong, rule by rule.
    """
    scene = scene_of(deployment, tree)
    for _, rule in _ALL.values():
        yield from rule(scene)
