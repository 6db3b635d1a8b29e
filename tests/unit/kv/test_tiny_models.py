"""43 kinds of KV cache, each measured on a tiny model, must come out to the byte under the rule `transformers`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter

from kvplan.core.kv.terms import context_bytes, fixed_bytes, slope_bytes_per_token
from kvplan.schema.model import LayerGroup

Groups = tuple[LayerGroup, ...]
_ADAPTER: TypeAdapter[Groups] = TypeAdapter(Groups)
_ROWS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("tiny_models.yaml").read_text(encoding="utf-8"))


def _groups(row: dict[str, Any]) -> Groups:
    return _ADAPTER.validate_python(row["groups"])


def _name(row: dict[str, Any]) -> str:
    return f"{row['row']}-{row['model']}"


def test_all_rows_are_there() -> None:
    assert [row["row"] for row in _ROWS] == list(range(1, 44))


@pytest.mark.parametrize("row", _ROWS, ids=_name)
@pytest.mark.parametrize("tokens", [13, 64])
def test_measured_bytes(row: dict[str, Any], tokens: int) -> None:
    assert context_bytes(_groups(row), "bf16", tokens, "transformers") == row[f"bytes_at_{tokens}"]


@pytest.mark.parametrize("row", _ROWS, ids=_name)
def test_minimal_is_slope_and_fixed_part_beyond_the_window(row: dict[str, Any]) -> None:
    groups = _groups(row)
    expected = 128 * slope_bytes_per_token(groups, "bf16") + fixed_bytes(groups, "bf16")
    assert context_bytes(groups, "bf16", 128) == expected


@pytest.mark.parametrize("row", _ROWS, ids=_name)
def test_kind_is_told_apart_from_a_plain_rate(row: dict[str, Any]) -> None:
    rate = (row["bytes_at_64"] - row["bytes_at_13"]) / 51
    grows_plainly = all(group.kind in {"full", "latent", "indexer", "shared", "none"} for group in _groups(row))
    assert (row["bytes_at_13"] == 13 * rate) == grows_plainly
