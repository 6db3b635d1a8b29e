"""The phases: their order, which there are, and how long they take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvplan.deploy.driver import limited
from kvplan.deploy.phases import PHASES, chosen, groups_in, phase
from kvplan.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

GROUPS = {
    "all": ("s1", "s2", "g1", "l1", "l2", "s1-bmc"),
    "storage": ("s1", "s2"),
    "gpu": ("g1",),
    "switches": ("l1", "l2"),
    "bmc": ("s1-bmc",),
}
HOSTS_YML = """\
all:
  children:
    storage: {hosts: {s1: {}, s2: {}}}
    switches:
      children:
        leaves: {hosts: {l1: {}}}
        spines: {hosts: null}
"""


@pytest.fixture
def playbooks(tmp_path: Path) -> Path:
    """Give playbooks of three phases."""
    for name in ("preflight", "base", "storage"):
        (tmp_path / f"{name}.yml").touch()
    return tmp_path


def names(playbooks: Path, **options: str) -> list[str]:
    """Return the names of chosen phases."""
    return [found.name for found in chosen(playbooks, **options)]


def test_the_order_is_that_of_the_design() -> None:
    expected = ["preflight", "switches", "provision", "base", "storage", "clients", "inference", "verify"]
    assert [found.name for found in PHASES] == expected
    assert [found.name for found in PHASES if found.destroys] == ["provision", "storage"]


def test_phases_with_a_playbook_are_chosen(playbooks: Path) -> None:
    assert names(playbooks) == ["preflight", "base", "storage"]
    assert names(playbooks, start="base") == ["base", "storage"]
    assert names(playbooks, only="base") == ["base"]
    assert names(playbooks, end="base") == ["preflight", "base"]
    assert names(playbooks, start="base", end="base") == ["base"]
    assert names(playbooks, start="storage", end="base") == []


@pytest.mark.parametrize("option", ["only", "start", "end"])
def test_what_cannot_be_chosen_is_said(playbooks: Path, option: str) -> None:
    with pytest.raises(InputError, match="phase verify has no playbook in this kvplan; preflight, base, storage"):
        chosen(playbooks, **{option: "verify"})
    with pytest.raises(InputError, match=r"no phase is called 'bse'.*did you mean 'base'"):
        chosen(playbooks, **{option: "bse"})


def test_no_playbook_at_all_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no playbook of any phase"):
        chosen(tmp_path)


def test_hosts_and_time() -> None:
    preflight, switches = phase("preflight", ""), phase("switches", "")
    assert preflight.hosts(GROUPS) == ("s1", "s2", "g1", "l1", "l2", "s1-bmc")
    one = switches.minutes["switches"].value
    assert switches.expected_minutes(GROUPS) == 2 * one
    assert preflight.expected_minutes(GROUPS) == max(constant.value for constant in preflight.minutes.values())
    assert switches.expected_minutes({}) == 0


def test_groups_hold_the_hosts_of_their_groups(tmp_path: Path) -> None:
    (tmp_path / "inventory").mkdir()
    (tmp_path / "inventory" / "hosts.yml").write_text(HOSTS_YML)
    assert groups_in(tmp_path) == {
        "storage": ("s1", "s2"),
        "leaves": ("l1",),
        "spines": (),
        "switches": ("l1",),
        "all": ("s1", "s2", "l1"),
    }


def test_a_limit_takes_hosts_and_groups_and_names_what_is_unknown() -> None:
    assert limited([], GROUPS) == frozenset()
    assert limited(["switches", "g1"], GROUPS) == {"l1", "l2", "g1"}
    with pytest.raises(InputError) as caught:
        limited(["storag", "x9"], GROUPS)
    assert len(caught.value.problems) == 2
    assert "did you mean 'storage'" in str(caught.value)
