"""Names: how a row is found, and what is said when it is not."""

from __future__ import annotations

import pytest

from kvplan.catalogue.lookup import NameIndex
from kvplan.errors import ExitCode, InputError

ROWS: list[tuple[str, tuple[str, ...]]] = [
    ("openai/gpt-oss-120b", ("oss-large",)),
    ("openai/gpt-oss-20b", ("oss-small",)),
    ("meta-llama/Llama-3.1-8B", ()),
    ("meta-llama/Llama-3.1-8B-Instruct", ("llama-3.1-8b-it",)),
    ("mirror/Llama-3.1-8B-Instruct", ()),
]
INDEX = NameIndex.of("models", "model", ROWS)


@pytest.mark.parametrize(
    ("word", "row_id"),
    [
        ("openai/gpt-oss-120b", "openai/gpt-oss-120b"),
        ("OpenAI/GPT-OSS-120B", "openai/gpt-oss-120b"),
        ("OSS-Large", "openai/gpt-oss-120b"),
        ("gpt-oss-20b", "openai/gpt-oss-20b"),
        (" oss-120 ", "openai/gpt-oss-120b"),
        ("llama-3.1-8b", "meta-llama/Llama-3.1-8B"),
        ("8b-it", "meta-llama/Llama-3.1-8B-Instruct"),
    ],
)
def test_found(word: str, row_id: str) -> None:
    assert INDEX.find(word) == row_id


def test_the_more_direct_name_wins() -> None:
    index = NameIndex.of("gpus", "GPU", [("l4", ()), ("l40", ()), ("big", ("l40s",)), ("acme/big", ())])
    assert [index.find(word) for word in ("L4", "L40", "l40s", "BIG")] == ["l4", "l40", "big", "big"]


def test_unknown_names_what_is_close() -> None:
    with pytest.raises(InputError) as caught:
        INDEX.find("gpt-os-120b")
    assert str(caught.value).startswith("model: 'gpt-os-120b' is not in the catalogue; did you mean 'gpt-oss-120b'")
    assert caught.value.exit_code is ExitCode.INVALID_INPUT


@pytest.mark.parametrize("word", ["zzz", "", "  "])
def test_unknown_and_nothing_close(word: str) -> None:
    with pytest.raises(InputError) as caught:
        INDEX.find(word)
    assert str(caught.value) == f"model: {word!r} is not in the catalogue; see `kvplan catalogue list models`"


def test_ambiguous_end_of_an_id() -> None:
    with pytest.raises(InputError, match=r"fits 2 rows of the catalogue; meta-llama/Llama-3\.1-8B-Instruct, mirror/"):
        INDEX.find("llama-3.1-8b-instruct")


def test_an_ambiguous_fragment_lists_up_to_eight() -> None:
    index = NameIndex.of("drives", "drive", [(f"drive-{number:02}", ()) for number in range(20)])
    with pytest.raises(InputError) as caught:
        index.find("drive")
    text = str(caught.value)
    assert text.startswith("drive: 'drive' fits 20 rows of the catalogue; drive-00, ")
    assert "drive-07 and 12 more" in text
    assert "drive-08" not in text


def test_one_row_that_a_fragment_fits_twice_is_not_ambiguous() -> None:
    index = NameIndex.of("nics", "network adapter", [("b3220", ("bf3-b3220", "bluefield-3-b3220")), ("cx7", ())])
    assert index.find("3-b322") == "b3220"
