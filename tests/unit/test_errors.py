"""The tree of errors, the exit code of each, and what a person reads when one reaches the command line."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kvplan import __main__ as entry
from kvplan.cli import app
from kvplan.errors import (
    DeployFailedError,
    ExitCode,
    InputError,
    KvplanError,
    NoProfileFitsError,
    PlanStaleError,
    Problem,
    UsageError,
    did_you_mean,
)

CODES = {
    KvplanError: 1,
    UsageError: 2,
    InputError: 3,
    NoProfileFitsError: 4,
    DeployFailedError: 7,
    PlanStaleError: 8,
}


def raising(error: BaseException) -> object:
    """Give a command line that ends with an error."""

    def run(_: object) -> int:
        raise error

    return run


@pytest.mark.parametrize("kind", CODES, ids=lambda kind: kind.__name__)
def test_every_error_has_its_exit_code(
    kind: type[KvplanError], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = (
        InputError.single("--gpus", "is wrong", hint="try 8") if kind is InputError else kind("is wrong", hint="try")
    )
    monkeypatch.setattr(app, "run", raising(error))
    assert entry.main([]) == CODES[kind] == kind.exit_code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert "is wrong" in err


def test_the_tree_is_complete() -> None:
    # Packages above have errors of their own, which may have been imported before.
    own = {kind for kind in KvplanError.__subclasses__() if kind.__module__ == KvplanError.__module__}
    assert set(CODES) - {KvplanError} == own


def test_codes_are_those_of_the_design() -> None:
    """Design, section 1: 6 and 7 are for verbs to come."""
    assert [code.value for code in ExitCode] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 130]


def test_what_is_no_error_of_ours_is_called_a_defect(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(app, "run", raising(ZeroDivisionError("division by zero")))
    assert entry.main([]) == 1
    assert capsys.readouterr().err == (
        "error: unexpected ZeroDivisionError: division by zero\n"
        "hint: this is a defect of kvplan; run again with KVPLAN_DEBUG=1 and report what it prints\n"
    )


def test_a_traceback_is_shown_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVPLAN_DEBUG", "1")
    monkeypatch.setattr(app, "run", raising(ZeroDivisionError("division by zero")))
    with pytest.raises(ZeroDivisionError):
        entry.main([])


def test_interrupted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(app, "run", raising(KeyboardInterrupt()))
    assert entry.main([]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_every_problem_is_a_line_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    problems = (
        Problem("a.yaml:1:2", "is not known", key="nods", allowed="allowed: nodes", hint="did you mean 'nodes'?"),
        Problem("--gpus", "is missing"),
        Problem("", "nowhere in particular"),
    )
    monkeypatch.setattr(app, "run", raising(InputError(problems, hint="see the manual")))
    assert entry.main([]) == 3
    assert capsys.readouterr().err == (
        "error: a.yaml:1:2: nods: is not known; allowed: nodes; did you mean 'nodes'?\n"
        "error: --gpus: is missing\n"
        "error: nowhere in particular\n"
        "hint: see the manual\n"
    )


def test_close_matches() -> None:
    names = ["gpt-oss-120b", "gpt-oss-20b", "Llama-3.1-8B", "llama-3.1-70b", "llama-3.2-1b", "llama-3.2-3b"]
    assert did_you_mean("GPT-OSS-12b", names) == "did you mean 'gpt-oss-120b' or 'gpt-oss-20b'?"
    assert did_you_mean("llama-3.1-8", names).startswith("did you mean 'Llama-3.1-8B' or ")
    assert did_you_mean("llama-3", names).count("'") == 6
    assert did_you_mean("llama-3", names, limit=1).count("'") == 2
    assert did_you_mean("zzz", names) == did_you_mean("gpt", []) == ""


def test_importing_the_package_loads_no_library() -> None:
    code = "import sys, kvplan; print(*[name for name in ('pydantic', 'typer', 'yaml', 'rich') if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert result.stdout == "\n"
