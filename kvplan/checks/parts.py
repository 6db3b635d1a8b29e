"""The rules that each part of the tree has of its own, as checks: one adapter for all parts."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context
    from kvplan.inputs.loc import Loc
    from kvplan.schema.design import Finding
    from kvplan.site.rules import Rule


class Part(NamedTuple):
    """A part: its package, the function that judges it, the folder of its files, and whose manuals it follows."""

    package: str
    judge: str
    folder: str
    source: str


PARTS: Final = (
    Part("install", "install_faults", "install", "Red Hat Enterprise Linux 9 and Ubuntu 24.04 installer references"),
    Part("media", "media_faults", "media", "UEFI and El Torito specifications; DMTF Redfish virtual media"),
    Part("switches", "switch_faults", "switches", "NVIDIA Cumulus Linux documentation, NVUE object model"),
    Part("hostnet", "host_faults", "hosts", "NVIDIA DOCA and FRRouting documentation; NetworkManager and netplan"),
    Part("scale", "scale_faults", "scale", "IBM Storage Scale Erasure Code Edition documentation"),
    Part("inference", "inference_faults", "inference", "NVIDIA Dynamo and vLLM documentation"),
)
_VERSIONS: Final = "versions"
"""Stands among the judged parts for the table of compatibility."""


def part_checks() -> Iterator[Check]:
    """Yield a check for every rule of every part.

    Yields
    ------
    Check
        Compatibility of versions first, then in the order of `PARTS` and of each part's rules.
    """
    for rule_id, title in _named("inference", "VERSION_RULES").items():
        yield _version_check(rule_id, title)
    for part in PARTS:
        for rule in _named(part.package, "ALL_RULES"):
            yield _tree_check(part, rule)


def _named(package: str, name: str) -> Any:
    """Return what a part calls by a name; it is loaded when it is asked for."""
    return getattr(import_module(f"kvplan.site.{package}"), name)


def _version_check(rule_id: str, title: str) -> Check:
    """Make the check of one pair of products."""
    return Check(
        id=rule_id,
        severity="error",
        title=_sentence(title),
        why="Versions that were never seen together fail late: at the first mount, or at the first block that is read.",
        expected=_sentence(title),
        remedy="choose a version that fits",
        manual="kvplan catalogue list compatibility",
        source="the catalogue's table of compatibility, with the source of each row",
        run=partial(_judge_versions, rule_id),
    )


def _tree_check(part: Part, rule: Rule[Any]) -> Check:
    """Make the check of one rule over rendered files."""
    return Check(
        id=rule.id,
        severity=rule.severity,
        title=_sentence(rule.what),
        why=f"The rendered files below `{part.folder}/` are read back, apart from what wrote them, and judged.",
        expected=_sentence(rule.what),
        remedy="what the finding says; then `kvplan render` again",
        manual=f"kvplan render plan.json site.yaml -o build/ && ls -R build/{part.folder}",
        source=part.source,
        run=partial(_judge_tree, part, rule.id),
        needs="tree",
    )


def _sentence(title: str) -> str:
    """Write a title as all are written: with a capital, without a full stop."""
    return f"{title[:1].upper()}{title[1:].rstrip('.')}"


def _judge_versions(rule_id: str, context: Context) -> Iterator[Found]:
    """Pass on what is found under one pair of products, with its place in the Site."""
    judge, rows = _named("inference", "compatibility_faults"), context.deployment.compatibility
    for finding in context.judged(_VERSIONS, lambda: judge(context.site, rows)):
        if finding.id == rule_id:
            yield _passed_on(finding, _place(context, finding.where))


def _judge_tree(part: Part, rule_id: str, context: Context) -> Iterator[Found]:
    """Pass on what a part finds under one rule."""
    judge = _named(part.package, part.judge)
    for finding in context.judged(part.package, lambda: judge(context.deployment, context.tree)):
        if finding.id == rule_id:
            yield _passed_on(finding, None)


def _passed_on(finding: Finding, loc: Loc | None) -> Found:
    """Turn a finding into what a check finds."""
    return Found(finding.where, finding.text, loc, severity=finding.severity, remedy=finding.remedy)


def _place(context: Context, where: str) -> Loc | None:
    """Return the path in the Site that a finding names by its fields, or by switches of one release."""
    path = tuple(where.split("."))
    if path[0] in type(context.site).model_fields:
        return path
    names = [switch.name for switch in context.site.switches]
    first = where.partition(",")[0]
    return ("switches", names.index(first), "cumulus") if first in names else None
