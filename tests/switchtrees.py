"""Rendered files of switches: read back as plain data, and changed as a fault would."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml
from sites import NEW, OLD, deployment_of

from kvplan.site.switches.files import switch_files
from kvplan.site.yaml_out import yaml_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvplan.site.deployment import Deployment

CASES = [(8, NEW), (4, OLD)]
"""Nodes and version of the designs that are looked at in either dialect."""


def texts(deployed: Deployment) -> dict[str, str]:
    """Render the files of the switches."""
    return {file.path: file.text for file in switch_files(deployed)}


def with_able_receivers(deployed: Deployment) -> Deployment:
    """Return the deployment with adapters that adaptive routing works with, which the reference ones do not."""
    findings = tuple(each for each in deployed.design.findings if each.id != "adaptive-routing-receivers")
    return replace(deployed, design=deployed.design.model_copy(update={"findings": findings}))


@cache
def texts_of(nodes: int, cumulus: str) -> dict[str, str]:
    """Render the files of the switches of so many nodes."""
    return texts(deployment_of(nodes, cumulus))


def loaded(text: str) -> Any:
    """Read a file as YAML 1.1 has it."""
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506


def parsed(text: str) -> Any:
    """Read what is set in a configuration."""
    return loaded(text)[1]["set"]


def changed(tree: dict[str, str], switch: str, change: Callable[[Any], object]) -> dict[str, str]:
    """Return the tree with one configuration changed."""
    path = f"switches/{switch}.yaml"
    header, content = loaded(tree[path])
    inside = content["set"]
    change(inside)
    return {**tree, path: yaml_text([header, {"set": inside}])}


def edited(tree: dict[str, str], path: str, old: str, new: str) -> dict[str, str]:
    """Return the tree with one text replaced in one file."""
    assert old in tree[path], f"{old!r} is not in {path}"
    return {**tree, path: tree[path].replace(old, new)}
