"""`kvplan size` with a workload: what it asks, whether the tier is worth it, and what is wrong with what was given."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from generated_traces import generated_trace

from kvplan.__main__ import main
from kvplan.schema.workload_load import NodeNeed

if TYPE_CHECKING:
    from pathlib import Path

SIZE = ["size", "--model", "gpt-oss-120b", "--context", "128k", "--gpu"]


def sized(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Size and return the Plan."""
    assert main([*SIZE, *arguments, "--format", "json"]) == 0
    plan: dict[str, Any] = json.loads(capsys.readouterr().out)
    return plan


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Size what cannot be sized, and return what is said."""
    assert main([*SIZE, *arguments]) == 3
    return capsys.readouterr().err


def test_agents_on_256_h200_need_more_than_eight_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    plan = sized(capsys, "h200", "--gpus", "256", "--workload", "agent")
    needs = {row["limit"]: NodeNeed.model_validate(row) for row in plan["workload"]["needs"]}
    assert plan["request"]["basis"] == "workload"
    assert needs["read"].need == pytest.approx(268e9, rel=0.03)
    assert needs["read"].nodes == 13
    assert (plan["profile"]["name"], plan["profile"]["nodes"]) == ("large-16", 16)
    assert "standard-8 with 8 nodes" in plan["workload"]["guidance"]
    assert plan["workload"]["advice"]["verdict"] == "worth it"


def test_long_documents_outgrow_what_was_published_and_are_told_what_helps(capsys: pytest.CaptureFixture[str]) -> None:
    plan = sized(capsys, "b200", "--gpus", "200", "--workload", "docqa")
    (warning,) = [found for found in plan["warnings"] if found["id"] == "beyond-published"]
    assert plan["profile"]["nodes"] == 41
    assert warning["text"].startswith("16 nodes are not enough for this workload, 41 are chosen")
    assert plan["workload"]["largest_relief"]["suffices"] is False
    assert plan["workload"]["largest_relief"]["g4_share_needed"] == pytest.approx(0.08, abs=0.01)


def test_a_small_fleet_is_told_not_to_buy(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SIZE, "h200", "--gpus", "8", "--workload", "chat"]) == 0
    assert "not worth it for workload chat" in capsys.readouterr().out


def test_single_numbers_replace_those_of_the_workload(capsys: pytest.CaptureFixture[str]) -> None:
    plan = sized(
        capsys, "h200", "--gpus", "64", "--workload", "rag", "--with", "requests_per_s=5", "--with", "hit_share=0.9"
    )
    given = plan["workload"]["given"]
    assert (given["requests_per_s"], given["hit_share"], given["busy_share"]) == (5, 0.9, None)


def test_a_trace_gives_rate_lengths_and_reuse(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text("".join(f"{json.dumps(row)}\n" for row in generated_trace(400)))
    assert main(["trace", str(trace), "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    plan = sized(capsys, "h200", "--gpus", "64", "--trace", str(trace), "--fleet-scale", "3")
    given = plan["workload"]["given"]
    assert given["requests_per_s"] == pytest.approx(3 * report["requests_per_s"])
    assert given["hit_share"] == pytest.approx(report["infinite_token_hit_ratio"])
    assert given["prompt_tokens"]["p90"] == report["input_tokens"]["p90"]


def test_everything_wrong_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    said = refused(capsys, "h200", "--gpus", "8", "--workload", "agent", "--with", "hit_shar=1", "--with", "routing")
    assert "--with: 'hit_shar' is not known" in said
    assert "hit_share'?" in said
    assert "--with: 'routing' is no number of a workload" in said
    assert "did you mean 'agent'?" in refused(capsys, "h200", "--gpus", "8", "--workload", "agnt")
    both = ("--workload", "agent", "--trace", str(tmp_path / "t.jsonl"))
    assert "both say what the fleet serves" in refused(capsys, "h200", "--gpus", "8", *both)
    busy = ("--workload", "agent", "--with", "requests_per_s=500")
    assert "158 GPUs or more" in refused(capsys, "h200", "--gpus", "4", *busy)


def test_other_back_ends_stand_beside_the_tier(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SIZE, "h200", "--gpus", "64", "--compare-backends"]) == 0
    said = capsys.readouterr().out
    assert "ceph-6-2" in said
    assert "not known" in said
    assert {row["id"] for row in sized(capsys, "h200", "--gpus", "64", "--compare-backends")["backends"]} >= {
        "lustre",
        "daos",
    }
