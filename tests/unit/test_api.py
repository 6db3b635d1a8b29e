"""The public functions, as a program calls them."""

from __future__ import annotations

import inspect
import time
from typing import TYPE_CHECKING

import pytest

import kvplan
from kvplan import InputError, Plan, Request, load_catalogue
from kvplan.api import ece_report, kv_report, size
from kvplan.schema.reports import EceReport, EceRequest, KvReport, KvRequest

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = """\
name: tiny-3
title: Three nodes
nodes: {start: 3, limit: 3}
erasure_code: 4+2P
block_mib: 4
node:
  server: ASG-1115S-NE316R
  drive: micron-e3s-7.68
  drives: 16
  client_nic: b3220
  storage_nic: cx7-400g
switch: sn5600
guidance:
  gpus: {high: 16}
  params: {high: 34.0e+9}
  read_bytes_per_s: {}
  source: a test
  confidence: assumed
"""
REFERENCE_TIER = EceRequest(
    nodes=8, drives_per_node=16, drive_bytes=7_680_000_000_000, erasure_code="8+2P", block_mib=4
)


def test_the_package_offers_what_it_names() -> None:
    for name in kvplan.__all__:
        assert getattr(kvplan, name) is not None
    assert kvplan.size is size
    assert not hasattr(kvplan, "sizes")
    with pytest.raises(AttributeError, match="nonesuch"):
        kvplan.__getattr__("nonesuch")


def test_public_functions_are_typed_and_documented() -> None:
    for function in (size, kv_report, ece_report):
        signature = inspect.signature(function)
        assert signature.return_annotation is not inspect.Signature.empty
        assert all(item.annotation is not inspect.Parameter.empty for item in signature.parameters.values())
        assert function.__doc__
        assert "Examples" in function.__doc__


def test_size_gives_a_plan() -> None:
    plan = size(Request(model="openai/gpt-oss-120b", context_tokens=130_000, gpus=128))
    assert isinstance(plan, Plan)
    assert plan.kvplan_version == kvplan.__version__


def test_size_takes_a_catalogue() -> None:
    asked = Request(model="openai/gpt-oss-120b", context_tokens=130_000, gpus=128)
    assert size(asked, catalogue=load_catalogue()) == size(asked)


def test_size_takes_profiles_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "tiny-3.yaml").write_text(PROFILE)
    asked = Request(model="meta-llama/Llama-3.1-8B-Instruct", context_tokens=8_000, gpus=8)
    assert size(asked, profile_dirs=(tmp_path,)).profile.name == "tiny-3"
    assert size(asked).profile.name == "compact-4"
    more = asked.model_copy(update={"gpus": 17})
    assert size(more, profile_dirs=(tmp_path,)).profile.name == "compact-4"


def test_kv_report_counts_alone() -> None:
    report = kv_report(KvRequest(model="openai/gpt-oss-120b", context_tokens=130_000))
    assert isinstance(report, KvReport)
    assert report.accounting.external_tier.context_bytes == 130_000 * 73_728


def test_ece_report_is_the_geometry_of_the_plan() -> None:
    report = ece_report(REFERENCE_TIER)
    tier = size(Request(model="openai/gpt-oss-120b", context_tokens=130_000, gpus=128)).profile
    assert isinstance(report, EceReport)
    assert report.raw_bytes == tier.raw_bytes == 983_040_000_000_000
    assert report.usable_bytes == tier.usable_bytes
    assert report.fault_tolerance == tier.fault_tolerance
    assert report.rebuild.drive_s == pytest.approx(tier.rebuild.drive_s)


@pytest.mark.parametrize("wrong", [{"erasure_code": "9+9P"}, {"release": "5.9.9.9"}])
def test_ece_report_refuses_what_it_does_not_know(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        ece_report(REFERENCE_TIER.model_copy(update=wrong))


def test_a_sweep_is_quick() -> None:
    # 10,000 sizings are to take less than 10 s on an idle machine; five times that is a regression.
    models = ("openai/gpt-oss-120b", "deepseek-ai/DeepSeek-V3", "Qwen/Qwen3.5-27B", "google/gemma-3-27b-it")
    asked = [
        Request(model=model, context_tokens=context, gpus=gpus)
        for model in models
        for context in (8_000, 64_000)
        for gpus in (8, 64, 300, 1_000)
    ]
    for request in asked[::8]:
        size(request)
    started = time.process_time()
    for request in asked:
        size(request)
    assert (time.process_time() - started) / len(asked) < 5e-3
