"""The Sites of `examples/reference` and `examples/compact`: complete, with made-up labels."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sites import NEW, OLD, site_data

from kvplan import Request, size
from kvplan.api import design
from kvplan.catalogue.loader import load_catalogue
from kvplan.core.seal import sealed
from kvplan.render.data import record_json
from kvplan.schema.build import BuildOptions
from kvplan.site.initial.data import initial_data
from kvplan.site.initial.text import site_text

if TYPE_CHECKING:
    from kvplan import Plan

EXAMPLES = Path(__file__).parents[1] / "examples"
REQUESTS: dict[str, dict[str, Any]] = {
    "reference": {"model": "openai/gpt-oss-120b", "context_tokens": 130_000, "gpus": 16, "profile": "standard-8"},
    "compact": {
        "model": "qwen3-32b",
        "context_tokens": 32_768,
        "gpus": 8,
        "profile": "compact-4",
        "software": "current",
    },
}
_VERSIONS: dict[str, dict[str, str]] = {
    "reference": {
        "dynamo": "0.9.0",
        "vllm": "0.14.1",
        "cuda": "12.9",
        "gpu_driver": "580.95.05",
        "doca": "3.1.0",
        "storage_scale": "6.0.0.1",
        "rhel": "9.6",
        "rhel_kernel": "5.14.0-570.12.1.el9_6",
        "ubuntu": "24.04",
        "ubuntu_kernel": "6.8.0-79-generic",
    },
    "compact": {
        "dynamo": "1.7.0",
        "vllm": "0.33.0",
        "cuda": "13.0",
        "gpu_driver": "580.95.05",
        "doca": "3.1.0",
        "storage_scale": "6.0.1.0",
        "rhel": "9.6",
        "rhel_kernel": "5.14.0-570.12.1.el9_6",
        "ubuntu": "24.04",
        "ubuntu_kernel": "6.8.0-79-generic",
    },
}
_IMAGES = {"reference": "vllm-runtime:0.9.0", "compact": "vllm-runtime:1.7.0"}
_MODELS = {"reference": "/models/gpt-oss-120b", "compact": "/models/qwen3-32b"}
_CUMULUS = {"reference": NEW, "compact": OLD}


@cache
def example_plan(name: str) -> Plan:
    """Size an example."""
    return size(Request.model_validate(REQUESTS[name]))


def plan_text(name: str) -> str:
    """Write the Plan of an example as `kvplan size -o` does."""
    return record_json(sealed(example_plan(name)))


def example_text(name: str) -> str:
    """Write the Site of an example: what `kvplan init site` begins, with every value filled in."""
    plan = example_plan(name)
    begun = initial_data(
        plan, design(plan, BuildOptions()), load_catalogue().software(plan.request.software), cumulus=_CUMULUS[name]
    )
    filled = site_data(plan, cumulus=_CUMULUS[name])
    versions = _VERSIONS[name]
    filled["name"] = name
    filled["versions"] = versions
    filled["storage"] = {"memory_gib": 512}
    filled["packages"] = {
        package: {**download, "version": versions[package.removesuffix("_ubuntu").removesuffix("_client")]}
        for package, download in filled["packages"].items()
    }
    filled["inference"]["engines"].update(image=_IMAGES[name], model_path=_MODELS[name])
    return site_text(_over(begun, filled))


def _over(begun: Any, filled: Any) -> Any:
    """Lay filled values over those that were begun, keeping the order."""
    if isinstance(begun, dict) and isinstance(filled, dict):
        joined = {key: _over(value, filled[key]) if key in filled else value for key, value in begun.items()}
        return {**joined, **{key: value for key, value in filled.items() if key not in begun}}
    if (
        isinstance(begun, list)
        and isinstance(filled, list)
        and begun
        and isinstance(begun[0], dict)
        and "name" in begun[0]
    ):
        named = {entry["name"]: entry for entry in filled}
        return [_over(entry, named.get(entry["name"], {})) for entry in begun]
    return filled
