"""`kvplan kv` and `kvplan ece` as programs read them: JSON fields, and published figures through the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kvplan.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., Any]

ECE = ("ece", "--nodes", "8", "--drives-per-node", "16", "--drive-tb", "7.68", "--code", "8+2P", "--block-mib", "4")
ACCOUNTINGS = {"minimal": "minimal", "vllm_gpu": "vllm-gpu", "external_tier": "external-tier"}

LOGS = {
    "alvarobartt/hf-mem#60": ("gpt-oss-120b", 131_072, "5.38", "0.19.1", (), 78_384, 0.001),
    "vllm-project/vllm#10517 (20k)": ("meta-llama/Llama-3.1-8B-Instruct", 20_000, "3.81", "0.6.4", (), 31_232, 0.00103),
    "vllm-project/vllm#10517 (29k)": ("meta-llama/Llama-3.1-8B-Instruct", 29_000, "2.89", "0.6.4", (), 23_648, 0.001),
    "alvarobartt/hf-mem#61": ("gemma-4-31b", 262_144, "24.54", "0.19.1", (), 26_800, 0.001),
    "redhat-performance/configiq#112 (gemma-4-31b-it)": (
        *("google/gemma-4-31B", 262_144, "64.68", "0.24.0", (), 626_949, 0.001),
    ),
    "noonghunna/club-3090#652": (
        *("qwen3.6-35b-a3b", 131_072, "6.01", "0.24.0", ("--kv-dtype", "fp8"), 569_878, 0.001),
    ),
    "vllm-project/vllm#21348": (*("qwen3-235b-a22b", 40_960, "8.11", "0.10.0", ("--tp", "4"), 178_880, 0.012),),
}
"""Model, longest request, available GiB, version, further options, tokens printed, largest relative error: `forward`
rows of `vllm_log_rows.yaml`, named by the issue that shows the log."""

QWEN_14B = {
    "model_type": "qwen2",
    "num_hidden_layers": 48,
    "hidden_size": 5120,
    "intermediate_size": 13824,
    "num_attention_heads": 40,
    "num_key_value_heads": 8,
    "vocab_size": 152064,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
}
"""As deepseek-ai/DeepSeek-R1-Distill-Qwen-14B publishes it."""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a verb and read the JSON that it prints."""
    monkeypatch.chdir(tmp_path)

    def data(*arguments: object) -> Any:
        code = main([*map(str, arguments), "--format", "json"])
        out, err = capsys.readouterr()
        assert (code, err) == (0, "")
        return json.loads(out)

    return data


@pytest.mark.parametrize("source", LOGS)
def test_logged_tokens(run: Run, source: str) -> None:
    model, length, gib, version, further, tokens, within = LOGS[source]
    report = run(
        *("kv", "--model", model, "--context", length, "--available-gib", gib, "--vllm-version", version), *further
    )
    assert report["vllm_log"]["tokens"] == pytest.approx(tokens, rel=within)
    assert report["vllm_log"]["max_model_len"] == length
    assert report["vllm_log"]["max_concurrency"] > 0


def test_a_log_of_a_model_given_as_a_file(run: Run, tmp_path: Path) -> None:
    """vllm-project/vllm#13061 logs 81,536 tokens and 8.69 GiB of the worker that had more: an upper bound."""
    (tmp_path / "config.json").write_text(json.dumps(QWEN_14B))
    setup = ("--tp", 2, "--vllm-version", "0.7.3", "--available-gib", "8.69")
    log = run("kv", "--model", "./config.json", "--context", 131_072, *setup)["vllm_log"]
    assert 1 < log["tokens"] / 81_536 < 1.165


def test_the_longest_request_need_not_be_the_context(run: Run) -> None:
    log = run(
        *("kv", "--model", "gpt-oss-120b", "--context", "10k"), "--available-gib", 5.38, "--max-model-len", "128Ki"
    )
    assert log["vllm_log"]["max_model_len"] == 131_072
    assert log["context_tokens"] == 10_000


def test_the_three_accountings_have_their_fields(run: Run) -> None:
    """IBM Redbook MD260021 stores 73,728 B a token of gpt-oss-120b; the architecture needs half of that."""
    report = run("kv", "--model", "gpt-oss-120b", "--context", "130k")
    accounting = report["accounting"]
    assert {name: accounting[name]["name"] for name in ACCOUNTINGS} == ACCOUNTINGS
    assert {name: accounting[name]["bytes_per_token"] for name in ACCOUNTINGS} == {
        "minimal": 36_864,
        "vllm_gpu": 73_728,
        "external_tier": 73_728,
    }
    assert accounting["minimal"]["fixed_bytes"] == 18 * 8 * 128 * 2 * 128
    assert accounting["minimal"]["context_bytes"] == 36_864 * 130_000 + accounting["minimal"]["fixed_bytes"]
    assert accounting["external_tier"]["context_bytes"] == 73_728 * 130_000
    assert report["vllm_log"] is None
    assert report["hbm"] is None
    assert report["format_version"] == "1.2"


def test_a_gpu_says_what_fits(run: Run) -> None:
    report = run("kv", "--model", "gpt-oss-120b", "--context", "130k", "--concurrency", 28, "--gpu", "rtx-pro-6000")
    hbm = report["hbm"]
    assert hbm["needs_shared_tier"] is True
    assert hbm["contexts_that_fit"] == hbm["kv_bytes_per_gpu"] // (73_728 * 130_000) == 2
    assert report["volume_bytes"] == 28 * 73_728 * 130_000


def test_a_context_beyond_the_maximum_on_insistence(run: Run) -> None:
    asked = ("kv", "--model", "gpt-oss-120b", "--context", "1M", "--beyond-max")
    assert run(*asked)["context_tokens"] == 1_000_000


def test_the_geometry_has_its_fields(run: Run) -> None:
    """IBM's estimator: 8 nodes of 16 x 7.68 TB under 8+2P hold 744 TB; 16 partitions spare, two strips a node."""
    report = run(*ECE)
    assert report["raw_bytes"] == 8 * 16 * 7_680_000_000_000
    assert report["usable_bytes"] == pytest.approx(744.46e12, rel=1e-3)
    assert report["code_efficiency"] == pytest.approx(0.8)
    assert report["usable_fraction"] == pytest.approx(report["usable_bytes"] / report["raw_bytes"])
    tolerance = report["fault_tolerance"]
    assert (tolerance["node_failures"], tolerance["further_device_failures"]) == (1, 0)
    assert (report["recovery_groups"], report["spare_pdisks"]) == (1, 4)
    assert {"name", "need", "have", "unit", "margin", "holds"} <= set(report["limits"][0])
    assert report["format_version"] == "1.2"


def test_options_of_the_geometry_arrive(run: Run) -> None:
    base = run(*ECE)
    more_spares, half, slower = (
        run(*ECE, *more) for more in (("--spares", 8), ("--set-size", 50), ("--nic-gbits", 100))
    )
    assert more_spares["spare_pdisks"] == 8
    assert more_spares["usable_bytes"] < base["usable_bytes"]
    assert half["usable_bytes"] == pytest.approx(base["usable_bytes"] / 2, rel=0.01)
    assert slower["rebuild"]["node_s"] > base["rebuild"]["node_s"]
    worn = run(*ECE, "--write-gb-per-s", 10, "--dwpd", 3)["endurance"]
    assert worn["rated_drive_writes_per_day"] == 3
    assert worn["demanded_drive_writes_per_day"] == pytest.approx(
        10e9 / base["endurance"]["allowed_write_bytes_per_s"], rel=1e-6
    )
