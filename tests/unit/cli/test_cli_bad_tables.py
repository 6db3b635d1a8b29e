"""User tables and profiles that are wrong: place, key, what is wrong and what was perhaps meant, all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvplan.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Golden = Callable[[str, str], None]

SIZE = ("size", "--model", "gpt-oss-120b", "--context", "4k", "--gpus", "8")
MODEL = """\
- id: acme/m1
  groups:
    - {kind: full, layers: 2, kv_heads: 1, key_dim: 64, value_dim: 64}
  params_total: 1000000
  source: model card
  confidence: vendor
"""
DRIVE = """\
- id: acme-nvme
  title: Acme NVMe
  vendor: Acme
  bytes: 7680000000000
  source: data sheet
  confidence: vendor
"""
MODELS: Mapping[str, str] = {
    "empty": "",
    "a mapping": "models: []\n",
    "a text": "acme\n",
    "rows without ids": "- acme/m1\n- {name: acme/m1}\n",
    "duplicate key": MODEL.replace("  source", "  params_total: 7\n  source"),
    "duplicate row": MODEL + MODEL,
    "cyclic alias": "- &row\n  id: acme/m1\n  groups: [*row]\n",
    "alias without an anchor": "- id: acme/m1\n  groups: *groups\n",
    "alias bomb": "- id: a\n  note: &a [x, x, x, x, x, x, x, x]\n"
    + "".join(f"  n{i}: &{'abcdefghi'[i + 1]} [{', '.join(['*' + 'abcdefghi'[i]] * 8)}]\n" for i in range(8)),
    "tag of a program": "- id: !!python/object/apply:os.getcwd []\n",
    "tag of one's own": "- id: !model acme/m1\n",
    "tab": MODEL.replace("  groups", "\tgroups"),
    "bracket left open": MODEL.replace("64}", "64"),
    "two documents": f"{MODEL}---\n{MODEL}",
    "not UTF-8": "\udcff",
    "unknown key": MODEL.replace("params_total", "param_total"),
    "unknown key in a group": MODEL.replace("kv_heads", "kv_head"),
    "wrong types": MODEL.replace("1000000", "1M").replace("model card", "7").replace("layers: 2", "layers: two"),
    "truth for a number": MODEL.replace("1000000", "yes"),
    "no source": MODEL.replace("  source: model card\n", ""),
    "unknown confidence": MODEL.replace("vendor", "certain"),
    "unknown kind": MODEL.replace("kind: full", "kind: ful"),
    "no groups": "- {id: acme/m1, groups: [], source: s, confidence: vendor}\n",
    "out of range": MODEL.replace("layers: 2", "layers: 0").replace("1000000", "-1"),
    "not a number": MODEL.replace("1000000", ".nan"),
}
PROFILE = """\
format_version: "1.0"
name: small-4
title: Four small nodes
nodes: {start: 4, limit: 4}
erasure_code: 4+2P
block_mib: 4
node:
  server: ASG-1115S-NE316R
  drive: micron-e3s-7.68
  drives: 16
  client_nic: b3220
  storage_nic: cx7-400g
