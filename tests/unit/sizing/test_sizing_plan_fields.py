"""The fields that others build on, with types and units, for the two example requests of the quote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support import LLAMA_8B

from kvplan import Request, size

if TYPE_CHECKING:
    from pathlib import Path

ACCOUNTINGS = ("minimal", "vllm_gpu", "external_tier")
INTEGERS = (
    "request.context_tokens",
    "request.gpus",
    *(f"kv.accounting.{name}.fixed_bytes" for name in ACCOUNTINGS),
    *(f"kv.accounting.{name}.context_bytes" for name in ACCOUNTINGS),
    "kv.context_stored_bytes",
    "kv.context_loaded_bytes",
    "hbm.kv_bytes_per_gpu",
    "hbm.contexts_that_fit",
    "profile.nodes",
    "profile.raw_bytes",
    "profile.usable_bytes",
    "profile.recovery_groups",
    "profile.block_bytes",
    "profile.spare_pdisks",
    "profile.fault_tolerance.node_failures",
    "profile.fault_tolerance.further_device_failures",
    "demand.capacity_bytes",
    "network.leaf_switches",
    "network.spine_switches",
    "network.uplinks_per_leaf",
)
FLOATS = (
    *(f"kv.accounting.{name}.bytes_per_token" for name in ACCOUNTINGS),
    "kv.stored_bytes_per_token",
    "kv.loaded_bytes_per_token",
    "profile.code_efficiency",
    "profile.usable_fraction",
    "profile.read_bytes_per_s",
    "profile.write_bytes_per_s",
    "demand.read_bytes_per_s",
    "demand.write_bytes_per_s",
    "network.oversubscription",
)
TEXTS = (
    "request.model",
    "request.basis",
    "request.cache_backend",
    "request.kv_dtype",
    "profile.name",
    "profile.erasure_code",
    "network.binding_stage",
    *(f"network.degraded.{lost}.binding_stage" for lost in ("drive", "node", "leaf")),
    "catalogue.version",
    "catalogue.sha256",
)
BOOLEANS = ("hbm.needs_shared_tier", "profile.fault_tolerance.ibm_recommended")
LISTS = ("profile.fault_tolerance.alternatives", "candidates", "network.stages", "warnings", "open_points")
CANDIDATE = {"name": str, "nodes": int, "erasure_code": str, "accepted": bool, "chosen": bool, "limits": list}
LIMIT = {"name": str, "need": float, "have": float, "unit": str, "holds": bool}
STAGE = ("capacity_bytes_per_s", "planned_bytes_per_s", "load_bytes_per_s", "utilisation")
STAGES = [
    "drives",
    "pcie to drives",
    "storage nic",
    "client nic of the storage node",
    "leaf",
    "uplink",
    "client server nic",
    "gpu pcie",
]


@pytest.fixture(params=["reference", "config file"])
def plan(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """Give the Plan of each example as it is read from JSON."""
    return reference_plan() if request.param == "reference" else config_plan(tmp_path)


def reference_plan() -> dict[str, Any]:
    asked = Request(model="openai/gpt-oss-120b", context_tokens=130_000, gpus=128)
    data: dict[str, Any] = json.loads(size(asked).model_dump_json())
    return data


def config_plan(directory: Path) -> dict[str, Any]:
    path = directory / "config.json"
    path.write_text(json.dumps(LLAMA_8B))
    asked = Request(model=str(path), context_tokens=64 * 1024, gpus=64, gpu="h200", tp=2, cache_backend="vllm-fs")
    data: dict[str, Any] = json.loads(size(asked).model_dump_json())
    return data


def at(data: Any, path: str) -> Any:
    for key in path.split("."):
        data = data[key]
    return data


def test_types(plan: dict[str, Any]) -> None:
    for paths, kind in ((INTEGERS, int), (FLOATS, float), (TEXTS, str), (BOOLEANS, bool), (LISTS, list)):
        for path in paths:
            assert type(at(plan, path)) is kind, path


def test_candidates(plan: dict[str, Any]) -> None:
    assert sum(item["chosen"] for item in plan["candidates"]) == 1
    for item in plan["candidates"]:
        assert {key: type(item[key]) for key in CANDIDATE} == CANDIDATE
        for limit in item["limits"]:
            assert {key: type(limit[key]) for key in LIMIT} == LIMIT
            if limit["margin"] is None:
                assert limit["need"] in (0, limit["have"]) or limit["unit"] == "yes/no"
            else:
                assert limit["margin"] == pytest.approx(limit["have"] / limit["need"] - 1)


def test_stages(plan: dict[str, Any]) -> None:
    stages = plan["network"]["stages"]
    assert [stage["name"] for stage in stages] == STAGES
    for stage in stages:
        assert all(type(stage[key]) is float for key in STAGE)
        assert stage["planned_bytes_per_s"] <= stage["capacity_bytes_per_s"]
        used = max(
            stage["load_bytes_per_s"] / stage["planned_bytes_per_s"],
            stage["write_load_bytes_per_s"] / (stage["planned_write_bytes_per_s"] or stage["planned_bytes_per_s"]),
        )
        assert stage["utilisation"] == pytest.approx(used)
    assert plan["network"]["binding_stage"] in STAGES


def test_alternatives_warnings_and_open_points(plan: dict[str, Any]) -> None:
    for item in plan["profile"]["fault_tolerance"]["alternatives"]:
        assert {"erasure_code", "nodes", "node_failures", "further_device_failures", "text"} <= item.keys()
    for item in plan["warnings"]:
        assert item.keys() == {"id", "severity", "text", "source"}
    for item in plan["open_points"]:
        assert item.keys() == {"id", "text", "source"}


def test_derivations(plan: dict[str, Any]) -> None:
    assert isinstance(plan["derivation"], dict)
    for entry in plan["derivation"].values():
        assert {"formula", "unit", "inputs", "source", "confidence"} == entry.keys()
        assert entry["formula"]
        assert entry["unit"]


def test_the_sections_agree_with_each_other(plan: dict[str, Any]) -> None:
    tier = plan["profile"]
    chosen = next(item for item in plan["candidates"] if item["chosen"])
    assert (chosen["nodes"], chosen["erasure_code"], chosen["usable_bytes"], chosen["read_bytes_per_s"]) == (
        tier["nodes"],
        tier["erasure_code"],
        tier["usable_bytes"],
        tier["read_bytes_per_s"],
    )
    assert tier["raw_bytes"] == tier["nodes"] * tier["drives_per_node"] * tier["drive_bytes"]
    assert tier["usable_fraction"] == pytest.approx(tier["usable_bytes"] / tier["raw_bytes"])
    assert plan["network"]["read_bytes_per_s"] == pytest.approx(tier["read_bytes_per_s"])
    external = plan["kv"]["accounting"]["external_tier"]
    assert plan["kv"]["stored_bytes_per_token"] == external["bytes_per_token"]
    assert plan["kv"]["context_stored_bytes"] == external["context_bytes"]
    assert plan["request"]["basis"] == "redbook"


def test_the_config_file_example(tmp_path: Path) -> None:
    # 32 layers x 8 KV heads x (128 + 128) x 2 B = 131,072 B a token, as published for Llama 3.1 8B, 8.03B parameters.
    plan = config_plan(tmp_path)
    assert plan["request"]["gpu"] == "h200"
    assert (plan["request"]["tp"], plan["request"]["cache_backend"], plan["request"]["chunk_tokens"]) == (
        2,
        "vllm-fs",
        256,
    )
    assert plan["model"]["params_total"] == pytest.approx(8.03e9, rel=0.001)
    assert at(plan, "kv.accounting.minimal.bytes_per_token") == 131_072
    assert at(plan, "kv.accounting.vllm_gpu.bytes_per_token") == 65_536
    assert at(plan, "kv.accounting.external_tier.bytes_per_token") == 131_072
    assert at(plan, "kv.context_stored_bytes") == 65_536 * 131_072
    assert at(plan, "demand.capacity_bytes") == 32 * 7 * 65_536 * 131_072
    assert at(plan, "demand.read_bytes_per_s") == pytest.approx(75e9)
    assert (plan["profile"]["name"], plan["profile"]["erasure_code"]) == ("compact-4", "4+2P")


def test_no_file_path_leaks_into_the_plan(tmp_path: Path) -> None:
    assert str(tmp_path) not in json.dumps(config_plan(tmp_path))
