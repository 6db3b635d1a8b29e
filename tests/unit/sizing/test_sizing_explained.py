"""Every number of a Plan has an explanation, and every explanation rests on something that is there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kvplan import Plan, Request, size
from kvplan.core.derivation import derivation_of, pattern_of, static_derivations
from kvplan.core.explanation import explain, number_paths, scalar_paths
from kvplan.core.paths import value_at

QUESTIONS: dict[str, Any] = {
    "busy_share": 0.7,
    "prompt_tokens": 100_500,
    "suffix_tokens": 500,
    "g2_bytes_per_gpu": 0.2e12,
    "reuse_gap_s": {"p50": 59.0, "p90": 282.0, "p99": 583.0},
}
"""Long documents asked about by random users, with a little memory beside each GPU."""
REQUESTS: tuple[dict[str, Any], ...] = (
    {"model": "openai/gpt-oss-120b", "context_tokens": 130_000, "gpus": 128},
    {"model": "Llama-3.1-8B-Instruct", "context_tokens": 2_000, "gpus": 64, "gpu": "l40s", "survive": "node+drive"},
    {"model": "deepseek-ai/DeepSeek-V3", "context_tokens": 128_000, "gpus": 64, "gpu": "h200"},
    {"model": "deepseek-ai/DeepSeek-V3.2", "context_tokens": 128_000, "gpus": 1_000, "software": "current"},
    {"model": "deepseek-ai/DeepSeek-V4-Flash", "context_tokens": 500_000, "gpus": 300, "gpu": "b300"},
    {"model": "Qwen/Qwen3.5-27B", "context_tokens": 200_000, "gpus": 3, "software": "current"},
    {"model": "Qwen3-Next-80B", "context_tokens": 32_000, "gpus": 70, "gpu": "gb200", "checkpoint_tokens": 8192},
    {"model": "google/gemma-3-27b-it", "context_tokens": 100_000, "gpus": 260, "gpu": "mi300x"},
    {"model": "Llama-4-Scout", "context_tokens": 1_000_000, "gpus": 6_000, "gpu": "h100"},
    {"model": "Llama-3.2-11B-Vision", "context_tokens": 100_000, "gpus": 16, "gpu": "a100-80gb", "nodes": 5},
    {"model": "granite-4.0-h-small", "context_tokens": 100_000, "gpus": 16, "nodes": 3, "cache_backend": "kvbm-disk"},
    {"model": "Kimi-K2.5", "context_tokens": 100_000, "gpus": 129, "erasure_code": "8+3P", "kv_dtype": "fp8"},
    {"model": "Llama-3.1-405B", "context_tokens": 100_000, "gpus": 512, "concurrency": 2, "oversubscription": 2.0},
    {"model": "openai/gpt-oss-120b", "context_tokens": 100_500, "gpus": 200, "gpu": "b200", "workload": QUESTIONS},
)


@pytest.fixture(scope="module", params=REQUESTS, ids=lambda asked: str(asked["model"]))
def plan(request: pytest.FixtureRequest) -> Plan:
    """Give the Plan of each request."""
    return size(Request.model_validate(request.param))


def numbers(plan: Plan) -> list[str]:
    return list(number_paths(plan.model_dump(mode="json")))


def test_every_number_is_explained(plan: Plan) -> None:
    unexplained = [path for path in numbers(plan) if derivation_of(path, plan.derivation) is None]
    assert unexplained == []
    assert len(numbers(plan)) > 300


def test_accountings_are_explained_by_their_own_sums(plan: Plan) -> None:
    for name in ("minimal", "vllm_gpu", "external_tier"):
        accounting = getattr(plan.kv.accounting, name)
        entry = derivation_of(f"kv.accounting.{name}.context_bytes", plan.derivation)
        assert entry is not None
        assert entry.formula == "; ".join(accounting.formula)


def test_the_loads_of_every_stage_follow_from_their_inputs(plan: Plan) -> None:
    for stage in plan.network.stages:
        for name, load in (("load", stage.load_bytes_per_s), ("write_load", stage.write_load_bytes_per_s)):
            (tree,) = explain(plan, f"network.stages[{stage.name}].{name}_bytes_per_s")
            demand, traffic = tree.inputs
            assert load == pytest.approx(demand.value * traffic.value)


def test_the_capacity_of_each_stage_rests_on_its_own_share() -> None:
    plan = size(Request.model_validate(REQUESTS[0]))
    shares = {}
    for stage in plan.network.stages:
        (tree,) = explain(plan, f"network.stages[{stage.name}].capacity_bytes_per_s")
        shares[stage.name] = [part.path.rpartition(".")[2] for part in tree.inputs[1:]]
    line, slot = ["line_share"], ["pcie_share"]
    assert shares == {
        "drives": [],
        "pcie to drives": slot,
        "storage nic": line,
        "client nic of the storage node": line,
        "leaf": line,
        "uplink": line,
        "client server nic": line,
        "gpu pcie": slot,
    }


def test_every_input_is_there(plan: Plan) -> None:
    data = plan.model_dump(mode="json")
    for key, entry in plan.derivation.items():
        for name in entry.inputs:
            if name.startswith("constants."):
                assert name.removeprefix("constants.") in plan.constants, key
            else:
                assert isinstance(value_at(data, name), (int, float)), key


def test_every_tree_ends(plan: Plan) -> None:
    trees = explain(plan, "")
    assert [tree.path for tree in trees] == numbers(plan)
    assert all(tree.formula and tree.unit and tree.confidence for tree in trees)


def test_explanations_survive_the_file(plan: Plan) -> None:
    assert explain(Plan.model_validate_json(plan.model_dump_json()), "buys") == explain(plan, "buys")


def test_no_explanation_is_idle() -> None:
    """Each explained field occurs in some Plan; one that never does explains nothing."""
    plans = [size(Request.model_validate(asked)) for asked in REQUESTS]
    seen = {pattern_of(path) for plan in plans for path in scalar_paths(plan.model_dump(mode="json"))}
    assert static_derivations(Plan).keys() <= seen


def test_sums_that_can_be_redone_from_the_inputs() -> None:
    data = json.loads(size(Request.model_validate(REQUESTS[0])).model_dump_json())

    def of(path: str) -> Any:
        return data["constants"][path[10:]]["value"] if path.startswith("constants.") else value_at(data, path)

    def product(*paths: str) -> float:
        result = 1.0
        for path in paths:
            result *= of(path)
        return result

    inputs = {key: entry["inputs"] for key, entry in data["derivation"].items()}
    for path in ("demand.read_bytes_per_s", "demand.capacity_bytes", "profile.raw_bytes"):
        assert of(path) == pytest.approx(product(*inputs[path]))
    tier, share, path_rate = (of(path) for path in inputs["buys.planned_read_bytes_per_s"])
    assert of("buys.planned_read_bytes_per_s") == pytest.approx(min(tier * share, path_rate))
    for path in ("profile.usable_fraction", "buys.hits_per_s", "buys.hits_per_s_per_gpu", "buys.load_s"):
        over, under = inputs[path]
        assert of(path) == pytest.approx(of(over) / of(under))
    for path in ("hbm.contexts_that_fit", "buys.contexts_held", "hbm.engines"):
        over, under = inputs[path]
        assert of(path) == of(over) // of(under)
    memory, share, weights, overhead = (of(path) for path in inputs["hbm.kv_bytes_per_gpu"])
    assert of("hbm.kv_bytes_per_gpu") == pytest.approx(memory * share - weights - overhead, abs=2)
