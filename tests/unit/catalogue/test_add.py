"""Adding a model to a user's table: what stands there stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvplan.catalogue.add import add_model
from kvplan.catalogue.loader import load_catalogue
from kvplan.errors import InputError
from kvplan.schema.model import FullAttention, ModelSpec, Recurrent

if TYPE_CHECKING:
    from pathlib import Path

SPEC = ModelSpec(
    id="acme/Tiny-1B",
    aliases=("tiny", "tiny-1b"),
    groups=(
        FullAttention(layers=4, kv_heads=2, key_dim=64, value_dim=64),
        Recurrent(layers=12, conv_elements=100, conv_columns=3, state_elements=4096),
    ),
    max_position_tokens=8192,
    params_total=1_000_000_000,
    note="größer als es klingt: 'ja'",
    source="acme model card",
    confidence="vendor",
)
OTHER = SPEC.model_copy(update={"id": "acme/Other", "aliases": ()})
TABLE = """\
# our models

# the first
- id: a/first   # keep me
  groups: [{kind: full, layers: 1, kv_heads: 1, key_dim: 1, value_dim: 1}]
  source: s
  confidence: assumed
# the second
- id: acme/Tiny-1B
  groups: [{kind: full, layers: 1, kv_heads: 1, key_dim: 1, value_dim: 1}]
  source: s
  confidence: assumed

# the third
- id: a/third
  groups: [{kind: full, layers: 1, kv_heads: 1, key_dim: 1, value_dim: 1}]
  source: s
  confidence: assumed
# the end
"""


def test_a_new_table_is_made(tmp_path: Path) -> None:
    directory = tmp_path / "new" / "tables"
    path = add_model(SPEC, directory)
    assert path == directory / "models.yaml"
    assert load_catalogue([directory]).model("tiny") == SPEC
    assert path.read_text().startswith("# Models of this site")
    assert "- {kind: full, layers: 4, kv_heads: 2, key_dim: 64, value_dim: 64}\n" in path.read_text()
    assert [entry.name for entry in directory.iterdir()] == ["models.yaml"]


def test_a_second_model_is_appended(tmp_path: Path) -> None:
    path = add_model(SPEC, tmp_path)
    before = path.read_text()
    add_model(OTHER, tmp_path)
    assert path.read_text().startswith(before)
    assert load_catalogue([tmp_path]).model("acme/Other") == OTHER


@pytest.mark.parametrize("before", ["# only a remark", "", "# x\n---\n"])
def test_a_table_without_rows(tmp_path: Path, before: str) -> None:
    (tmp_path / "models.yaml").write_text(before)
    assert add_model(SPEC, tmp_path).read_text().startswith(before)
    assert load_catalogue([tmp_path]).model("tiny") == SPEC


def test_a_known_id_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(TABLE)
    with pytest.raises(InputError, match=r"models.yaml:9:3: 'acme/Tiny-1B' is there already; --replace"):
        add_model(SPEC, tmp_path)
    assert path.read_text() == TABLE


def test_a_known_id_is_replaced_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(TABLE)
    add_model(SPEC, tmp_path, replace=True)
    text = path.read_text()
    assert text.startswith(TABLE[: TABLE.index("- id: acme/Tiny-1B")])
    assert text.endswith(TABLE[TABLE.index("\n# the third") :])
    catalogue = load_catalogue([tmp_path])
    assert catalogue.model("acme/Tiny-1B") == SPEC
    assert [row_id for row_id in catalogue.ids("models") if row_id in {"a/first", "a/third"}] == ["a/first", "a/third"]


def test_replacing_what_is_not_there_appends(tmp_path: Path) -> None:
    add_model(SPEC, tmp_path, replace=True)
    assert load_catalogue([tmp_path]).model("tiny") == SPEC


def test_an_indented_list_and_no_newline_at_the_end(tmp_path: Path) -> None:
    indented = "".join(f"    {line}\n" for line in TABLE.splitlines()).rstrip("\n")
    (tmp_path / "models.yaml").write_text(indented)
    text = add_model(OTHER, tmp_path).read_text()
    assert text.startswith(f"{indented}\n    - id: acme/Other\n")
    assert load_catalogue([tmp_path]).model("acme/Other") == OTHER


@pytest.mark.parametrize(
    ("text", "message"),
    [("a: 1\n", "is no list of rows in block style"), ("[]\n", "is no list of rows"), ("- [\n", "models.yaml:")],
)
def test_files_that_are_no_tables_are_left_alone(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        add_model(SPEC, tmp_path)
    assert path.read_text() == text


def test_rows_that_are_none_do_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text("- just text\n" + TABLE)
    with pytest.raises(InputError, match="is there already"):
        add_model(SPEC, tmp_path)
