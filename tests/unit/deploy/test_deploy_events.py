"""Events of ansible-runner as records: what is kept, what is said of a failure, and what to do about it."""

from __future__ import annotations

from typing import Any

import pytest

from kvplan.deploy.events import (
    MAX_MESSAGE,
    HostCounts,
    HostResult,
    PhaseEnded,
    Stats,
    TaskStarted,
    event_data,
    read_event,
)


def raw(event: str, **data: Any) -> dict[str, Any]:
    """Return an event as ansible-runner passes it on."""
    return {"event": event, "uuid": "u", "counter": 3, "stdout": "", "event_data": data}


def on(event: str, result: dict[str, Any], **more: Any) -> HostResult:
    """Read the end of a task on a host."""
    found = read_event(raw(event, host="h1", task="Look", role="base", duration=1.5, res=result, **more))
    assert isinstance(found, HostResult)
    return found


@pytest.mark.parametrize("event", ["verbose", "playbook_on_start", "runner_on_start", "runner_item_on_ok"])
def test_what_says_nothing_to_people_is_left_out(event: str) -> None:
    assert read_event(raw(event)) is None


def test_an_event_without_data_is_no_error() -> None:
    assert read_event({"event": "playbook_on_stats", "event_data": None}) == Stats({})


def test_a_task_is_named_with_its_role() -> None:
    assert read_event(raw("playbook_on_task_start", task="Look", role="base")) == TaskStarted("base : Look")
    assert read_event(raw("playbook_on_task_start", task="Look")) == TaskStarted("Look")


@pytest.mark.parametrize(
    ("event", "result", "outcome"),
    [
        ("runner_on_ok", {}, "ok"),
        ("runner_on_ok", {"changed": True}, "changed"),
        ("runner_on_skipped", {}, "skipped"),
        ("runner_on_failed", {"msg": "no"}, "failed"),
        ("runner_on_unreachable", {"msg": "no route"}, "unreachable"),
    ],
)
def test_outcomes(event: str, result: dict[str, Any], outcome: str) -> None:
    found = on(event, result)
    assert (found.host, found.task, found.seconds, found.outcome) == ("h1", "base : Look", 1.5, outcome)
    assert found.bad == (outcome in {"failed", "unreachable"})
    assert bool(found.message) == found.bad


def test_a_failure_that_is_ignored_is_none() -> None:
    for found in (
        on("runner_on_failed", {"msg": "no"}, ignore_errors=True),
        on("runner_on_unreachable", {"msg": "no", "ignored": True}),
    ):
        assert (found.outcome, found.bad, found.message, found.remedy) == ("ignored", False, "no", "")


def test_a_retry_counts() -> None:
    assert on("runner_retry", {"attempts": 3, "retries": 20}).message == "attempt 3 of 20"


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ({"msg": "rc 1", "stderr": "first\nmmcrcluster: no quorum\n"}, "rc 1: mmcrcluster: no quorum"),
        ({"msg": "no\n  disk"}, "no disk"),
        ({"msg": "same", "stderr": "same"}, "same"),
        ({"module_stderr": "Traceback\nValueError: x"}, "ValueError: x"),
        ({"msg": "items failed", "results": [{"failed": False}, {"failed": True, "msg": "drive 7"}]}, "drive 7"),
        ({"censored": "the output has been hidden"}, "hidden, because the task handles a secret; the log has no more"),
        ({}, ""),
    ],
)
def test_messages(result: dict[str, Any], message: str) -> None:
    assert on("runner_on_failed", result).message == message


def test_a_long_message_is_cut() -> None:
    assert len(on("runner_on_failed", {"msg": "x" * 5000}).message) == MAX_MESSAGE + 1


def test_a_module_says_what_to_do() -> None:
    assert on("runner_on_failed", {"msg": "no", "remedy": "insert it"}).remedy == "insert it"
    item = {"failed": True, "msg": "drive 7", "remedy": "replace it"}
    assert on("runner_on_failed", {"msg": "no", "results": [item]}).remedy == "replace it"
    told = on("runner_on_failed", {"msg": "no medium; insert it", "remedy": "insert it"})
    assert (told.message, told.remedy) == ("no medium", "insert it")
    findings = [{"found": "small", "remedy": "add"}, {"found": "full", "remedy": "clear"}, {"remedy": "add"}]
    assert on("runner_on_failed", {"msg": "no", "remedy": "add", "findings": findings}).remedy == "add; clear"
    assert "answers SSH" in on("runner_on_unreachable", {"msg": "no"}).remedy
    assert on("runner_on_failed", {"msg": "no"}).remedy == ""
    for full in (
        {"msg": "dd: error writing '/x': No space left on device"},
        {"msg": "no", "stderr": "No space left on device"},
    ):
        assert "make room" in on("runner_on_failed", full).remedy


def test_sums_name_every_host_that_took_part() -> None:
    data = {"ok": {"h1": 3}, "changed": {"h1": 1}, "failures": {"h2": 1}, "dark": {"h3": 1}, "processed": {"h4": 1}}
    found = read_event(raw("playbook_on_stats", **data))
    assert found == Stats(
        {"h1": HostCounts(3, 1), "h2": HostCounts(failed=1), "h3": HostCounts(unreachable=1), "h4": HostCounts()}
    )
    assert isinstance(found, Stats)
    assert [host for host, counts in found.hosts.items() if counts.bad] == ["h2", "h3"]


def test_events_are_plain_data() -> None:
    ended = PhaseEnded("base", True, 2.0, {"h1": HostCounts(ok=1)})  # noqa: FBT003
    assert event_data(ended) == {
        "event": "phase_ended",
        "phase": "base",
        "ok": True,
        "seconds": 2.0,
        "hosts": {"h1": {"ok": 1, "changed": 0, "failed": 0, "unreachable": 0}},
    }
