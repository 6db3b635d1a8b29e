"""What must hold of every sizing."""

from __future__ import annotations

from typing import get_args

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kvplan import NoProfileFitsError, Plan, Request, size
from kvplan.core.diff import differences
from kvplan.core.ece.tolerance import satisfies
from kvplan.core.paths import value_at
from kvplan.core.sizing.guidance import AXES
from kvplan.schema.request import Survive

MODELS = (
    "openai/gpt-oss-120b",
    "meta-llama/Llama-3.1-8B-Instruct",
    "meta-llama/Llama-3.3-70B-Instruct",
    "meta-llama/Llama-4-Scout-17B-16E-Instruct",
    "deepseek-ai/DeepSeek-V3",
    "deepseek-ai/DeepSeek-V4-Flash",
    "google/gemma-3-27b-it",
    "Qwen/Qwen3.5-27B",
)
GPUS = st.integers(1, 8_000)
CONTEXT = st.integers(1, 131_072)
MODEL = st.sampled_from(MODELS)
SOFTWARE = st.sampled_from(["reference", "current"])
REQUESTS = st.builds(
    Request,
    model=MODEL,
    context_tokens=CONTEXT,
    gpus=GPUS,
    gpu=st.sampled_from(["rtx-pro-6000", "h200", "l40s", "b300"]),
    software=SOFTWARE,
    concurrency=st.one_of(st.none(), st.integers(1, 200)),
)
FEW = settings(max_examples=40, deadline=None)
LARGER = [("compact-4", "standard-8"), ("standard-8", "large-16"), ("compact-4", "large-16")]


def sized(asked: Request) -> Plan:
    """Size a request, setting aside those that nothing fits."""
    try:
        return size(asked)
    except NoProfileFitsError:
        assume(condition=False)
        raise


@FEW
@given(REQUESTS, CONTEXT)
def test_more_context_never_takes_fewer_bytes(asked: Request, other: int) -> None:
    """For the same engines: a longer context may need more GPUs an engine and so leave fewer contexts in flight."""
    short, long = sorted((asked.context_tokens, other))
    pinned = asked.model_copy(update={"tp": 1})
    less, more = (sized(pinned.model_copy(update={"context_tokens": tokens})) for tokens in (short, long))
    for path in (
        "kv.context_stored_bytes",
        "kv.context_loaded_bytes",
        "kv.accounting.minimal.context_bytes",
        "kv.accounting.vllm_gpu.context_bytes",
        "demand.capacity_bytes",
        "profile.usable_bytes",
        "profile.nodes",
    ):
        assert value_at(more.model_dump(), path) >= value_at(less.model_dump(), path)
    assert more.hbm.contexts_that_fit <= less.hbm.contexts_that_fit
    assert more.demand.read_bytes_per_s == less.demand.read_bytes_per_s


@FEW
@given(REQUESTS, GPUS)
def test_more_gpus_never_take_fewer_nodes(asked: Request, other: int) -> None:
    few, many = sorted((asked.gpus, other))
    less, more = (sized(asked.model_copy(update={"gpus": gpus})) for gpus in (few, many))
    assert more.profile.nodes >= less.profile.nodes
    assert more.network.client_servers >= less.network.client_servers


@FEW
@given(REQUESTS, st.integers(2, 9))
def test_demand_scales_with_the_gpus(asked: Request, factor: int) -> None:
    one = asked.model_copy(update={"gpus": asked.gpus % 800 + 1, "tp": 1})
    small, large = sized(one), sized(one.model_copy(update={"gpus": one.gpus * factor}))
    assert large.demand.read_bytes_per_s == factor * small.demand.read_bytes_per_s
    assert large.demand.capacity_bytes == factor * small.demand.capacity_bytes
    assert abs(large.demand.write_bytes_per_s / (factor * small.demand.write_bytes_per_s) - 1) < 1e-12


@FEW
@given(REQUESTS)
def test_the_chosen_tier_holds_what_is_asked(asked: Request) -> None:
    plan = sized(asked)
    assert plan.profile.read_bytes_per_s >= plan.demand.read_bytes_per_s
    assert plan.profile.usable_bytes >= plan.demand.capacity_bytes
    assert [candidate.accepted for candidate in plan.candidates if candidate.chosen] == [True]
    assert not any(candidate.accepted for candidate in plan.candidates[: _chosen_at(plan)])


@FEW
@given(REQUESTS, st.sampled_from(get_args(Survive)))
def test_what_must_be_survived_is(asked: Request, survive: Survive) -> None:
    plan = sized(asked.model_copy(update={"survive": survive}))
    plain = sized(asked)
    assert satisfies(plan.profile.fault_tolerance, survive)
    assert plan.profile.nodes >= plain.profile.nodes
    if satisfies(plain.profile.fault_tolerance, survive):
        assert (plan.profile.nodes, plan.profile.erasure_code) == (plain.profile.nodes, plain.profile.erasure_code)


@FEW
@given(REQUESTS)
def test_one_node_fewer_would_not_do(asked: Request) -> None:
    """Where the large profile grew, it grew to the smallest count that reads and holds what is asked."""
    plan = sized(asked.model_copy(update={"gpus": asked.gpus % 5_000 + 600}))
    assume(plan.profile.nodes > 16)
    forced = {"gpus": plan.request.gpus, "profile": "large-16", "nodes": plan.profile.nodes - 1}
    fewer = size(asked.model_copy(update=forced))
    reads = fewer.profile.read_bytes_per_s >= plan.demand.read_bytes_per_s
    assert not (reads and fewer.profile.usable_bytes >= plan.demand.capacity_bytes)


@FEW
@given(REQUESTS, st.sampled_from(LARGER))
def test_a_larger_profile_holds_every_physical_limit_of_a_smaller(asked: Request, pair: tuple[str, str]) -> None:
    held = {candidate.name: _held(candidate.model_dump()) for candidate in sized(asked).candidates}
    smaller, larger = pair
    assert held[smaller] <= held[larger]


@FEW
@given(REQUESTS)
def test_a_plan_does_not_differ_from_itself(asked: Request) -> None:
    plan = sized(asked)
    assert differences(plan, size(asked)) == ()
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


@FEW
@given(REQUESTS, GPUS)
def test_another_fleet_is_a_difference(asked: Request, other: int) -> None:
    assume(other != asked.gpus)
    found = {item.path: item for item in differences(sized(asked), sized(asked.model_copy(update={"gpus": other})))}
    changed = found["request.gpus"]
    assert (changed.kind, changed.before, changed.after) == ("changed", asked.gpus, other)
    assert changed.relative == other / asked.gpus - 1
    assert "demand.read_bytes_per_s" in found


def _chosen_at(plan: Plan) -> int:
    """Return the position of the chosen candidate."""
    return next(index for index, candidate in enumerate(plan.candidates) if candidate.chosen)


def _held(candidate: dict[str, list[dict[str, object]]]) -> set[object]:
    """Name the limits that a candidate holds, those of the guidance left out."""
    limits = candidate["limits"]
    return {limit["name"] for limit in limits if limit["holds"] and limit["severity"] == "error"} - set(AXES)
