"""Paths of values: what `scalars` writes, `value_at` and `canonical` read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvplan import Request, size
from kvplan.core.diff import differences
from kvplan.core.explanation import explain
from kvplan.core.paths import canonical, element_names, scalars, value_at

NAMES = st.from_regex(r"[a-z_]{1,6}", fullmatch=True)
DATA = st.dictionaries(
    NAMES,
    st.recursive(
        st.integers() | st.booleans() | st.none(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
        max_leaves=10,
    ),
    max_size=4,
)


@given(DATA)
def test_every_path_leads_to_its_value(data: dict[str, object]) -> None:
    for path, value in scalars(data):
        assert value_at(data, path) is value
        assert canonical(data, path) == path


def test_elements_are_named_numbered_or_placed() -> None:
    data = {"a": [{"name": "x", "b": 1}, {"name": "x", "b": 2}, {"id": "y", "b": 3}, {"b": 4}]}
    assert [path for path, _ in scalars(data) if path.endswith(".b")] == ["a[x].b", "a[x#2].b", "a[y].b", "a[3].b"]
    assert [canonical(data, f"a[{place}].b") for place in range(4)] == ["a[x].b", "a[x#2].b", "a[y].b", "a[3].b"]


def test_keys_are_left_out_at_the_top_only() -> None:
    assert dict(scalars({"a": 1, "b": {"a": 2}}, skip=("a",))) == {"b.a": 2}


def test_a_name_wins_over_a_place() -> None:
    data = {"a": [{"name": "1"}, {"name": "0"}]}
    assert value_at(data, "a[1]") == {"name": "1"}


@pytest.mark.parametrize("path", ["x", "a.b", "a[2]", "a[y]", "a[²]", "a[0].c", "c[0]"])
def test_what_is_not_there_is_a_key_error(path: str) -> None:
    with pytest.raises(KeyError):
        value_at({"a": [{"name": "x"}, 1], "c": {}}, path)


@pytest.mark.parametrize("path", ["", "[", ".."])
def test_no_path_is_no_field(path: str) -> None:
    with pytest.raises(KeyError):
        canonical({"a": 1}, path)


def test_texts_and_numbers_name_no_elements() -> None:
    assert element_names(["a", 1, None]) == ["0", "1", "2"]


def test_what_diff_prints_explain_takes() -> None:
    before, after = (size(Request(model="gpt-oss-120b", context_tokens=130_000, gpus=gpus)) for gpus in (128, 300))
    changed = [item.path for item in differences(before, after) if item.kind == "changed"]
    numbers = [path for path in changed if not path.startswith(("constants.", "catalogue."))]
    assert len(numbers) > 50
    for path in numbers:
        assert explain(after, path)[0].path == path
