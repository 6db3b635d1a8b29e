"""Deployments of every cache back end in each line of releases, and faults planted in their rendered files."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from designs import plan_of
from sites import site_data

from kvplan.api import deployment
from kvplan.schema.site.site import Site
from kvplan.site.inference import inference_faults, inference_files
from kvplan.site.tree import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan import Plan
    from kvplan.schema.design import Finding
    from kvplan.site.deployment import Deployment

OLD, LAST_KVBM, NEW = "0.9.0", "1.6.1", "1.7.0"
VERSIONS: dict[str, dict[str, str]] = {
    OLD: {"dynamo": OLD, "vllm": "0.14.1", "cuda": "12.9"},
    LAST_KVBM: {"dynamo": LAST_KVBM, "vllm": "0.31.0", "cuda": "13.0"},
    NEW: {"dynamo": NEW, "vllm": "0.33.0", "cuda": "13.0"},
}
BACKENDS = ("vllm-fs", "llmd-fs", "lmcache-fs", "lmcache-gds", "kvbm-disk", "kvbm-g4")
REFUSED = {
    ("vllm-fs", OLD),
    ("llmd-fs", LAST_KVBM),
    ("llmd-fs", NEW),
    ("kvbm-disk", NEW),
    ("kvbm-g4", LAST_KVBM),
    ("kvbm-g4", NEW),
}
"""Pairs that do not go together."""
HOST, CONTROL = "hosts/gpu-0001/etc", "hosts/control-1/etc"
UNIT, ENV = f"{HOST}/systemd/system/kv-engine-0.service", f"{HOST}/kv/engine-0.env"


def deployed(plan: Plan, dynamo: str, **engines: Any) -> Deployment:
    """Bring a Plan together with a Site of that release, whose engines have other fields."""
    data = site_data(plan)
    data["versions"] |= VERSIONS[dynamo]
    data["inference"]["engines"] |= {"image": f"vllm-runtime:{dynamo}", **engines}
    return deployment(plan, Site.model_validate(data))


@cache
def case(backend: str = "kvbm-g4", dynamo: str = OLD, nodes: int = 8, **engines: Any) -> Deployment:
    """Return the deployment of a back end in a release; changes of the request have the prefix `plan_`."""
    software = "reference" if dynamo == OLD else "current"
    request = {name.removeprefix("plan_"): engines.pop(name) for name in list(engines) if name.startswith("plan_")}
    plan = plan_of(nodes, cache_backend=backend, software=software, **request)
    return deployed(plan, dynamo, **engines)


def rendered(deployed_: Deployment) -> dict[str, str]:
    """Render the files of the part alone, path by path."""
    return {path: file.text for path, file in tree_of(inference_files(deployed_)).items()}


def faults(deployed_: Deployment, tree: dict[str, str] | None = None) -> list[Finding]:
    """Check a tree, or the one that is rendered."""
    return list(inference_faults(deployed_, rendered(deployed_) if tree is None else tree))


def ids(findings: Iterable[Finding], *, but: tuple[str, ...] = ("029",)) -> set[str]:
    """Return the numbers of the rules that found something, without those that are meant to."""
    return {finding.id.removeprefix("KV-INF-") for finding in findings} - set(but)


def planted(deployed_: Deployment, path: str, old: str, new: str) -> set[str]:
    """Replace a text in a rendered file, and return the numbers of the rules that notice."""
    tree = rendered(deployed_)
    assert old in tree[path], f"{path} has no {old!r} to plant a fault in"
    return ids(faults(deployed_, {**tree, path: tree[path].replace(old, new)}))
