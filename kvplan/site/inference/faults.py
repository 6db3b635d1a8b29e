"""All rules over the rendered files of engines and services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.site.inference import rules_engines, rules_hosts, rules_services
from kvplan.site.inference.reading import Rendered
from kvplan.site.rules import findings, rules_in, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.design import Finding
    from kvplan.site.deployment import Deployment
    from kvplan.site.rules import Rule

ALL_RULES: Final[tuple[Rule[Rendered], ...]] = rules_in(rules_engines, rules_hosts, rules_services)
RULES: Final[dict[str, str]] = sentences(ALL_RULES)
"""What each rule checks, by its id."""
_REMEDY: Final = "Render the tree again; where the Site was meant to differ, change it there."


def inference_faults(deployment: Deployment, tree: Mapping[str, str]) -> Iterator[Finding]:
    """Check the rendered files of engines and services.

    Parameters
    ----------
    deployment
        Plan and Site.
    tree
        Text of every rendered file by path.

    Yields
    ------
    Finding
        What is wrong, rule by rule.
    """
    yield from findings(ALL_RULES, Rendered(deployment, tree), _REMEDY)
