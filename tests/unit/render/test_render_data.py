"""Results as data: JSON that is strict, YAML in order, CSV that no spreadsheet runs."""

from __future__ import annotations

import csv
import io
import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kvplan import load_catalogue
from kvplan.core.diff import Difference
from kvplan.core.explanation import Explanation
from kvplan.render.catalogue_view import row_view
from kvplan.render.data import data_json, data_yaml, rows_csv
from kvplan.render.diff import diff_data, diff_row, diff_view
from kvplan.render.explain import explanation_data, explanation_rows, explanation_text
from kvplan.render.figures import margin_text

SCALARS = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
DATA = st.recursive(
    SCALARS | st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z"))),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), inner),
    max_leaves=8,
)
ASSUMED = Explanation("constants.share", 0.7, "ratio", "a constant", "", "assumed")
NODES = Explanation(
    "profile.nodes", 1234, "count", "the recipe's [see it]", "IBM Redbook MD260021", "vendor", (ASSUMED,)
)


@settings(max_examples=40)
@given(DATA)
def test_json_and_yaml_read_back(data: object) -> None:
    assert json.loads(data_json(data)) == data
    assert yaml.safe_load(data_yaml(data)) == data


def test_json_keeps_the_order_and_refuses_what_json_does_not_know() -> None:
    assert data_json({"b": 1, "a": ["ö"]}) == '{\n  "b": 1,\n  "a": [\n    "ö"\n  ]\n}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        data_json({"a": float("nan")})


@pytest.mark.parametrize("cell", ["=1+1", "+cmd", "-x", "@SUM(A1)", "\t=1"])
def test_formulas_are_defused(cell: str) -> None:
    rows = list(csv.reader(io.StringIO(rows_csv(("a",), [(cell,)]), newline="")))
    assert rows == [["a"], [f"'{cell}"]]


@pytest.mark.parametrize("cell", ["-1", "+2.5", "-1e-5", "8+2P", "a,b", 'say "x"', "", "two\nlines"])
def test_numbers_and_texts_stay_as_they_are(cell: str) -> None:
    assert list(csv.reader(io.StringIO(rows_csv(("a", "b"), [(cell, "x")]), newline="")))[1] == [cell, "x"]


def test_an_explanation_is_a_tree() -> None:
    assert explanation_text([NODES]) == (
        "profile.nodes = 1,234 count\n"
        "├── = the recipe's [see it]\n"
        "├── constants.share = 0.7 ratio\n"
        "│   ├── = a constant\n"
        "│   └── assumed\n"
        "└── source: IBM Redbook MD260021 (vendor)\n"
    )


def test_an_explanation_is_data_and_rows() -> None:
    data = explanation_data(NODES)
    assert (data["field"], data["value"], data["inputs"][0]["field"]) == ("profile.nodes", 1234, "constants.share")
    assert explanation_rows([NODES])[0][4] == "constants.share"


def test_differences_as_rows() -> None:
    assert diff_row(Difference("a", "changed", 4, 5)) == ("~", "a", "4", "5", "+25.0 %")
    assert diff_row(Difference("a", "changed", 0, 5)) == ("~", "a", "0", "5", "")
    assert diff_row(Difference("a", "added", None, after=True)) == ("+", "a", "", "yes", "")
    assert diff_row(Difference("a", "removed", "8+2P", None)) == ("-", "a", "8+2P", "", "")


def test_differences_on_screen_are_those_that_decide_and_as_data_all() -> None:
    limits = [Difference(f"candidates[x].limits[{index}].need", "changed", 1, 2) for index in range(3)]
    new = [Difference(f"candidates[y].{field}", "added", None, "y") for field in ("name", "nodes", "limits[a].name")]
    text = Difference("warnings[w].text", "changed", "a", "b")
    nodes = Difference("profile.nodes", "changed", 8, 16)
    (section,) = diff_view([nodes, *limits, *new, text], "a", "b")
    assert section.grid is not None
    assert [row[:2] for row in section.grid.rows] == [("~", "profile.nodes"), ("+", "candidates[y]")]
    assert section.below[0].startswith("3 added, 5 changed; ")
    assert len(diff_data([nodes, *limits, *new, text])) == 8


def test_differences_that_are_all_details_or_none() -> None:
    (section,) = diff_view([Difference("warnings[w].text", "changed", "a", "b")], "a", "b")
    assert section.grid is None
    assert diff_view([], "a", "b")[0].lines == ("no difference",)


@pytest.mark.parametrize(
    ("margin", "text"),
    [(0.0, "+0 %"), (-0.004, "-0 %"), (-1.0, "-100 %"), (9.99, "+999 %"), (10.0, "x 11"), (1376.0, "x 1,377")],
)
def test_margins_carry_their_sign(margin: float, text: str) -> None:
    assert margin_text(margin) == text


def test_a_version_is_no_number() -> None:
    row = load_catalogue().backend("vllm-fs").model_copy(update={"hybrid_manager_since_vllm": "0.30"})
    (section,) = row_view(row)
    assert section.grid is not None
    assert ("hybrid_manager_since_vllm", "0.30") in section.grid.rows
    assert ("default_chunk_tokens", "256") in section.grid.rows
