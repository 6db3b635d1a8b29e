"""`kvplan catalogue add` and `verify`: a model becomes a row, the row is used, and the Plan names its table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support import LLAMA_8B

import kvplan
from kvplan.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., tuple[int, str, str]]

BY_CONFIG = ("catalogue", "add", "--to", "tables", "--config", "config.json", "--id", "acme/m1")
FULL = "full,layers=24,kv_heads=8,key_dim=128,value_dim=128"
SLIDING = "sliding, layers=8, kv_heads=8, key_dim=128, value_dim=128, window_tokens=1024"
BY_GROUPS = (
    *("catalogue", "add", "--to", "tables", "--id", "acme/m1", "--group", FULL, "--group", SLIDING),
    *("--params", "8B", "--active-params", "1.5B", "--max-position", "64Ki", "--source", "model card"),
)
SIZE = ("size", "--context", "4k", "--gpus", "8", "--catalogue", "tables", "--format", "json")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run kvplan in a directory that holds a configuration."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(LLAMA_8B))

    def runs(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        return (code, *capsys.readouterr())

    return runs


def plan_of(run: Run, model: str) -> Any:
    """Size a model of the user's tables."""
    code, out, err = run(*SIZE, "--model", model)
    assert (code, err) == (0, "")
    return json.loads(out)


def test_a_configuration_becomes_a_row_that_size_uses(run: Run) -> None:
    assert run(*BY_CONFIG) == (0, "added acme/m1 to tables/models.yaml\n", "")
    plan = plan_of(run, "acme/m1")
    assert plan["model"]["params_total"] == 8_030_261_248
    assert plan["kv"]["accounting"]["minimal"]["bytes_per_token"] == 32 * 8 * 256 * 2
    assert plan["catalogue"]["user_tables"] == ["tables/models.yaml"]
    assert plan["catalogue"]["sha256"] != kvplan.load_catalogue().sha256


def test_what_is_said_beside_a_configuration_counts(run: Run, tmp_path: Path) -> None:
    further = ("--alias", "tiny", "--source", "acme's card", "--confidence", "derived", "--max-position", "8k")
    assert run(*BY_CONFIG, *further)[0] == 0
    row = kvplan.load_catalogue([tmp_path / "tables"]).model("tiny")
    assert (row.source, row.confidence, row.max_position_tokens) == ("acme's card", "derived", 8000)


def test_a_configuration_whose_parameters_cannot_be_counted_is_added_without(run: Run, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({key: LLAMA_8B[key] for key in LLAMA_8B if key != "vocab_size"}))
    assert run(*BY_CONFIG)[0] == 0
    assert kvplan.load_catalogue([tmp_path / "tables"]).model("acme/m1").params_total is None


def test_groups_become_a_row_that_size_uses(run: Run) -> None:
    assert run(*BY_GROUPS)[0] == 0
    plan = plan_of(run, "acme/m1")
    assert (plan["model"]["params_total"], plan["model"]["params_active"]) == (8_000_000_000, 1_500_000_000)
    minimal = plan["kv"]["accounting"]["minimal"]
    assert (minimal["bytes_per_token"], minimal["fixed_bytes"]) == (24 * 8 * 256 * 2, 8 * 8 * 256 * 2 * 1024)


def test_a_second_row_leaves_rows_and_comments_alone(run: Run, tmp_path: Path) -> None:
    run(*BY_CONFIG)
    table = tmp_path / "tables" / "models.yaml"
    before = f"# checked by Ada\n{table.read_text()}# the end\n"
    table.write_text(before)
    assert run(*BY_GROUPS, "--id", "acme/m2")[0] == 0
    assert table.read_text().startswith(before)


def test_a_known_row_is_replaced_only_when_asked(run: Run, tmp_path: Path) -> None:
    run(*BY_CONFIG)
    table = tmp_path / "tables" / "models.yaml"
    before = table.read_text()
    code, out, err = run(*BY_GROUPS)
    assert (code, out) == (3, "")
    assert "'acme/m1' is there already" in err
    assert table.read_text() == before
    assert run(*BY_GROUPS, "--replace")[0] == 0
    assert plan_of(run, "acme/m1")["model"]["params_active"] == 1_500_000_000


def test_what_was_added_as_json(run: Run) -> None:
    data = json.loads(run(*BY_GROUPS, "--format", "json")[1])
    assert (data["format_version"], data["added"], data["file"]) == ("1.2", "acme/m1", "tables/models.yaml")
    assert [group["kind"] for group in data["row"]["groups"]] == ["full", "sliding"]


def test_the_environment_names_tables_and_profiles(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run(*BY_CONFIG)
    monkeypatch.setenv("KVPLAN_CATALOGUE", "tables")
    code, out, _ = run("size", "--model", "acme/m1", "--context", "4k", "--gpus", "8")
    assert code == 0
    assert ") with tables/models.yaml\n" in out


def test_a_row_of_the_user_replaces_a_built_in_one(run: Run) -> None:
    run(*BY_GROUPS, "--id", "openai/gpt-oss-120b")
    assert plan_of(run, "openai/gpt-oss-120b")["model"]["params_total"] == 8_000_000_000


def test_verify_counts_the_rows_of_the_user(run: Run) -> None:
    rows = json.loads(run("catalogue", "verify", "--format", "json")[1])["rows"]
    run(*BY_CONFIG)
    more = json.loads(run("catalogue", "verify", "--catalogue", "tables", "--format", "json")[1])
    assert more["rows"] == rows + 1
    assert more["problems"] == []


def test_verify_finds_what_only_the_whole_shows(run: Run, tmp_path: Path) -> None:
    """The row is sound by itself; the alias is another model's name."""
    run(*BY_CONFIG, "--alias", "gpt-oss-120b")
    code, out, err = run("catalogue", "verify", "--catalogue", "tables")
    assert (code, out) == (3, "")
    assert "tables/models.yaml:2:3" in err
    assert "gpt-oss-120b" in err
