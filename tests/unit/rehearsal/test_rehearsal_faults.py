"""Faults as they are written, when they strike, and what a course makes of them; without a rack."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest
from sites import deployment_of

from kvplan.deploy.events import HostResult, PhaseEnded, PhaseStarted, TaskStarted
from kvplan.errors import InputError
from kvplan.rehearsal import breaking
from kvplan.rehearsal.faults import KINDS, Armed, read_fault
from kvplan.rehearsal.rehearse import Course
from kvplan.rehearsal.running import Run
from kvplan.rehearsal.standing import SHARED, WORLD
from kvplan.twin.scale import planned

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kvplan.deploy.events import Event
    from kvplan.rehearsal.running import Deploying
    from kvplan.rehearsal.standing import Rehearsal

BASE = (
    PhaseStarted("base", "Prepare", ("s1",), 1.0),
    TaskStarted("base_time : Start"),
    HostResult("s1", "Start", "ok"),
)


class Rack:
    """Notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.plan = type("Plan", (), {"nodes": ("s1",)})

    def request(self, verb: str, what: str = "", **more: object) -> dict[str, dict[str, bool]]:
        """Take a request; every node is blank."""
        if what:
            self.asked.append((verb, what, *more.values()))
        return {"s1": {"blank": True}}


class Stood:
    """Stands in for a rehearsal: runs end as they were told to, after the events of phase base."""

    def __init__(self, *codes: int) -> None:
        self.rack, self.devices = Rack(), Rack()
        self.codes = list(codes)
        self.options: list[tuple[str, ...]] = []
        self.without: list[tuple[str, ...]] = []

    def deploy(self, tell: Callable[[Event, Deploying], None], *more: str, without: tuple[str, ...] = ()) -> Run:
        """Deploy."""
        self.options.append(more)
        self.without.append(without)
        code = self.codes.pop(0)
        killed = cast("Deploying", type("Killed", (), {"kill": lambda _: self.rack.asked.append(("killed",))})())
        for event in (*BASE, PhaseEnded("base", code == 0, 1.0, {})):
            tell(event, killed)
        phase = {"name": "base", "seconds": 1.0, "ok": 1, "changed": 3, "failed": 0, "unreachable": 0}
        return Run(code, {"phases": [phase]}, "error: it failed\n" if code else "")


def course(stood: Stood, last: str | None = None) -> Course:
    return Course(cast("Rehearsal", stood), lambda _: None, last)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lnk:s1:p0", "no fault is called 'lnk'; link:DEVICE:PORT"),
        ("link:s1", "'link:s1' is incomplete; link:DEVICE:PORT"),
        ("link::p0", "is incomplete"),
        ("kill:s1", "is incomplete; kill"),
        ("bmc:s1:license", "bmc has no fault 'license'; busy, sessions, override, licence; did you mean 'licence'?"),
        ("power:s1@stroage", "no phase is called 'stroage'"),
        ("power:s1@", "no phase is called ''"),
    ],
)
def test_what_is_written_wrong_is_said(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_fault(text)
    assert said in str(caught.value).replace(" did you mean 'link'?", "")


def test_every_kind_can_be_written() -> None:
    for name, kind in KINDS.items():
        text = kind.form.replace("WHAT", (*kind.details, "")[0])
        assert read_fault(f"{text}@base").kind == name


@pytest.mark.parametrize(
    ("text", "struck_after"),
    [("power:s1@base", 0), ("power:s1@base/Start", 1), ("power:s1@base/Stop", None), ("power:s1@storage", None)],
)
def test_a_fault_waits_for_its_moment(text: str, struck_after: int | None) -> None:
    stood = Stood()
    armed = Armed(cast("Rehearsal", stood), read_fault(text))
    struck = []
    for event in BASE:
        armed(event, cast("Deploying", None))
        struck.append(armed.struck)
    assert (struck.index(True) if True in struck else None) == struck_after
    armed.mend()
    assert stood.devices.asked == ([("power", "s1", "off"), ("power", "s1", "on")] if armed.struck else [])


def test_a_run_that_a_fault_ended_is_gone_on_with() -> None:
    stood = Stood(7, 0)
    told = course(stood, "base")
    run = told.deploy([read_fault("link:s1:p0@base")])
    assert stood.options == [("--to", "base"), ("--to", "base", "--resume")]
    assert stood.rack.asked == [("cut", "link:s1:p0"), ("restore", "link:s1:p0")]
    result = told.result(run, 1.0, None, None)
    assert result.result == "ok"
    assert [(held.exit_code, held.message, held.phase, held.overcome) for held in result.faults] == [
        (7, "error: it failed", "base", True)
    ]


def test_the_next_fault_strikes_the_run_that_goes_on() -> None:
    stood = Stood(137, 0)
    told = course(stood)
    run = told.deploy([read_fault("kill@base"), read_fault("link:s1:p0@base")])
    assert stood.rack.asked == [("killed",), ("cut", "link:s1:p0"), ("restore", "link:s1:p0")]
    assert [(held.exit_code, held.overcome) for held in told.result(run, 1.0, None, None).faults] == [
        (137, True),
        (0, True),
    ]


def test_a_failure_that_no_fault_made_is_not_gone_on_with() -> None:
    stood = Stood(7)
    told = course(stood)
    run = told.deploy([read_fault("link:s1:p0@storage")])
    result = told.result(run, 1.0, None, None)
    assert (result.result, result.message) == ("failed", "error: it failed")
    assert [(held.struck, held.overcome) for held in result.faults] == [(False, False)]


def test_a_missing_secret_is_a_missing_variable() -> None:
    stood = Stood(3, 0)
    told = course(stood)
    told.deploy([read_fault("secret:switch_password")])
    assert stood.without == [("KV_REHEARSAL_SWITCH_PASSWORD",), ()]


def test_a_further_run_that_changes_something_is_a_failure() -> None:
    stood = Stood(0, 0)
    told = course(stood)
    run = told.deploy()
    again = told.again("--check")
    assert stood.options[-1] == ("--check",)
    assert (again.result, again.changed) == ("ok", 3)
    assert told.result(run, 1.0, again, None).result == "failed"


def test_a_controller_is_troubled_until_it_is_mended() -> None:
    stood = cast("Any", Stood())
    breaking.trouble_controller(stood, "s1", "busy")
    breaking.calm_controller(stood, "s1", "busy")
    breaking.trouble_switch(stood, "leaf", "bgp")
    breaking.calm_switch(stood, "leaf", "bgp")
    assert stood.devices.asked == [
        ("bmc", "s1", "busy", 1_000_000),
        ("bmc", "s1", ""),
        ("switch", "leaf", "bgp"),
        ("switch", "leaf", ""),
    ]


@pytest.mark.parametrize("what", breaking.DRIVE)
def test_a_spoilt_drive_is_replaced_by_the_planned_one(what: str, tmp_path: Path) -> None:
    shared = tmp_path / SHARED
    shared.mkdir()
    state = planned.prepared(shared, deployment_of(8)).path / "state.json"
    first = state.read_text(encoding="utf-8")
    (tmp_path / WORLD).write_text(first, encoding="utf-8")
    stood = cast("Any", type("Stood", (), {"directory": tmp_path, "scale": shared / planned.STATE}))
    breaking.spoil_drive(stood, "storage-001", what)
    assert state.read_text(encoding="utf-8") != first
    breaking.replace_drive(stood, "storage-001", what)
    assert json.loads(state.read_text(encoding="utf-8")) == json.loads(first)
