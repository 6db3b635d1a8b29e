"""The generated reference pages say what the schema and the verbs say."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kvplan.schema.plan import Plan

if TYPE_CHECKING:
    from types import ModuleType

DOCS = Path(__file__).parents[3] / "docs"


def _generator() -> ModuleType:
    spec = spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


GENERATOR: Any = _generator()


@pytest.mark.parametrize("name", ["plan-format.md", "cli.md", "checks.md", "published-figures.md"])
def test_page_is_up_to_date(name: str) -> None:
    written = (DOCS / name).read_text(encoding="utf-8")
    assert GENERATOR.PAGES[name]() == written, f"docs/{name} is out of date: run `make docs` and review it"


def test_every_section_of_the_plan_is_described() -> None:
    page = GENERATOR.plan_page()
    assert [name for name in Plan.model_fields if f"`{name}" not in page] == []
    assert "`profile.usable_bytes` | integer | B |" in page


def test_a_field_without_a_meaning_is_refused() -> None:
    with pytest.raises(KeyError, match=r"format_version: say what it means in docs/plan-meanings\.yaml"):
        list(GENERATOR.field_rows(Plan, {}))


def test_every_verb_is_described() -> None:
    page = GENERATOR.cli_page()
    for verb in ("size", "kv", "ece", "explain", "diff", "catalogue list", "catalogue backends", "catalogue add"):
        assert f"\n## kvplan {verb}\n" in page
