"""Every rule about switches over a rendered tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.site.rules import findings, rules_in, sentences
from kvplan.site.switches.reading import scene_of
from kvplan.site.switches.rules import links, ports, provisioning, qos, routing, shape, system

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.design import Finding
    from kvplan.site.deployment import Deployment
    from kvplan.site.rules import Rule
    from kvplan.site.switches.reading import Scene

ALL_RULES: Final[tuple[Rule[Scene], ...]] = rules_in(links, ports, provisioning, qos, routing, shape, system)
RULES: Final[dict[str, str]] = sentences(ALL_RULES)
"""What each rule checks, by its id."""
_REMEDY: Final = "render the tree again, and change Site or Plan instead of the file"


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
    yield from findings(ALL_RULES, scene_of(deployment, tree), _REMEDY)
