"""What people see: every verb's screens, help and data, compared with golden files; no line is wider than asked for."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from support import LLAMA_8B

import kvplan
from kvplan.__main__ import main
from kvplan.render.data import record_json
from kvplan.schema.plan import Plan
from kvplan.schema.request import Request
from kvplan.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Golden = Callable[[str, str], None]
    Run = Callable[..., str]

REFERENCE = "size --model openai/gpt-oss-120b --context 130k --gpus 128"
CONFIG = "size --model ./config.json --context 64Ki --gpus 64 --gpu h200 --tp 2 --cache-backend vllm-fs"
KV = "kv --model gpt-oss-120b --context 130k"
ECE = "ece --nodes 8 --drives-per-node 16 --drive-tb 7.68 --code 8+2P --block-mib 4"

TABLES = {
    "size-reference": REFERENCE,
    "size-config": CONFIG,
    "size-current": f"{REFERENCE} --software current",
    "size-mla": "size --model deepseek-r1 --context 128Ki --gpus 8 --gpu h200",
    "size-hybrid": "size --model qwen3.5-27b --context 128Ki --gpus 64 --cache-backend vllm-fs",
    "size-survive": f"{REFERENCE} --survive node+drive",
    "size-forced": f"{REFERENCE} --profile compact-4 --nodes 6 --code 8+3P",
    "size-one-gpu": "size --model llama-3.1-8b --context 8k --gpus 1 --concurrency 1",
    "size-fleet": "size --model llama-3.3-70b-instruct --context 32k --gpus 1000 --gpu h100 --kv-dtype fp8",
    "kv": KV,
    "kv-gpu": f"{KV} --concurrency 28 --gpu rtx-pro-6000",
    "kv-log": "kv --model gpt-oss-120b --context 131072 --vllm-version 0.19.1 --available-gib 5.38",
    "kv-too-little": "kv --model gpt-oss-120b --context 131072 --vllm-version 0.19.1 --available-gib 1",
    "kv-mla": "kv --model deepseek-r1 --context 128Ki --tp 8 --cache-backend lmcache-fs",
    "kv-hybrid": "kv --model qwen3.5-27b --context 128Ki --cache-backend vllm-fs --checkpoint-tokens 4096",
    "ece": ECE,
    "ece-large": "ece --nodes 40 --drives-per-node 24 --drive-tb 30.72 --code 16+3P --write-gb-per-s 100",
    "ece-broken": "ece --nodes 2 --drives-per-node 4 --drive-tb 7.68 --code 16+3P --block-mib 3",
    "diff": "diff reference.json survive.json",
    "diff-equal": "diff reference.json reference.json --exit-code",
    "explain-usable": "explain reference.json profile.usable_bytes",
    "explain-stored": "explain reference.json kv.context_stored_bytes",
    "explain-stage": "explain reference.json 'network.stages[client nic of the storage node].utilisation'",
    "explain-section": "explain reference.json demand",
    "catalogue": "catalogue list",
    "catalogue-switches": "catalogue list switches",
    "catalogue-gpu": "catalogue show gpus h100",
    "catalogue-model": "catalogue show models gpt-oss-120b",
    "catalogue-nic": "catalogue show nics b3220",
    "catalogue-release": "catalogue show releases 6.0.1.0",
    "catalogue-constant": "catalogue show constants network.planning_factor",
    "catalogue-backends": "catalogue backends",
    "catalogue-verify": "catalogue verify",
}
OTHER_FORMATS = {
    "size-reference.md": f"{REFERENCE} --format md",
    "size-reference.csv": f"{REFERENCE} --format csv",
    "size-reference.yaml": f"{REFERENCE} --format yaml",
    "kv.md": f"{KV} --format md",
    "kv.csv": f"{KV} --format csv",
    "ece.md": f"{ECE} --format md",
    "ece.csv": f"{ECE} --format csv",
    "explain.md": "explain reference.json profile.nodes --format md",
    "explain.csv": "explain reference.json profile.nodes --format csv",
    "diff.csv": "diff reference.json survive.json --format csv",
    "catalogue-backends.md": "catalogue backends --format md",
    "catalogue-releases.csv": "catalogue list releases --format csv",
}
JSON = {
    "explain": "explain reference.json demand",
    "diff": "diff reference.json survive.json",
    "catalogue list": "catalogue list",
    "catalogue list gpus": "catalogue list gpus",
    "catalogue show": "catalogue show models gpt-oss-120b",
    "catalogue verify": "catalogue verify",
    "catalogue backends": "catalogue backends",
    "size": REFERENCE,
    "kv": KV,
    "ece": ECE,
}
VERBS = (
    *("", "size", "kv", "ece", "network", "bom", "report", "explain", "diff", "catalogue"),
    *("catalogue list", "catalogue show", "catalogue verify", "catalogue backends", "catalogue add"),
)


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    """Give the files that commands read: the reference Plan, one that survives more, and a configuration."""
    asked = {"model": "openai/gpt-oss-120b", "context_tokens": 130_000, "gpus": 128}
    requests = {"reference.json": asked, "survive.json": {**asked, "survive": "node+drive"}}
    plans = {name: record_json(kvplan.size(Request.model_validate(values))) for name, values in requests.items()}
    return {**plans, "config.json": json.dumps(LLAMA_8B)}


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]
) -> Run:
    """Run a command in a directory that holds the files; give stdout with what changes from day to day named."""
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    def succeed(command: str, *, code: int = 0) -> str:
        assert main(shlex.split(command)) == code, command
        out, err = capsys.readouterr()
        assert err == ""
        return lasting(out)

    return succeed


def lasting(text: str) -> str:
    """Name what changes with every edit of the catalogue and every release."""
    text = re.sub(r"\b[0-9a-f]{64}\b", "<sha256>", text)
    text = re.sub(r"(?<=\()[0-9a-f]{12}(?=\))", "<sha256>", text)
    text = re.sub(r"\b20\d\d\.\d\d\.\d\d\b", "<date>", text)
    return (
        text.replace(f"kvplan {VERSION}", "kvplan <version>")
        .replace(f'"kvplan_version": "{VERSION}"', '"kvplan_version": "<version>"')
        .replace(f"kvplan_version: {VERSION}", "kvplan_version: <version>")
    )


def too_wide(text: str, width: int) -> list[str]:
    """Name the lines that are wider."""
    return [line for line in text.splitlines() if len(line) > width]


@pytest.mark.parametrize("name", TABLES)
def test_tables(run: Run, golden: Golden, name: str) -> None:
    screen = run(TABLES[name])
    golden(f"tables/{name}.txt", screen)
    assert too_wide(screen, 80) == []
    assert "\x1b" not in screen
    assert [line for line in screen.splitlines() if line != line.rstrip()] == []


@pytest.mark.parametrize("name", OTHER_FORMATS)
def test_other_formats(run: Run, golden: Golden, name: str) -> None:
    golden(f"cli/{name}", run(OTHER_FORMATS[name]))


@pytest.mark.parametrize("verb", VERBS)
def test_help(run: Run, golden: Golden, verb: str) -> None:
    text = run(f"{verb} --help")
    golden(f"cli/help{'-' if verb else ''}{verb.replace(' ', '-')}.txt", text)
    assert too_wide(text, 80) == []
    assert run(f"{verb} -h") == text


@pytest.mark.parametrize(("name", "command"), [("reference", REFERENCE), ("config", CONFIG)])
def test_plans(run: Run, golden: Golden, name: str, command: str, tmp_path: Path) -> None:
    text = run(f"{command} --format json -o plan.json")
    golden(f"plans/{name}.json", text)
    assert text == lasting((tmp_path / "plan.json").read_text())
    assert Plan.model_validate_json(text)


@pytest.mark.parametrize("name", JSON)
def test_json_is_versioned_and_yaml_says_the_same(run: Run, name: str) -> None:
    data = json.loads(run(f"{JSON[name]} --format json"))
    assert data["format_version"] == "1.2"
    assert yaml.safe_load(run(f"{JSON[name]} --format yaml")) == data


def test_csv_is_a_table(run: Run) -> None:
    rows = list(csv.reader(io.StringIO(run(f"{REFERENCE} --format csv"))))
    assert rows[0] == ["field", "value", "unit", "formula", "source"]
    assert {len(row) for row in rows} == {5}
    values = {row[0]: (row[1], row[2]) for row in rows}
    assert values["profile.read_bytes_per_s"] == ("315000000000.0", "B/s")


def test_nothing_fits(
    golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    cases = (
        f"{REFERENCE} --survive 3-nodes --code 8+2P -o plan.json",
        "size --model llama-3.1-8b --context 128Ki --gpus 500000 -o plan.json",
        f"{REFERENCE} --nodes 2 --format json -o plan.json",
    )
    seen = []
    for command in cases:
        assert main(shlex.split(command)) == 4
        out, err = capsys.readouterr()
        assert out == ""
        seen.append(f"$ kvplan {command}\n{err}")
    assert list(tmp_path.iterdir()) == []
    golden("errors/no-profile-fits.txt", "\n".join(seen))


def test_plans_that_differ_return_5_only_when_asked(run: Run) -> None:
    assert run("diff reference.json survive.json") == run("diff reference.json survive.json --exit-code", code=5)
    assert run("diff reference.json reference.json --exit-code", code=0)


@pytest.mark.parametrize("name", ["size-reference", "kv-gpu", "ece", "diff", "explain-usable", "catalogue-backends"])
def test_a_narrow_terminal_is_respected(run: Run, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    assert too_wide(run(TABLES[name]), 50) == []


def test_saving_says_where_and_prints_the_table_all_the_same(run: Run) -> None:
    assert run(f"{REFERENCE} -o plan.json").endswith("  next: kvplan explain, network, bom or report plan.json\n")


def test_the_version(run: Run) -> None:
    assert run("--version") == "kvplan <version>\n"


def test_equal_requests_give_equal_bytes(run: Run, tmp_path: Path) -> None:
    for name in ("a", "b"):
        run(f"{CONFIG} -o {name}.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_what_was_understood_is_echoed(run: Run) -> None:
    def asked(context: str) -> Any:
        return json.loads(run(f"size --model gpt-oss-120b --context {context} --gpus 128 --format json"))["request"]

    assert {asked(context)["context_tokens"] for context in ("128Ki", "131072", "131_072", "131,072")} == {131_072}
    assert asked("0.1M")["context_tokens"] == 100_000
    assert asked("130k")["model"] == "openai/gpt-oss-120b"
