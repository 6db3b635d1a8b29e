"""Rendered trees of Storage Scale that several tests look at: clients afar and joined, with and without eviction."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from designs import plan_of
from sites import deployment_of, deployment_with, site_of

from kvplan.api import deployment
from kvplan.site.scale import scale_faults, scale_files
from kvplan.site.tree import tree_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.schema.design import Finding
    from kvplan.site.deployment import Deployment


@cache
def deployment_named(name: str) -> Deployment:
    """Return `reference` (8 nodes, no eviction), `compact` (4, eviction), `joined` (8, one cluster) or `large` (64)."""
    match name:
        case "reference":
            return deployment_of(8)
        case "large":
            return deployment_of(64)
        case "joined":
            return deployment_with(8, storage={"clients": "same-cluster", "access_times": True})
    plan = plan_of(4, cache_backend="vllm-fs", software="current")
    return deployment(plan, site_of(plan))


def files_of(held: Deployment) -> dict[str, str]:
    """Return the text of each file by path."""
    return {path: file.text for path, file in tree_of(scale_files(held)).items()}


@cache
def tree_named(name: str) -> Mapping[str, str]:
    """Return the files of a deployment by its name."""
    return files_of(deployment_named(name))


def faults(held: Deployment, tree: Mapping[str, str]) -> list[Finding]:
    """Judge a tree."""
    return list(scale_faults(held, tree))


def broken(name: str, path: str, old: str, new: str, count: int = -1) -> list[Finding]:
    """Put a fault in a file of a tree and return what is found; the text must be there."""
    tree = tree_named(name)
    assert old in tree[path], f"{old!r} is not in {path}"
    return faults(deployment_named(name), {**tree, path: tree[path].replace(old, new, count)})
