"""One run at a time; what a killed run left is found and cleared."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest

from kvplan.deploy import lock
from kvplan.errors import InputError


def test_a_second_run_is_refused_and_told_who_is_at_it(tmp_path: Path) -> None:
    with lock.alone(tmp_path) as scratch:
        assert scratch.stat().st_mode & 0o777 == 0o700
        held = lock.holder(tmp_path)
        assert held
        assert held.pid == os.getpid()
        with pytest.raises(InputError, match=f"is being deployed by process {os.getpid()} on "), lock.alone(tmp_path):
            pass
    assert not scratch.exists()
    assert lock.holder(tmp_path) is None


def test_nobody_holds_a_lock_that_is_not_there(tmp_path: Path) -> None:
    assert lock.holder(tmp_path / "none") is None


def test_a_lock_is_given_back_when_a_run_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), lock.alone(tmp_path):
        _ = 1 / 0
    with lock.alone(tmp_path) as scratch:
        assert scratch.is_dir()


@pytest.mark.parametrize("here", [True, False])
def test_the_next_run_removes_what_a_killed_run_of_this_machine_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, here: bool
) -> None:
    left = tmp_path / "left"
    left.mkdir()
    monkeypatch.setattr("socket.gethostname", lambda: "one")
    record = {"pid": 4, "host": "one" if here else "two", "since": "then", "scratch": str(left)}
    (tmp_path / lock.LOCK).write_text(json.dumps(record))
    assert lock.holder(tmp_path) is None
    with lock.alone(tmp_path):
        assert left.exists() is not here


def test_a_lock_with_nonsense_in_it_is_taken(tmp_path: Path) -> None:
    (tmp_path / lock.LOCK).write_text("{nonsense")
    with lock.alone(tmp_path):
        pass


def test_a_playbook_that_outlives_its_run_keeps_the_next_one_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "ORPHAN_SECONDS", 0.0)
    with (tmp_path / lock.TETHER_LOCK).open("w") as file:
        file.write("4711")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="still runs as process 4711"), lock.alone(tmp_path):
            pass
    with lock.alone(tmp_path):
        pass


def test_secrets_are_kept_off_disks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "_in_memory", lambda _: False)
    with pytest.raises(InputError, match="no file system in memory"), lock.alone(tmp_path):
        pass


def test_what_is_no_mounted_tmpfs_is_not_in_memory(tmp_path: Path) -> None:
    assert not lock._in_memory(str(tmp_path))
    assert lock._in_memory("/dev/shm") == Path("/dev/shm").is_dir()  # noqa: S108
