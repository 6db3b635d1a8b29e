"""Whole trees: equal from run to run, golden in both dialects, and without an error by any rule."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import yaml
from designs import plan_of
from example_sites import EXAMPLES, example_plan
from sites import NEW, OLD, deployment_of

from kvplan.api import deployment
from kvplan.checks.framework import Context
from kvplan.checks.registry import all_checks
from kvplan.checks.runner import examine
from kvplan.inputs.files import read_yaml
from kvplan.inputs.validation import validate
from kvplan.schema.site.site import Site
from kvplan.site.render import render_tree, rendered_tree
from kvplan.site.tree import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable

DIALECTS = {"old": OLD, "new": NEW}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("nodes", [4, 8])
def test_golden(nodes: int, dialect: str, golden: Callable[[str, str], None]) -> None:
    # Files name the Plan that they are from, and its hash is that of the catalogue's day.
    held = replace(deployment_of(nodes, DIALECTS[dialect]), plan_sha256="0" * 64)
    lines = (f"{file.sha256[:16]} {file.mode:04o} {path}\n" for path, file in render_tree(held).items())
    golden(f"site/trees/{nodes}-{dialect}.txt", "".join(line for line in lines if MANIFEST not in line))


@pytest.mark.parametrize("nodes", [4, 8, 16])
def test_equal_input_gives_equal_bytes(nodes: int) -> None:
    site = deployment_of(nodes).site
    again = deployment(plan_of(nodes), Site.model_validate_json(site.model_dump_json()))
    assert rendered_tree(again) == rendered_tree(deployment_of(nodes))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("nodes", [4, 8, 16, 64])
def test_no_rule_finds_an_error(nodes: int, dialect: str) -> None:
    held = deployment_of(nodes, DIALECTS[dialect])
    report = examine(Context(held, lambda: rendered_tree(held)), all_checks(), plan="plan.json")
    assert report.not_run == ()
    assert [finding for finding in report.findings if finding.severity == "error"] == []


@pytest.mark.parametrize("name", ["reference", "compact"])
def test_no_rule_finds_an_error_in_an_example(name: str) -> None:
    held = deployment(example_plan(name), validate(Site, read_yaml(EXAMPLES / name / "site.yaml")))
    report = examine(Context(held, lambda: rendered_tree(held)), all_checks(), plan="plan.json")
    assert [finding for finding in report.findings if finding.severity == "error"] == []


def test_every_yaml_file_is_read() -> None:
    tree = rendered_tree(deployment_of(8))
    files = [path for path in tree if path.endswith((".yaml", ".yml", "user-data"))]
    assert len(files) > 60
    assert all(list(yaml.load_all(tree[path], yaml.CSafeLoader)) for path in files)


def test_every_file_ends_with_a_line_and_has_no_carriage_return() -> None:
    for path, text in rendered_tree(deployment_of(4)).items():
        assert text == "" or text.endswith("\n"), path
        assert "\r" not in text, path
