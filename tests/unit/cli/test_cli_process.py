"""What needs a process of its own: pipes, terminals, colour, signals and odd locales."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from kvplan.cli import console
from kvplan.errors import InputError
from kvplan.reference import PLAN
from kvplan.render.data import record_json

if TYPE_CHECKING:
    from pathlib import Path

KVPLAN = (sys.executable, "-m", "kvplan")
ECE = ("ece", "--nodes", "8", "--drives-per-node", "16", "--drive-tb", "7.68", "--code", "8+2P")
BYTES = [("network", "--format", "svg"), ("report",), ("bom", "--format", "xlsx")]
"""Verbs that write bytes as they are, with what follows the Plan."""
BOLD = "\x1b[1m"
DECIDING = ("FORCE_COLOR", "NO_COLOR", "TERM", "COLUMNS", "PYTHONIOENCODING", "PYTHONUTF8", "LC_ALL")


def environment(**changes: str) -> dict[str, str]:
    """Give this process's environment without what decides about the terminal, with changes."""
    return {name: value for name, value in os.environ.items() if name not in DECIDING} | changes


def on_a_terminal(*arguments: str, **changes: str) -> str:
    """Run kvplan with a pseudo-terminal as stdout and return what arrives there."""
    leader, follower = pty.openpty()
    process = subprocess.Popen((*KVPLAN, *arguments), stdout=follower, env=environment(**changes))
    os.close(follower)
    received = b""
    try:
        while chunk := os.read(leader, 65536):
            received += chunk
    except OSError:
        pass  # how Linux reports that the other end is closed
    os.close(leader)
    assert process.wait(timeout=20) == 0
    return received.decode()


@pytest.fixture
def plan_file(tmp_path: Path) -> str:
    path = tmp_path / "plan.json"
    path.write_text(record_json(PLAN), encoding="utf-8")
    return str(path)


def test_colour_on_a_terminal_and_none_in_a_pipe() -> None:
    assert BOLD in on_a_terminal(*ECE, TERM="xterm")
    piped = subprocess.run((*KVPLAN, *ECE), check=True, capture_output=True, text=True, env=environment(TERM="xterm"))
    assert "\x1b" not in piped.stdout
    assert piped.stderr == ""


def test_no_color_is_respected_on_a_terminal() -> None:
    assert "\x1b" not in on_a_terminal(*ECE, TERM="xterm", NO_COLOR="1")


@pytest.mark.parametrize(
    ("is_terminal", "variables", "expected"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"TERM": "dumb"}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (False, {"FORCE_COLOR": "1"}, True),
        (True, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_what_decides_about_colour(
    monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool, variables: dict[str, str], expected: bool
) -> None:
    for name in DECIDING:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: is_terminal)
    assert console.color() is expected


@pytest.mark.parametrize(("columns", "expected"), [("200", 80), ("50", 50), ("7", 40), ("", 80), ("x", 80)])
def test_the_width_follows_the_terminal_up_to_80(monkeypatch: pytest.MonkeyPatch, columns: str, expected: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert console.width() == expected


def test_a_reader_that_leaves_is_no_error() -> None:
    """As `kvplan ... | head -1` does; the table of models is longer than a pipe holds."""
    command = (*KVPLAN, "catalogue", "list", "models", "--format", "json")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.read(1) == b"{"
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=20) == 0


def opened_for_writing(pipe: Path, reader: subprocess.Popen[bytes]) -> int:
    """Open a pipe once its reader has; a plain open would wait for ever for a reader that has died."""
    for _ in range(1000):
        with contextlib.suppress(OSError):  # ENXIO: nobody reads yet
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        assert reader.poll() is None, "kvplan ended before it read"
        time.sleep(0.02)
    pytest.fail("kvplan never opened the pipe")


def interrupted(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Press Ctrl-C until the process ends: Python drops an interrupt that falls into a finaliser."""
    for _ in range(20):
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=1)
    process.kill()
    pytest.fail("kvplan does not end on Ctrl-C")


def test_interrupted_while_it_reads(tmp_path: Path) -> None:
    """The model file is a pipe: once it is open for writing, kvplan is reading, and Ctrl-C comes then."""
    pipe = tmp_path / "config.json"
    os.mkfifo(pipe)
    command = (*KVPLAN, "kv", "--model", str(pipe), "--context", "4k")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    descriptor = opened_for_writing(pipe, process)
    out, err = interrupted(process)
    os.close(descriptor)
    assert (process.returncode, out, err) == (130, b"", b"interrupted\n")


def test_a_terminal_that_knows_ascii_only() -> None:
    variables = environment(LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    result = subprocess.run((*KVPLAN, *ECE), check=True, capture_output=True, env=variables)
    assert result.stdout.isascii()
    assert re.search(rb"Limit +Need +Have +Margin\n-----", result.stdout)
    assert result.stderr == b""


def test_a_page_is_utf_8_whatever_the_terminal_knows(plan_file: str) -> None:
    day = {"SOURCE_DATE_EPOCH": "1764460800"}
    locales = environment(**day), environment(**day, LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    command = (*KVPLAN, "report", plan_file)
    usual, ascii_only = (subprocess.run(command, check=True, capture_output=True, env=env).stdout for env in locales)
    assert ascii_only == usual
    assert not usual.isascii()
    assert usual.decode().startswith("<!DOCTYPE html>")


def test_bytes_come_after_the_text_before_them(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(pipe, encoding="ascii"))
    console.out("a - ö\n")
    console.out_bytes("ö".encode())
    assert pipe.getvalue() == b"a - \\u00f6\n\xc3\xb6"


@pytest.mark.parametrize("text", ["größer 😀", "日本"])
def test_json_stays_json_where_the_encoding_cannot_hold_it(text: str) -> None:
    assert json.loads(console._encodable(json.dumps(text, ensure_ascii=False), "ascii")) == text


class Stdout(io.StringIO):
    """A stdout that fails as the system says."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def write(self, _: str) -> int:
        raise self.error


def test_what_stdout_refuses_is_an_error_of_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", Stdout(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
    with pytest.raises(InputError, match="stdout: cannot be written: no space left on device"):
        console.out("text")


def test_a_closed_pipe_is_left_to_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", Stdout(BrokenPipeError()))
    with pytest.raises(BrokenPipeError):
        console.out("text")


@pytest.mark.parametrize("verb", [ECE, *BYTES], ids=lambda verb: verb[0])
def test_a_full_disk_is_said_without_calling_it_a_defect(verb: tuple[str, ...], plan_file: str) -> None:
    command = (*KVPLAN, *verb) if verb is ECE else (*KVPLAN, verb[0], plan_file, *verb[1:])
    with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123 - a device, nothing to do with paths
        result = subprocess.run(command, check=False, stdout=full, stderr=subprocess.PIPE, env=environment())
    assert result.returncode == 3
    assert result.stderr == b"error: stdout: cannot be written: no space left on device\n"
