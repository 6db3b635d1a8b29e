"""`kvplan reference`: the claims as people and programs read them, and the page made from them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kvplan.__main__ import main
from kvplan.api import reference_claims

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Golden = Callable[[str, str], None]


def _said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    code = main(["reference", *arguments])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return out


@pytest.mark.parametrize(
    ("form", "name"), [("table", "claims.txt"), ("md", "claims.md"), ("csv", "claims.csv"), ("json", "claims.json")]
)
def test_each_format_is_as_reviewed(form: str, name: str, golden: Golden, capsys: pytest.CaptureFixture[str]) -> None:
    golden(f"reference/{name}", _said(capsys, "--format", form))


def test_json_holds_what_is_promised(capsys: pytest.CaptureFixture[str]) -> None:
    data: dict[str, Any] = json.loads(_said(capsys, "--format", "json"))
    assert data["claims"] == [claim.model_dump(mode="json") for claim in reference_claims().claims]
    for claim in data["claims"]:
        assert set(claim) >= {"id", "source", "published", "computed", "verdict", "why"}
        assert claim["verdict"] in {"agrees", "contradicts", "depends"}


def test_no_format_of_that_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reference", "--format", "xml"]) == 3
    assert "--format" in capsys.readouterr().err


def test_a_broken_table_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "claims.yaml").write_text(
        "- {id: gain-56y, title: more, source: me, confidence: assumed}\n", encoding="utf-8"
    )
    assert main(["reference", "--catalogue", str(tmp_path)]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "did you mean 'gain-56x'" in err
