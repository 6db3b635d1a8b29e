"""The Plan as a document: versioned, frozen, equal bytes for equal requests."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from kvplan import Plan, Request, load_catalogue, size
from kvplan.schema.plan import FORMAT_VERSION

REQUESTS: tuple[dict[str, Any], ...] = (
    {"model": "openai/gpt-oss-120b", "context_tokens": 130_000, "gpus": 128},
    {"model": "deepseek-ai/DeepSeek-V3", "context_tokens": 64_000, "gpus": 1_000, "gpu": "h200", "survive": "2-nodes"},
    {"model": "Qwen/Qwen3.5-27B", "context_tokens": 100_000, "gpus": 8, "software": "current", "nodes": 6},
)
PRINT_PLANS = """
import sys
from kvplan import Request, size
for text in sys.argv[1:]:
    print(size(Request.model_validate_json(text)).model_dump_json())
"""


@pytest.fixture(params=REQUESTS, ids=lambda asked: str(asked["model"]))
def asked(request: pytest.FixtureRequest) -> Request:
    """Give each request."""
    return Request.model_validate(request.param)


@pytest.fixture
def plan() -> Plan:
    """Give the reference Plan."""
    return size(Request.model_validate(REQUESTS[0]))


def test_equal_requests_give_equal_bytes(asked: Request) -> None:
    assert size(asked).model_dump_json() == size(asked.model_copy()).model_dump_json()


def test_a_fresh_process_gives_the_same_bytes() -> None:
    asked = [Request.model_validate(request) for request in REQUESTS]
    result = subprocess.run(
        [sys.executable, "-c", PRINT_PLANS, *(request.model_dump_json() for request in asked)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "4711"},
    )
    assert result.stdout.splitlines() == [size(request).model_dump_json() for request in asked]


def test_a_plan_comes_back_from_its_text(asked: Request) -> None:
    plan = size(asked)
    text = plan.model_dump_json()
    again = Plan.model_validate_json(text)
    assert again == plan
    assert again.model_dump_json() == text
    assert Plan.model_validate(json.loads(text)) == plan


def test_the_text_is_plain_json(asked: Request) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    json.loads(size(asked).model_dump_json(), parse_constant=refuse)


def test_format_version_comes_first(plan: Plan) -> None:
    assert next(iter(plan.model_dump())) == "format_version"
    assert plan.format_version == FORMAT_VERSION


def test_a_document_of_another_shape_has_another_version() -> None:
    page = (Path(__file__).parents[3] / "docs" / "plan-format.md").read_text(encoding="utf-8")
    fields = re.findall(r"^\| (`[^`]+` \| [^|]+) \|", page, re.MULTILINE)
    known = {"1.2": "3f4499d495053aa6"}
    digest = hashlib.sha256("\n".join(fields).encode()).hexdigest()[:16]
    assert known.get(FORMAT_VERSION) == digest, "raise FORMAT_VERSION with the shape, and write its digest down here"


def test_exactly_one_candidate_is_chosen_and_it_is_the_profile(asked: Request) -> None:
    plan = size(asked)
    (chosen,) = (candidate for candidate in plan.candidates if candidate.chosen)
    assert (chosen.nodes, chosen.erasure_code) == (plan.profile.nodes, plan.profile.erasure_code)
    assert chosen.name.startswith(plan.profile.name)


def test_candidates_stand_from_small_to_large(asked: Request) -> None:
    nodes = [candidate.nodes for candidate in size(asked).candidates]
    assert nodes == sorted(nodes)


def test_the_first_that_is_accepted_is_chosen_unless_forced() -> None:
    for request in REQUESTS[:2]:
        plan = size(Request.model_validate(request))
        accepted = next(candidate for candidate in plan.candidates if candidate.accepted)
        assert accepted.chosen


def test_margins(asked: Request) -> None:
    for candidate in size(asked).candidates:
        for limit in candidate.limits:
            assert limit.holds == (limit.have >= limit.need)
            if limit.margin is None:
                assert not limit.need or limit.need == limit.have or limit.unit == "yes/no"
            else:
                assert limit.margin == pytest.approx(limit.have / limit.need - 1)


def test_the_catalogue_is_locked(plan: Plan) -> None:
    catalogue = load_catalogue()
    assert plan.catalogue.version == catalogue.version
    assert plan.catalogue.sha256 == catalogue.sha256
    assert len(bytes.fromhex(plan.catalogue.sha256)) == 32
    assert plan.catalogue.user_tables == ()


def test_constants_go_with_the_plan(plan: Plan) -> None:
    assert plan.constants == load_catalogue().constants()
    rate = plan.constants["guidance.read_bytes_per_s_per_gpu"]
    assert rate.value == pytest.approx(300e9 / 256)
    assert rate.unit == "B/s"
    assert all(constant.source and constant.unit for constant in plan.constants.values())


def test_a_plan_is_frozen(plan: Plan) -> None:
    for record, name, value in ((plan.profile, "nodes", 9), (plan, "reason", "because")):
        with pytest.raises(ValidationError):
            setattr(record, name, value)


def test_a_plan_with_an_unknown_key_is_refused(plan: Plan) -> None:
    data = plan.model_dump()
    with pytest.raises(ValidationError):
        Plan.model_validate({**data, "price": 1})
    with pytest.raises(ValidationError):
        Plan.model_validate({**data, "request": {**data["request"], "colour": "blue"}})


@pytest.mark.parametrize(
    "wrong",
    [
        {"gpus": 0},
        {"gpus": -1},
        {"gpus": 1_000_001},
        {"context_tokens": 0},
        {"model": ""},
        {"tp": 0},
        {"kv_dtype": "fp7"},
        {"software": "next"},
        {"cache_backend": "redis"},
        {"survive": "4-nodes"},
        {"gpu_memory_utilisation": float("nan")},
        {"gpu_memory_utilisation": 1.01},
        {"oversubscription": 0.5},
        {"concurrency": 0},
        {"colour": "blue"},
    ],
)
def test_absurd_requests_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Request.model_validate({**REQUESTS[0], **wrong})
