"""Model configurations and Plans that are wrong: what a person reads, the exit code, and nothing on stdout."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

import pytest

import kvplan
from kvplan.__main__ import main
from kvplan.core.seal import sealed
from kvplan.render.data import record_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Run = Callable[..., tuple[int, str, str]]
    Golden = Callable[[str, str], None]

Config = dict[str, Any]

SIZE = ("size", "--context", "4k", "--gpus", "8")
LLAMA: Config = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
}
GPT_OSS: Config = {
    "model_type": "gpt_oss",
    "num_hidden_layers": 4,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "hidden_size": 2880,
    "sliding_window": 128,
    "layer_types": ["sliding_attention", "full_attention"] * 2,
    "max_position_embeddings": 131072,
}


def config(base: Config = LLAMA, **changes: object) -> bytes:
    """Write a configuration with changes; None leaves a key out."""
    changed = {key: value for key, value in (base | changes).items() if value is not None}
    return json.dumps(changed, indent=2).encode()


MODEL_FILES: Mapping[str, bytes | None] = {
    "missing": None,
    "empty": b"",
    "binary": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "not UTF-8": b'{"model_type": "ll\xe4ma"}',
    "UTF-16": '{"model_type": "llama"}'.encode("utf-16"),
    "truncated": config()[:100],
    "duplicate keys": config().replace(b'"vocab_size"', b'"num_hidden_layers"'),
    "NaN": config().replace(b"4096", b"NaN"),
    "number of 5,000 digits": config().replace(b"4096", b"9" * 5000),
    "a list": b"[1, 2, 3]",
    "a text": b'"llama"',
    "a page": b"<!DOCTYPE html>",
    "nested deeply": b'{"a": ' * 500 + b"1" + b"}" * 500,
    "no model type": config(model_type=None),
    "unknown model type": config(model_type="acme_former"),
    "model type, close": config(model_type="lama"),
    "model type as a number": config(model_type=7),
    "missing keys": config(num_hidden_layers=None, num_attention_heads=None, max_position_embeddings=None),
    "no KV head": config(num_key_value_heads=0),
    "negative layers": config(num_hidden_layers=-32),
    "texts for numbers": config(num_hidden_layers="32", hidden_size="large"),
    "booleans for numbers": config(num_hidden_layers=True, num_key_value_heads=False),
    "fractions": config(num_hidden_layers=32.5),
    "heads that do not divide": config(num_key_value_heads=7),
    "absurd": config(num_hidden_layers=10**20, max_position_embeddings=10**20),
    "pattern too short": config(GPT_OSS, layer_types=["full_attention"]),
    "pattern with an unknown layer": config(GPT_OSS, layer_types=["full_attention", "ful_attention"] * 2),
    "window missing": config(GPT_OSS, sliding_window=None),
    "no parameter count": config(model_type="phi3", vocab_size=None, intermediate_size=None),
}


PLAN_CHANGES: Mapping[str, Callable[[Config], Any]] = {
    "a number as text": lambda plan: plan["profile"].update(nodes="8"),
    "a number as a truth": lambda plan: plan["hbm"].update(engines=True),
    "not a number": lambda plan: plan["profile"].update(usable_fraction=math.nan),
    "an unknown key": lambda plan: plan["profile"].update(node_count=8),
    "a missing key": lambda plan: plan["network"].pop("binding_stage"),
    "a list for an object": lambda plan: plan.update(kv=[]),
    "several": lambda plan: (plan["request"].update(gpus="many", modell="x"), plan.pop("reason")),
    "no format version": lambda plan: plan.pop("format_version"),
    "a format version that is no text": lambda plan: plan.update(format_version=1),
}
PLAN_FILES: Mapping[str, bytes] = {
    "empty": b"",
    "binary": b"\x7fELF\0\0",
    "a list": b"[]",
    "an empty object": b"{}",
    "another document": config(),
    "duplicate keys": b'{"format_version": "1.0",\n "format_version": "1.0"}',
}
FIELDS = (
    "profile.usable_byts",
    "nodes",
    "request.forced",
    "frobnicate",
    "network.stages[drive].utilisation",
    "[",
    "..",
)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run kvplan in an empty directory."""
    monkeypatch.chdir(tmp_path)

    def runs(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        return (code, *capsys.readouterr())

    return runs


@pytest.fixture(scope="module")
def plan_text() -> str:
    """Give the Plan of the reference request as it is saved."""
    request = kvplan.Request(model="openai/gpt-oss-120b", context_tokens=130_000, gpus=128)
    return record_json(sealed(kvplan.size(request)))


def refused(run: Run, case: str, *arguments: str, code: int = 3) -> str:
    """Run what must fail, and write down what a person sees."""
    returned, out, err = run(*arguments)
    assert (returned, out) == (code, ""), case
    assert "Traceback" not in err
    return f"# {case}\n{err}"


def test_model_files(run: Run, tmp_path: Path, golden: Golden) -> None:
    seen = []
    for case, content in MODEL_FILES.items():
        if content is not None:
            (tmp_path / "config.json").write_bytes(content)
        seen.append(refused(run, case, *SIZE, "--model", "./config.json", "-o", "plan.json"))
        assert not (tmp_path / "plan.json").exists()
    golden("errors/model-files.txt", "\n".join(seen))


def test_model_paths(run: Run, tmp_path: Path, golden: Golden) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop.json").symlink_to("loop.json")
    with (tmp_path / "big.json").open("wb") as file:
        file.truncate(100_000_000)
    names = ("folder", "folder/", "folder/config.json", "loop.json", "big.json", "no/such/config.json", "x" * 300)
    seen = [refused(run, name[:40], *SIZE, "--model", name) for name in names]
    golden("errors/model-paths.txt", "\n".join(seen))


def test_plan_files(run: Run, tmp_path: Path, plan_text: str, golden: Golden) -> None:
    (tmp_path / "folder").mkdir()
    seen = [refused(run, f"explain {name}", "explain", name) for name in ("plan.json", "folder")]
    contents = {**PLAN_FILES, "truncated": plan_text[:20_000].encode()}
    for case, change in PLAN_CHANGES.items():
        plan = json.loads(plan_text)
        change(plan)
        contents[case] = json.dumps(plan, indent=2).encode()
    for case, content in contents.items():
        (tmp_path / "plan.json").write_bytes(content)
        seen.append(refused(run, case, "explain", "plan.json"))
    golden("errors/plan-files.txt", re.sub(r"(?<=plan\.json):\d+:\d+:", ":<line>:<column>:", "\n".join(seen)))


def test_what_is_wrong_with_a_plan_is_placed(run: Run, tmp_path: Path, plan_text: str) -> None:
    text = plan_text.replace('"nodes": 8,', '"nodes": "eight",', 1)
    (tmp_path / "plan.json").write_text(text)
    line = next(index for index, line in enumerate(text.splitlines(), start=1) if '"eight"' in line)
    seen = refused(run, "", "explain", "plan.json")
    assert f"plan.json:{line}:14: profile.nodes: must be a whole number, not 'eight'" in seen


def test_a_plan_of_another_format_is_stale(run: Run, tmp_path: Path, plan_text: str, golden: Golden) -> None:
    (tmp_path / "new.json").write_text(plan_text)
    (tmp_path / "old.json").write_text(plan_text.replace('"format_version": "1.2"', '"format_version": "0.9"', 1))
    seen = [
        refused(run, "explain", "explain", "old.json", code=8),
        refused(run, "diff", "diff", "new.json", "old.json", "--exit-code", code=8),
    ]
    golden("errors/plan-stale.txt", "\n".join(seen))


def test_a_plan_altered_by_hand_is_stale(run: Run, tmp_path: Path, plan_text: str, golden: Golden) -> None:
    (tmp_path / "plan.json").write_text(plan_text.replace('"nodes": 8,', '"nodes": 12,', 1))
    verbs = (("explain",), ("network",), ("bom",), ("report",))
    seen = [refused(run, "altered", *verb, "plan.json", code=8) for verb in verbs]
    golden("errors/plan-altered.txt", "\n".join(seen))


def test_a_plan_that_a_program_wrote_has_no_seal_and_is_read(run: Run, tmp_path: Path) -> None:
    plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    (tmp_path / "plan.json").write_text(record_json(plan))
    code, out, _ = run("explain", "plan.json", "profile.nodes")
    assert (code, out.startswith("profile.nodes = 8")) == (0, True)


def test_fields_that_a_plan_does_not_have(run: Run, tmp_path: Path, plan_text: str, golden: Golden) -> None:
    (tmp_path / "plan.json").write_text(plan_text)
    seen = [refused(run, field, "explain", "plan.json", field) for field in FIELDS]
    seen.append(refused(run, "the second Plan is missing", "diff", "plan.json", "plam.json"))
    golden("errors/plan-fields.txt", "\n".join(seen))
