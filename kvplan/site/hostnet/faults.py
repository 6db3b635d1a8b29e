"""All rules over the files of hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.site.hostnet import rules_common, rules_ports, rules_roce, rules_routing, rules_sites
from kvplan.site.hostnet.view import Hosts
from kvplan.site.rules import findings, rules_in, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.design import Finding
    from kvplan.site.deployment import Deployment
    from kvplan.site.rules import Rule

ALL_RULES: Final[tuple[Rule[Hosts], ...]] = rules_in(rules_common, rules_ports, rules_roce, rules_routing, rules_sites)
RULES: Final[dict[str, str]] = sentences(ALL_RULES)
"""What each rule checks, by its id."""
_REMEDY: Final = "Render the tree again; what should differ is changed in the Site, not in this file."


def host_faults(deployment: Deployment, tree: Mapping[str, str]) -> Iterator[Finding]:
    """Check the rendered files of hosts, read back, against design, Site and catalogue.

    Parameters
    ----------
    deployment
        The deployment.
    tree
        The rendered tree, texts by path.

    Yields
    ------
    Finding
        What breaks a rule of `RULES`, rule by rule.
    """
    yield from findings(ALL_RULES, Hosts(deployment, tree), _REMEDY)
