"""The six questions before buying, and a reference case of each verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from workload_cases import BURST, H200, LLAMA_A100, preset

from kvplan import load_catalogue
from kvplan.core.prediction.advice import AdviceRules, Situation, advise, busy_without, gpus_saved
from kvplan.core.prediction.payoff import break_even_tokens
from kvplan.core.prediction.prefill import cold_seconds, suffix_seconds
from kvplan.core.prediction.warm import EngineCost, warm_seconds
from kvplan.core.sizing.workload import Served, shape
from kvplan.core.sizing.workload_demand import sustained_requests, workload_load

if TYPE_CHECKING:
    from kvplan.schema.advice import Advice
    from kvplan.schema.workload import Workload

LLMD = EngineCost(0.125, 2.31e-6, 0.0, 0)
STREAM = 50e9


def rules() -> AdviceRules:
    """Take the thresholds from the catalogue."""
    names = ("worthwhile_speedup", "gpus_saved_per_node", "marginal_share")
    return AdviceRules(*(load_catalogue().constant(f"workload.{name}").value for name in names))


def situation(workload: Workload, gpus: int, model: Served, *, nodes: int, planned: float) -> Situation:
    """Put the numbers of a workload together as a Plan does."""
    load, request = workload_load(workload, gpus, model, BURST), shape(workload)
    fetch = request.hit_tokens * model.loaded_bytes_per_token / (STREAM * model.gpus_per_engine)
    suffix = suffix_seconds(model.prefill, request.suffix_at_tokens, request.new_tokens)
    sustained, alone = sustained_requests(load, gpus / model.gpus_per_engine, planned)
    return Situation(
        hit_share=load.hit_share,
        cold_s=cold_seconds(model.prefill, request.tokens),
        hit_s=warm_seconds(LLMD, request.tokens, fetch, suffix),
        target_s=2.0,
        prompt_tokens=request.tokens,
        break_even_tokens=break_even_tokens(
            model.prefill,
            LLMD,
            model.loaded_bytes_per_token,
            STREAM * model.gpus_per_engine,
            request.new_tokens,
        ),
        gpus_saved=gpus_saved(load, model.gpus_per_engine, planned),
        storage_nodes=nodes,
        busy_without=busy_without(load, model.gpus_per_engine, gpus),
        requests_per_s=load.requests_per_s,
        sustained_per_s=sustained,
        recompute_per_s=alone,
        read_bytes_per_s=load.read_bytes_per_s,
        path_bytes_per_s=planned,
    )


def answers(advice: Advice) -> dict[str, str]:
    """Return the answers by question."""
    return {answer.id: answer.answer for answer in advice.answers}


def test_worth_it_agents_that_come_back_on_128_h200() -> None:
    agent = preset("agent", busy_share=0.5)
    advice = advise(situation(agent, 128, H200, nodes=8, planned=0.7 * 315e9), rules())
    assert advice.verdict == "worth it"
    assert set(answers(advice).values()) == {"no"}
    assert advice.deciding == ()


def test_marginal_questions_about_documents_that_outrun_the_tier() -> None:
    docqa = preset("docqa")
    advice = advise(situation(docqa, 256, H200, nodes=16, planned=0.7 * 630e9), rules())
    assert advice.verdict == "marginal"
    assert [answer.id for answer in advice.deciding] == ["network"]
    assert advice.answers[-1].text == "hits read 1.16 TB/s; the network lets 441 GB/s through as planned"


def test_not_worth_it_short_chat_on_a_few_gpus_that_answer_at_once() -> None:
    chat = preset("chat", requests_per_s=4.0)
    advice = advise(situation(chat, 8, H200, nodes=4, planned=0.7 * 157e9), rules())
    assert advice.verdict == "not worth it"
    assert [answer.id for answer in advice.deciding] == ["reuse", "fleet", "latency", "recompute"]
    assert answers(advice)["context"] == "partly"


BASE = Situation(
    hit_share=0.9,
    cold_s=10.0,
    hit_s=0.5,
    target_s=2.0,
    prompt_tokens=60_000,
    break_even_tokens=4_000,
    gpus_saved=40,
    storage_nodes=8,
    busy_without=1.5,
    requests_per_s=50,
    sustained_per_s=120,
    recompute_per_s=40,
    read_bytes_per_s=100e9,
    path_bytes_per_s=220e9,
)


@pytest.mark.parametrize(
    ("question", "answer", "changes"),
    [
        ("reuse", "no", {"hit_share": 0.36}),
        ("reuse", "partly", {"hit_share": 0.34}),
        ("reuse", "yes", {"hit_share": 0.1}),
        ("context", "no", {"prompt_tokens": 4_000}),
        ("context", "partly", {"prompt_tokens": 2_500}),
        ("context", "yes", {"prompt_tokens": 1_500}),
        ("context", "yes", {"break_even_tokens": None}),
        ("fleet", "partly", {"gpus_saved": 5}),
        ("fleet", "yes", {"gpus_saved": 3}),
        ("latency", "yes", {"cold_s": 1.9, "busy_without": 0.8}),
        ("latency", "no", {"cold_s": 1.9, "busy_without": 1.2}),
        ("latency", "partly", {"hit_s": 2.5}),
        ("recompute", "no", {"sustained_per_s": 60, "recompute_per_s": 90, "requests_per_s": 50}),
        ("recompute", "partly", {"sustained_per_s": 77, "recompute_per_s": 93, "requests_per_s": 100}),
        ("recompute", "yes", {"hit_s": 10.0}),
        ("network", "partly", {"path_bytes_per_s": 90e9}),
    ],
)
def test_each_question_turns_at_its_own_numbers(question: str, answer: str, changes: dict[str, Any]) -> None:
    advice = advise(replace(BASE, **changes), rules())
    assert answers(advice)[question] == answer
    assert answers(advise(BASE, rules()))[question] == "no"
    verdicts = {"no": "worth it", "partly": "marginal", "yes": "not worth it"}
    gravest = max(answers(advice).values(), key=list(verdicts).index)
    assert advice.verdict == verdicts[gravest]


def test_what_local_tiers_save_is_not_the_shared_tiers_merit() -> None:
    shared, local = preset("agent", g4_share=1.0), preset("agent")
    saved = [gpus_saved(workload_load(workload, 256, H200, BURST), 1, 1e13) for workload in (shared, local)]
    assert saved[1] == pytest.approx(0.1 * saved[0])


def test_engines_of_several_gpus_save_several() -> None:
    chat = preset("chat", requests_per_s=10.0)
    load = workload_load(chat, 128, LLAMA_A100, BURST)
    assert gpus_saved(load, 4, 1e12) == pytest.approx(40 * (load.cold_gpu_s - load.gpu_s))
    assert busy_without(load, 4, 128) == pytest.approx(10 * 4 * load.cold_gpu_s / 128)


def test_a_tier_saves_no_more_than_it_can_read() -> None:
    load = workload_load(preset("docqa"), 256, H200, BURST)
    whole = gpus_saved(load, 1, load.read_bytes_per_s)
    assert gpus_saved(load, 1, load.read_bytes_per_s / 4) == pytest.approx(whole / 4)
    assert gpus_saved(load, 1, 10 * load.read_bytes_per_s) == whole
    nothing = workload_load(preset("docqa", g4_share=0.0), 256, H200, BURST)
    assert gpus_saved(nothing, 1, 441e9) == 0
