"""The list of checks: ids, pages, the rules of the parts, and how checks are named."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from checking import context_with
from site_changes import put

from kvplan.checks import parts
from kvplan.checks.design_groups import GROUPS
from kvplan.checks.framework import Check, Found
from kvplan.checks.page import checks_page
from kvplan.checks.registry import all_checks, check_of, matching, own_checks
from kvplan.checks.runner import examine
from kvplan.errors import InputError
from kvplan.render.check_view import catalogue_page
from kvplan.schema.base import SEVERITIES
from kvplan.schema.checking import CheckPage
from kvplan.schema.design import Finding
from kvplan.site import inference
from kvplan.site.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kvplan.checks.framework import Context

ROOT = Path(__file__).parents[3]


def found_nothing(_: Context) -> Iterator[Found]:
    """Find nothing."""
    return iter(())


def check_that(check_id: str, **fields: Any) -> Check:
    """Return a check with texts that do not matter."""
    given: dict[str, Any] = {
        "severity": "error",
        "title": "t",
        "expected": "e",
        "remedy": "r",
        "manual": "m",
        "source": "s",
    }
    return Check(id=check_id, **{**given, "run": found_nothing, **fields})


def test_there_are_many() -> None:
    assert len(own_checks()) >= 45
    assert len(all_checks()) >= 60


def test_ids_are_given_once_and_have_one_form() -> None:
    ids = [check.id for check in all_checks()]
    assert [check_id for check_id, count in Counter(ids).items() if count > 1] == []
    assert [check_id for check_id in ids if not re.fullmatch(r"KV-[A-Z]{3}-\d{3}", check_id)] == []


def test_own_ids_are_counted_without_a_gap() -> None:
    areas: dict[str, list[str]] = {}
    for check in own_checks():
        areas.setdefault(check.area, []).append(check.id)
    assert list(areas) == ["SIT", "NET", "SEC", "REL", "CAP"]
    for area, ids in areas.items():
        assert ids == [f"KV-{area}-{number:03d}" for number in range(1, len(ids) + 1)]


@pytest.mark.parametrize("check", own_checks(), ids=lambda check: check.id)
def test_every_check_has_a_page(check: Check) -> None:
    subject, _, why = check.why.partition("\n\n")
    assert subject.endswith(".")
    assert why.endswith(".")
    assert check.severity in SEVERITIES
    assert not check.title.endswith(".")
    assert all(getattr(check.page, name) for name in CheckPage.model_fields)


def test_titles_differ() -> None:
    titles = Counter(check.title for check in own_checks())
    assert [title for title, count in titles.items() if count > 1] == []


def test_every_rule_of_the_design_is_in_one_group() -> None:
    page = (ROOT / "docs" / "design-rules.md").read_text(encoding="utf-8")
    rows = (line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
    listed = sorted(rule for row in rows for rule in re.findall(r"`([a-z-]+)`", row))
    grouped = sorted(rule for group in GROUPS.values() for rule in group)
    assert sorted((*grouped, "prefix-small")) == listed


def test_a_check_is_found_however_it_is_capitalised() -> None:
    assert check_of("kv-net-003").id == "KV-NET-003"


@pytest.mark.parametrize(
    ("given", "hint"),
    [("KV-NET-3", "did you mean 'KV-NET-0"), ("KV", "did you mean KV-SIT-001, "), ("foo", "lists them")],
)
def test_an_unknown_check_is_refused_with_a_guess(given: str, hint: str) -> None:
    with pytest.raises(InputError, match="is no check") as refused:
        check_of(given)
    assert hint in str(refused.value)


def test_patterns_mean_checks() -> None:
    assert matching([], "--skip") == frozenset()
    assert matching(["kv-sit-00?", "KV-NET-001"], "--skip") == {"KV-NET-001"} | {f"KV-SIT-00{n}" for n in range(1, 10)}


def test_every_pattern_without_a_check_is_named() -> None:
    with pytest.raises(InputError) as refused:
        matching(["KV-NET-01", "KV-SIT-*", "nothing"], "--skip")
    assert [problem.what for problem in refused.value.problems] == [
        "no check is called 'KV-NET-01'",
        "no check is called 'nothing'",
    ]


def test_the_rules_of_a_part_are_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def faults(_deployment: object, tree: dict[str, str]) -> Iterator[Finding]:
        asked.append(tree)
        yield Finding(id="KV-XYZ-001", severity="warning", where="a", text="is odd", remedy="mend it")
        yield Finding(id="KV-XYZ-002", severity="error", where="b", text="is wrong", remedy="mend that")

    rules = (Rule("KV-XYZ-001", "odd things.", iter, "warning"), Rule("KV-XYZ-002", "Wrong things.", iter))
    monkeypatch.setattr(inference, "ALL_RULES", rules)
    monkeypatch.setattr(inference, "some_faults", faults, raising=False)
    part = parts.Part("inference", "some_faults", "inference", "a manual")
    monkeypatch.setattr(parts, "PARTS", (part,))
    checks = [check for check in parts.part_checks() if check.needs == "tree"]
    report = examine(context_with(tree={"x": "y"}), checks, plan="plan.json")
    assert [(found.id, found.severity, found.where, found.what, found.remedy) for found in report.findings] == [
        ("KV-XYZ-002", "error", "b", "is wrong", "mend that"),
        ("KV-XYZ-001", "warning", "a", "is odd", "mend it"),
    ]
    assert [(check.title, check.severity) for check in checks] == [("Odd things", "warning"), ("Wrong things", "error")]
    assert asked == [{"x": "y"}]


@pytest.mark.parametrize(
    ("place", "change"),
    [
        (("versions", "vllm"), lambda data: data["versions"].update(vllm="0.33.0")),
        (("switches", 0, "cumulus"), lambda data: data["switches"][0].update(cumulus="5.7.0")),
    ],
)
def test_versions_are_judged_with_their_places(place: object, change: Callable[[dict[str, Any]], object]) -> None:
    checks = [check for check in parts.part_checks() if check.area == "VER"]
    found = [found for check in checks for found in check.run(context_with(change))]
    assert [entry for entry in found if entry.severity == "error"]
    assert place in [entry.loc for entry in found]


def test_nothing_is_rendered_while_a_machine_is_missing() -> None:
    def render() -> dict[str, str]:
        pytest.fail("the tree was rendered")

    context = context_with(lambda data: data["servers"].pop())
    object.__setattr__(context, "render", render)
    after = check_that("KV-XYZ-001", needs="tree", run=lambda context: iter(context.tree))
    report = examine(context, (*own_checks(), after), plan="plan.json")
    assert report.held_up_by == ("KV-SIT-001",)
    assert report.not_run == ("KV-SEC-007", "KV-XYZ-001")
    assert set(report.run).isdisjoint(report.not_run)


def test_nothing_is_rendered_either_where_that_is_not_to_be_heard_of() -> None:
    context = context_with(lambda data: data["build"].update(management={"host_ports": 0}))
    after = check_that("KV-XYZ-001", needs="tree")
    report = examine(context, (*own_checks(), after), plan="plan.json", skipped=frozenset(("KV-NET-020",)))
    assert "KV-NET-020" not in {finding.id for finding in report.findings}
    assert report.held_up_by == ("KV-NET-020",)
    assert report.not_run == ("KV-SEC-007", "KV-XYZ-001")


def test_live_checks_are_left_to_others() -> None:
    report = examine(context_with(), [check_that("KV-BMC-001", needs="live")], plan="plan.json")
    assert (report.run, report.skipped, report.not_run) == ((), (), ())


def test_equal_input_gives_an_equal_report() -> None:
    first, second = (
        examine(context_with(put("versions.vllm", "0.15.0")), own_checks(), plan="plan.json") for _ in range(2)
    )
    assert first == second
    assert first.findings


def test_the_page_lists_every_own_check_as_it_is() -> None:
    page = (ROOT / "docs" / "checks.md").read_text(encoding="utf-8")
    own = catalogue_page(check.page for check in own_checks())
    assert [row for row in own.splitlines() if row not in page.splitlines()] == []
    assert own.splitlines()[:3] == checks_page().splitlines()[:3]
