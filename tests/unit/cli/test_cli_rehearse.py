"""`kvplan rehearse` where no rack is raised: wrong input, machines that cannot carry one, and what is shown."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

import pytest
from example_sites import EXAMPLES

from kvplan.__main__ import main
from kvplan.rehearsal import needs
from kvplan.render.rehearse_view import rehearsed_view
from kvplan.render.text import view_text
from kvplan.schema.rehearsing import FaultRun, PhaseRun, Rehearsed, RunAgain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PLAN = str(EXAMPLES / "compact" / "plan.json")
PHASE = PhaseRun(name="preflight", seconds=12.0, ok=5, changed=0, failed=0, unreachable=0)
REHEARSED = Rehearsed(
    result="failed",
    nodes=6,
    seconds=3.2,
    phases=(PHASE,),
    faults=(
        FaultRun(fault="kill@base", struck=True, phase="base", exit_code=137, message="", overcome=True),
        FaultRun(fault="kill@verify", struck=False, phase="base", exit_code=0, message="", overcome=False),
        FaultRun(fault="sshd:s1@base", struck=True, phase="base", exit_code=7, message="", overcome=False),
        FaultRun(fault="link:s1:p0@base", struck=True, phase="base", exit_code=0, message="", overcome=True),
    ),
    second_run=RunAgain(result="ok", changed=2, phases=(PHASE,)),
    real=("OpenSSH",),
    simulated=("drives",),
)


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert [path.name for path in tmp_path.iterdir()] in ([], ["kv-rehearsal-0-left"])


def test_all_that_is_wrong_is_said_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = ["--phase", "bse", "--fault", "lnk:s1:p0", "--fault", "bmc:s1:license", "--format", "xml"]
    assert main(["rehearse", PLAN, *wrong]) == 3
    said = capsys.readouterr().err
    assert "no phase is called 'bse'" in said
    assert "no fault is called 'lnk'" in said
    assert "bmc has no fault 'license'" in said
    assert "'xml'" in said


def test_a_machine_that_cannot_carry_a_rack_says_all_that_it_lacks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(needs, "missing", lambda: ["not root: run it with sudo", "dnf is not installed"])
    assert main(["rehearse", PLAN]) == 3
    assert capsys.readouterr().err == (
        "error: this machine: not root: run it with sudo\n"
        "error: this machine: dnf is not installed\n"
        "hint: see docs/rehearse.md\n"
    )


@pytest.mark.parametrize("verb", ["status", "shell", "reset", "deploy"])
def test_a_rack_that_does_not_stand_is_not_found(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rehearse", verb]) == 3
    assert "no rehearsal stands" in capsys.readouterr().err


def test_what_a_killed_rehearsal_left_does_not_stand(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (directory / "kv-rehearsal-0-left").mkdir()
    assert main(["rehearse", "fault", "power:s1"]) == 3
    assert "no rehearsal stands" in capsys.readouterr().err


def test_how_it_went_is_shown() -> None:
    assert view_text(rehearsed_view(REHEARSED), width=80, color=False) == (
        "Deployment: failed\n"
        "Phase      Time  ok  changed  failed  unreachable\n"
        "─────────────────────────────────────────────────\n"
        "preflight  12 s   5        0       0            0\n"
        "\n"
        "Faults\n"
        "Fault            What became of it                      Phase  Exit code\n"
        "────────────────────────────────────────────────────────────────────────\n"
        "kill@base        the run failed, the next went on       base         137\n"
        "kill@verify      never struck: its moment did not come  base           0\n"
        "sshd:s1@base     the run failed, and so did the next    base           7\n"
        "link:s1:p0@base  the run stood it                       base           0\n"
        "\n"
        "Rehearsal\n"
        "  6 servers stood after 3.2 s\n"
        "  second run: ok, 2 changed, 12 s\n"
        "\n"
        "Ran for real\n"
        "  OpenSSH\n"
        "\n"
        "Was simulated\n"
        "  drives\n"
    )
