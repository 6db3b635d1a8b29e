"""What is wrong with the installers' files: each is read back and held against the Site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kvplan.site.install import autoinstall_rules, common_rules, kickstart_rules, tree_rules
from kvplan.site.rules import findings, rules_in, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.design import Finding
    from kvplan.site.deployment import Deployment
    from kvplan.site.rules import Rule

_TREE: Final = rules_in(tree_rules)
_KICKSTART: Final = rules_in(common_rules, kickstart_rules)
_AUTOINSTALL: Final = rules_in(common_rules, autoinstall_rules)
ALL_RULES: Final[tuple[Rule[Any], ...]] = rules_in(tree_rules, common_rules, kickstart_rules, autoinstall_rules)
RULES: Final[dict[str, str]] = sentences(ALL_RULES)
"""What each rule checks, by its id."""
_REMEDY: Final = "render the tree anew; what the file says is changed in the Site, never in the file"


def install_faults(deployment: Deployment, tree: Mapping[str, str]) -> Iterator[Finding]:
    """Find what is wrong with the installers' files.

    Parameters
    ----------
    deployment
        Plan, Site and design.
    tree
        The rendered files, path to text; others than the installers' are passed over.

    Yields
    ------
    Finding
        What was found, with an id of `RULES`: with the files together, then file by file.
    """
    rendered = tree_rules.Rendered(deployment, tree)
    yield from findings(_TREE, rendered, _REMEDY)
    for kickstart in rendered.kickstarts:
        yield from findings(_KICKSTART, kickstart, _REMEDY)
    for autoinstall in rendered.autoinstalls:
        yield from findings(_AUTOINSTALL, autoinstall, _REMEDY)
