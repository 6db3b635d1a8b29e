"""Options that are wrong: what a person reads, the exit code, nothing on stdout and no file."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from kvplan.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SIZE = "size --model gpt-oss-120b --context 130k --gpus 128"
KV = "kv --model gpt-oss-120b --context 130k"
ECE = "ece --nodes 8 --drives-per-node 16 --drive-tb 7.68 --code 8+2P"
ADD = "catalogue add --to tables --id acme/m1 --source card --group full,layers=2,kv_heads=1,key_dim=64,value_dim=64"

USAGE = {
    "unknown verb, close": "sise --model x",
    "unknown verb": "frobnicate",
    "unknown option, close": f"{SIZE} --profil large-16",
    "unknown option": f"{SIZE} --frobnicate",
    "missing option": "size --context 130k --gpus 128",
    "option without a value": "size --model gpt-oss-120b --context 130k --gpus",
    "flag with a value": f"{SIZE} --beyond-max=maybe",
    "argument too many": f"{SIZE} 64",
    "missing argument": "diff a.json",
    "unknown sub-verb": "catalogue remove models x",
    "add: neither configuration nor groups": "catalogue add --to tables --id acme/m1 --source card",
    "add: both": f"{ADD} --config config.json",
    "add: nowhere to": "catalogue add --id acme/m1 --source card --group none,layers=1",
}
OPTIONS = {
    "a word for a number": f"{SIZE} --tp two",
    "negative": "size --model gpt-oss-120b --context 130k --gpus -5",
    "zero": "size --model gpt-oss-120b --context 0 --gpus 0",
    "fraction": "size --model gpt-oss-120b --context 130k --gpus 12.5",
    "NaN": f"{SIZE} --gpu-memory-utilisation nan --oversubscription NaN",
    "infinite": f"{SIZE} --gpu-memory-utilisation inf --oversubscription -inf",
    "exponent beyond every float": f"{SIZE} --oversubscription 1e400",
    "10^20 as digits": "size --model gpt-oss-120b --context 130k --gpus 100000000000000000000",
    "beyond the limit": "size --model gpt-oss-120b --context 2G --gpus 2M",
    "unit that is none": "size --model gpt-oss-120b --context 130kB --gpus 128",
    "decimal comma": "size --model gpt-oss-120b --context 1,5M --gpus 128",
    "empty texts": "size --model '' --context '' --gpus ''",
    "blank model": "size --model ' ' --context 130k --gpus 128",
    "model, close": "size --model openai/gpt-os-120b --context 130k --gpus 128",
    "model, nothing alike": "size --model zzzz --context 130k --gpus 128",
    "model, several": "size --model qwen3 --context 32k --gpus 8",
    "GPU, close": f"{SIZE} --gpu h10O",
    "KV dtype, close": f"{SIZE} --kv-dtype bf8",
    "back end, close": f"{SIZE} --cache-backend vlm-fs",
    "software set, close": f"{SIZE} --software curent",
    "profile, close": f"{SIZE} --profile standart-8",
    "survive": f"{SIZE} --survive 4-nodes",
    "code, form": f"{SIZE} --code 8+2",
    "code, unknown": f"{SIZE} --code 5+1P",
    "format, close": f"{SIZE} --format jsn",
    "format, empty": f"{SIZE} --format ''",
    "share out of range": f"{SIZE} --gpu-memory-utilisation 1.5",
    "context beyond the model's": "size --model gpt-oss-120b --context 1M --gpus 128",
    "more GPUs an engine than there are": f"{SIZE} --tp 256",
    "active above total": f"{SIZE} --params 7B --active-params 8B",
    "parameters that are none": f"{SIZE} --params 70X --active-params B",
    "no such catalogue nor profiles": f"{SIZE} --catalogue nowhere --profiles elsewhere",
    "everything at once": "size --model zzzz --context 1.5 --gpus -1 --tp 0 --gpu h10O --kv-dtype fp9 "
    "--oversubscription 99 --format pdf",
    "names at once": "size --model zzzz --context 1k --gpus 8 --gpu h10O --profile standart-8",
    "save into a missing directory": f"{SIZE} -o missing/plan.json",
    "save onto a directory": f"{SIZE} -o folder",
    "kv: version that is none": f"{KV} --available-gib 5 --vllm-version newest",
    "kv: negative memory": f"{KV} --available-gib -3",
    "kv: several": f"{KV} --concurrency 0 --max-model-len x --available-gib 1e30 --format html",
    "kv: GPU that does not exist": f"{KV} --gpu b9000",
    "ece: code": "ece --nodes 8 --drives-per-node 16 --drive-tb 7.68 --code 8+4P",
    "ece: several": "ece --nodes 0 --drives-per-node x --drive-tb 0 --code 8+2P --block-mib 32 --spares -1",
    "ece: NaN": "ece --nodes 8 --drives-per-node 16 --drive-tb nan --code 8+2P --dwpd inf --write-gb-per-s -1",
    "ece: petabyte drives": "ece --nodes 8 --drives-per-node 16 --drive-tb 1e20 --code 8+2P",
    "ece: release": f"{ECE} --release 9.9",
    "catalogue: table, close": "catalogue list model",
    "catalogue: table": "catalogue show prices gpt-oss-120b",
    "catalogue: row, close": "catalogue show gpus h10O",
    "catalogue: format": "catalogue backends --format xlsx",
    "add: kind, close": "catalogue add --to tables --id acme/m1 --source card --group ful,layers=2",
    "add: fields": "catalogue add --to tables --id acme/m1 --source card --group full,layers=-2,kv_head=1,key_dim=x",
    "add: no form": "catalogue add --to tables --id acme/m1 --source card --group layers",
    "add: several": f"{ADD} --params many --confidence sure --max-position -1",
    "add: no name, no source": "catalogue add --to tables --group none,layers=1",
    "add: missing configuration": "catalogue add --to tables --config config.jsn",
}


@pytest.fixture
def transcript(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[dict[str, str], int], str]:
    """Run commands that must fail with a code in an empty directory, and write down what a person sees."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()

    def fail(case: str, command: str, code: int) -> str:
        assert main(shlex.split(command)) == code, case
        out, err = capsys.readouterr()
        assert out == "", case
        assert "Traceback" not in err, case
        assert sorted(path.name for path in tmp_path.rglob("*")) == ["folder"], f"{case} left a file"
        return f"# {case}\n$ kvplan {command}\n{err}"

    return lambda cases, code: "\n".join(fail(case, command, code) for case, command in cases.items())


def test_usage_errors_return_2(
    transcript: Callable[[dict[str, str], int], str], golden: Callable[[str, str], None]
) -> None:
    golden("errors/usage.txt", transcript(USAGE, 2))


def test_wrong_options_return_3(
    transcript: Callable[[dict[str, str], int], str], golden: Callable[[str, str], None]
) -> None:
    golden("errors/options.txt", transcript(OPTIONS, 3))