switch: sn5600
guidance: {gpus: {high: 64}, params: {}, read_bytes_per_s: {}, source: own, confidence: assumed}
"""
PROFILES: Mapping[str, str] = {
    "empty": "",
    "a list": "[]",
    "code that is none": PROFILE.replace("4+2P", "5+1P"),
    "code in another form": PROFILE.replace("4+2P", "RAID6"),
    "limit below start": PROFILE.replace("limit: 4", "limit: 3"),
    "unknown drive": PROFILE.replace("micron-e3s-7.68", "micron-e3s-7.86"),
    "unknown parts": PROFILE.replace("sn5600", "sn5601").replace("b3220", "b3221").replace("NE316R", "NE316X"),
    "unknown key": PROFILE.replace("block_mib", "block_mb"),
    "wrong types": PROFILE.replace("drives: 16", 'drives: "16"').replace("block_mib: 4", "block_mib: 4.5"),
    "name with blanks": PROFILE.replace("small-4", "Small 4"),
    "name with blanks, nodes and guidance": PROFILE.replace("small-4", "Small 4")
    .replace("start: 4", "start: 0")
    .replace("confidence: assumed", "confidence: sure"),
    "cyclic alias": "name: &name\n  again: *name\n",
}


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run what must fail with 3, and write down what a person sees."""
    monkeypatch.chdir(tmp_path)
    for name in ("tables", "profiles"):
        (tmp_path / name).mkdir()

    def fails(case: str, *arguments: str) -> str:
        code = main(arguments)
        out, err = capsys.readouterr()
        assert (code, out) == (3, ""), case
        assert "Traceback" not in err
        assert str(tmp_path) not in err, "a path of this machine"
        return f"# {case}\n{err}"

    return fails


def test_model_tables(refused: Callable[..., str], tmp_path: Path, golden: Golden) -> None:
    seen = []
    for case, text in MODELS.items():
        (tmp_path / "tables" / "models.yaml").write_bytes(text.encode(errors="surrogateescape"))
        seen.append(refused(case, *SIZE, "--model", "acme/m1", "--catalogue", "tables"))
    golden("errors/model-tables.txt", "\n".join(seen))


def test_tables_at_once(refused: Callable[..., str], tmp_path: Path, golden: Golden) -> None:
    (tmp_path / "tables" / "models.yaml").write_text(MODEL.replace("kind: full", "kind: fuller") + MODEL[:-1] + "x\n")
    (tmp_path / "tables" / "drives.yaml").write_text(DRIVE.replace("bytes", "byte"))
    golden("errors/tables-at-once.txt", refused("verify", "catalogue", "verify", "--catalogue", "tables"))


def test_table_directories(refused: Callable[..., str], tmp_path: Path, golden: Golden) -> None:
    (tmp_path / "tables" / "model.yaml").write_text(MODEL)
    (tmp_path / "tables" / "models.yml").write_text(MODEL)
    (tmp_path / "tables" / "gpu").mkdir()
    (tmp_path / "tables" / "gpu" / "own.yaml").write_text("[]")
    (tmp_path / "file").write_text(MODEL)
    seen = [refused(name, "catalogue", "list", "--catalogue", name) for name in ("nowhere", "file", "tables")]
    golden("errors/table-directories.txt", "\n".join(seen))


def test_the_environment_is_checked_like_an_option(
    refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    monkeypatch.setenv("KVPLAN_CATALOGUE", "tables:nowhere")
    monkeypatch.setenv("KVPLAN_PROFILES", "nowhere:elsewhere")
    golden(
        "errors/environment.txt", refused("KVPLAN_CATALOGUE=tables:nowhere KVPLAN_PROFILES=nowhere:elsewhere", *SIZE)
    )


def test_every_directory_that_is_missing_is_named(refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVPLAN_CATALOGUE", "nowhere")
    seen = refused("both", "catalogue", "list", "--catalogue", "elsewhere").splitlines()[1:]
    assert seen == [
        "error: KVPLAN_CATALOGUE: nowhere is missing; a directory",
        "error: --catalogue: elsewhere is missing; a directory",
    ]


def test_profiles(refused: Callable[..., str], tmp_path: Path, golden: Golden) -> None:
    seen = []
    for case, text in PROFILES.items():
        (tmp_path / "profiles" / "small-4.yaml").write_text(text)
        seen.append(refused(case, *SIZE, "--profiles", "profiles"))
    golden("errors/profiles.txt", "\n".join(seen))


def test_a_profile_given_twice(refused: Callable[..., str], tmp_path: Path, golden: Golden) -> None:
    for name in ("one.yaml", "two.yaml"):
        (tmp_path / "profiles" / name).write_text(PROFILE)
    golden("errors/profile-twice.txt", refused("twice", *SIZE, "--profiles", "profiles"))
