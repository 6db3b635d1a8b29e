"""The journal: appended to, read in spite of a torn line, and what it says of each phase."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kvplan.deploy.journal import Entry, Hashes, Journal, accepted, now, phase_states, status
from kvplan.deploy.phases import PHASES, Phase
from kvplan.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

BY, LATER = Hashes("p1", "s1", "t1"), Hashes("p2", "s1", "t2")
HOSTS = {"base": ("h1", "h2"), "storage": ("h1",)}


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """Give a journal whose clock stands still."""
    return Journal(tmp_path / "journal.jsonl", clock=lambda: "2026-11-30T12:00:00Z")


@pytest.fixture
def playbooks(tmp_path: Path) -> Path:
    """Give playbooks of two phases."""
    for name in ("base", "storage"):
        (tmp_path / f"{name}.yml").touch()
    return tmp_path


def begin(journal: Journal, hashes: Hashes = BY) -> None:
    """Open a run."""
    journal.write(Entry("accepted", "r1", hashes, hosts=HOSTS))


def step(journal: Journal, step_: str, host: str, phase: str = "base", hashes: Hashes = BY) -> None:
    """Write down a step of a host."""
    journal.write(Entry(step_, "r1", hashes, phase, host, "why" if step_ == "failed" else ""))  # type: ignore[arg-type]


def states(journal: Journal, playbooks: Path, hashes: Hashes = BY) -> dict[str, str]:
    """Return the state of each phase."""
    return {found.name: found.state for found in phase_states(journal.entries(), PHASES, HOSTS, playbooks, hashes)}


def test_what_is_written_is_read(journal: Journal) -> None:
    begin(journal)
    step(journal, "failed", "h1")
    first, second = journal.entries()
    assert first.hosts == {"base": ["h1", "h2"], "storage": ["h1"]}
    assert (second.step, second.hashes, second.message, second.at) == ("failed", BY, "why", "2026-11-30T12:00:00Z")
    assert journal.path.stat().st_mode & 0o777 == 0o600


def test_nothing_is_read_where_there_is_no_journal(journal: Journal) -> None:
    assert journal.entries() == ()
    assert accepted(journal.entries()) is None


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_torn_line_loses_itself_alone(journal: Journal, cut: int) -> None:
    begin(journal)
    step(journal, "ok", "h1")
    step(journal, "ok", "h2")
    journal.path.write_bytes(journal.path.read_bytes()[:-cut])
    step(journal, "started", "h2", "storage")
    assert [entry.host for entry in journal.entries()] == ["", "h1", *(["h2"] if cut == 1 else []), "h2"]


def test_a_later_format_is_refused(journal: Journal) -> None:
    begin(journal)
    line = json.loads(journal.path.read_text())
    journal.path.write_text(json.dumps({**line, "v": 2}) + "\n")
    with pytest.raises(InputError, match="has format 2, this kvplan reads 1"):
        journal.entries()


def test_a_journal_that_is_in_the_way_is_named(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with pytest.raises(InputError, match="cannot be read: is a directory"):
        journal.entries()
    with pytest.raises(InputError, match="cannot be written: is a directory"):
        begin(journal)


def test_a_phase_is_what_its_worst_host_is(journal: Journal, playbooks: Path) -> None:
    assert states(journal, playbooks)["base"] == "open"
    step(journal, "started", "h1")
    step(journal, "started", "h2")
    assert states(journal, playbooks)["base"] == "unfinished"
    step(journal, "ok", "h1")
    assert states(journal, playbooks)["base"] == "unfinished"
    step(journal, "failed", "h2")
    assert states(journal, playbooks)["base"] == "failed"
    step(journal, "started", "h2")
    step(journal, "ok", "h2")
    assert states(journal, playbooks) == {**dict.fromkeys(states(journal, playbooks), "open"), "base": "done"}


@pytest.mark.parametrize("changed", ["plan", "site", "tree"])
def test_what_was_done_by_other_hashes_is_stale(journal: Journal, playbooks: Path, changed: str) -> None:
    for host in HOSTS["base"]:
        step(journal, "ok", host)
    assert states(journal, playbooks)["base"] == "done"
    assert states(journal, playbooks, BY._replace(**{changed: "other"}))["base"] == "stale"


def test_a_limited_phase_is_not_done(journal: Journal, playbooks: Path) -> None:
    step(journal, "ok", "h1")
    assert states(journal, playbooks)["base"] == "open"


def test_status_names_what_comes_next(journal: Journal, playbooks: Path) -> None:
    assert status((), PHASES, playbooks).next_phase == "base"
    begin(journal)
    for host in HOSTS["base"]:
        step(journal, "ok", host)
    found = status(journal.entries(), PHASES, playbooks, running="process 1")
    assert (found.next_phase, found.plan_sha256, found.running) == ("storage", "p1", "process 1")
    begin(journal, LATER)
    assert status(journal.entries(), PHASES, playbooks).next_phase == "base"
    assert accepted(journal.entries()) == LATER


def test_status_of_everything_done_has_no_next(journal: Journal, playbooks: Path) -> None:
    begin(journal)
    for phase, hosts in HOSTS.items():
        for host in hosts:
            step(journal, "ok", host, phase)
    found = status(journal.entries(), [phase for phase in PHASES if phase.name in HOSTS], playbooks)
    assert found.next_phase == ""


def test_time_is_utc() -> None:
    assert now().endswith("Z")
    assert isinstance(PHASES[0], Phase)
