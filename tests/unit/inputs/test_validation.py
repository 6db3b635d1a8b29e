"""Validation: every problem at once, at its place, in words for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import pytest
from pydantic import Field, ValidationError, field_validator

from kvplan.errors import InputError
from kvplan.inputs.document import Document
from kvplan.inputs.keys import known_keys
from kvplan.inputs.validation import problems_of, validate
from kvplan.inputs.yaml_text import parse_yaml
from kvplan.schema.base import Record
from kvplan.schema.model import ModelSpec
from kvplan.schema.profile import Profile
from kvplan.schema.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvplan.inputs.loc import Loc


class Circle(Record):
    kind: Literal["circle"] = "circle"
    radius_m: float = Field(gt=0, lt=100)

    @field_validator("radius_m")
    @classmethod
    def _not_thirteen(cls, value: float) -> float:
        if value == 13:
            message = "thirteen is unlucky"
            raise ValueError(message)
        return value


class Square(Record):
    kind: Literal["square"] = "square"
    side_m: float = Field(multiple_of=0.5)
    colour: Literal["red", "green"] = "red"


class Drawing(Record):
    name: str = Field(min_length=1, max_length=8)
    shapes: tuple[Annotated[Circle | Square, Field(discriminator="kind")], ...] = Field(default=(), max_length=4)
    frame: Square | None = None
    visible: bool = True
    layers: list[int] = Field(default=[0], min_length=1)
    tags: dict[str, int] = Field(default={})
    code: Annotated[str, Field(pattern=r"^\d+\+\dP$")] = "8+2P"
    size: int | Literal["auto"] = "auto"


BAD = {
    "not a mapping": "- 1\n",
    "everything missing": "{}\n",
    "unknown key, close": "name: a\nvisble: true\n",
    "unknown key, far": "name: a\nzzz: true\n",
    "unknown key inside a shape": "name: a\nshapes:\n  - kind: circle\n    radius_m: 1\n    radios_m: 2\n",
    "unknown key inside an optional record": "name: a\nframe: {side_m: 1, color: red}\n",
    "missing key inside a shape": "name: a\nshapes:\n  - kind: square\n",
    "unknown kind": "name: a\nshapes: [{kind: circel}]\n",
    "kind missing": "name: a\nshapes: [{radius_m: 1}]\n",
    "shape is text": "name: a\nshapes: [circle]\n",
    "shapes is a mapping": "name: a\nshapes: {kind: circle}\n",
    "too many shapes": f"name: a\nshapes: [{', '.join(['{kind: circle, radius_m: 1}'] * 5)}]\n",
    "text is a number": "name: 1.0\n",
    "text is empty": "name: ''\n",
    "text is too long": "name: a rather long name\n",
    "text is a list": "name: [a]\n",
    "text is nothing": "name:\n",
    "wrong form": "name: a\ncode: 8-2\n",
    "number in quotes": "name: a\nlayers: ['8']\n",
    "number is a word": "name: a\nlayers: [many]\n",
    "number is true": "name: a\nlayers: [true]\n",
    "whole number with a fraction": "name: a\nlayers: [1.5]\n",
    "no entries": "name: a\nlayers: []\n",
    "flag is a word": "name: a\nvisible: yes\n",
    "not a number": "name: a\nshapes: [{kind: circle, radius_m: .nan}]\n",
    "infinite": "name: a\nshapes: [{kind: circle, radius_m: 1e999}]\n",
    "not above": "name: a\nshapes: [{kind: circle, radius_m: -1}]\n",
    "not below": "name: a\nshapes: [{kind: circle, radius_m: 100}]\n",
    "not a multiple": "name: a\nframe: {side_m: 0.7}\n",
    "the class's own check": "name: a\nshapes: [{kind: circle, radius_m: 13}]\n",
    "not a choice, close": "name: a\nframe: {side_m: 1, colour: gren}\n",
    "not a choice, far": "name: a\nframe: {side_m: 1, colour: 7}\n",
    "neither of two types": "name: a\nsize: {}\n",
    "value of a free key": "name: a\ntags: {x: many}\n",
    "many at once": "nam: a\nlayers: [x, 1, y]\nvisible: 2\nframe: {}\n",
}


def _document(text: str) -> Document:
    return Document(parse_yaml(text, "drawing.yaml"), "drawing.yaml", text)


def test_every_bad_document_has_its_message(golden: Callable[[str, str], None]) -> None:
    lines = []
    for case, text in BAD.items():
        with pytest.raises(InputError) as raised:
            validate(Drawing, _document(text))
        lines.append(f"# {case}\n{raised.value}\n")
    golden("inputs/validation.txt", "\n".join(lines))


def test_a_good_document_becomes_a_record() -> None:
    text = "name: a\nshapes: [{kind: circle, radius_m: 2}, {kind: square, side_m: 1.5}]\nsize: 3\n"
    assert validate(Drawing, _document(text)) == Drawing(
        name="a", shapes=(Circle(radius_m=2), Square(side_m=1.5)), size=3
    )


def test_a_part_of_a_document_is_placed_in_the_whole() -> None:
    document = _document("- {side_m: 1}\n- {side_m: x}\n")
    assert validate(Square, document, data=document.data[0], loc=(0,)).side_m == 1
    with pytest.raises(InputError) as raised:
        validate(Square, document, data=document.data[1], loc=(1,))
    assert str(raised.value) == "drawing.yaml:2:12: [1].side_m: must be a number, not 'x'"


def test_a_part_that_is_nothing_is_not_the_whole() -> None:
    document = _document("side_m: 1\nframe:\n")
    with pytest.raises(InputError, match=r"drawing\.yaml:2:\d+: frame: must be a mapping .* not an empty value"):
        validate(Square, document, data=document.data["frame"], loc=("frame",))


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(InputError, match="f: holds text that is not valid Unicode"):
        validate(Drawing, Document({"name": "\ud800"}, "f"))


def test_a_kind_of_error_without_words_keeps_pydantics() -> None:
    class Dated(Record):
        size: bytes = Field(max_length=2)

    with pytest.raises(InputError, match="f: size: data should have at most 2 bytes"):
        validate(Dated, Document({"size": "abc"}, "f"))


def test_problems_of_options_name_the_option() -> None:
    with pytest.raises(ValidationError) as raised:
        Request.model_validate({"model": "m", "context_tokens": 0, "gpus": 8, "kv_dtype": "fp9"})
    problems = problems_of(raised.value, lambda loc: f"--{str(loc[0]).replace('_', '-')}")
    assert [problem.where for problem in problems] == ["--context-tokens", "--kv-dtype"]
    assert str(problems[0]) == "--context-tokens: must be at least 1, not 0"
    assert problems[1].what == "'fp9' is not a choice"
    assert problems[1].allowed == "allowed: 'bf16', 'fp16', 'fp8', 'int8', 'int4', 'nvfp4' or 'fp8_ds_mla'"
    assert problems[1].hint == "did you mean 'fp8'?"


@pytest.mark.parametrize(
    ("model", "loc", "expected"),
    [
        (Profile, ("node",), "drive"),
        (Profile, ("guidance", "gpus"), "low"),
        (ModelSpec, ("groups", 0, "latent"), "latent_dim"),
        (ModelSpec, (), "groups"),
    ],
)
def test_known_keys_follow_the_path(model: type[Record], loc: Loc, expected: str) -> None:
    assert expected in known_keys(model, loc)


def test_a_tag_leaves_only_its_branch() -> None:
    assert known_keys(ModelSpec, ("groups", 0, "latent")) == ("kind", "layers", "latent_dim", "rope_dim")
