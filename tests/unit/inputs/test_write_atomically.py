"""Writing: whole or not at all."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from kvplan.errors import InputError
from kvplan.inputs.files import write_atomically

if TYPE_CHECKING:
    from pathlib import Path


def test_text_and_bytes_are_written(tmp_path: Path) -> None:
    write_atomically(tmp_path / "text", "\N{SNOWMAN}\n")
    write_atomically(tmp_path / "bytes", b"\0\1")
    assert (tmp_path / "text").read_bytes() == "\N{SNOWMAN}\n".encode()
    assert (tmp_path / "bytes").read_bytes() == b"\0\1"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["bytes", "text"]


def test_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "new", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_mode_and_link_of_an_existing_file_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "plan.json", tmp_path / "link.json"
    target.write_text("old", encoding="utf-8")
    target.chmod(0o600)
    link.symlink_to(target)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "plan.json"
    target.write_text("old", encoding="utf-8")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match=r"plan\.json: cannot be written: no space left on device"):
        write_atomically(target, "new")
    assert target.read_text(encoding="utf-8") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["plan.json"]


def test_a_file_system_that_cannot_sync_directories_is_no_reason_to_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def only_files(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(22, "Invalid argument")
        real(descriptor)

    monkeypatch.setattr("os.fsync", only_files)
    write_atomically(tmp_path / "plan.json", "x")
    assert (tmp_path / "plan.json").read_text(encoding="utf-8") == "x"


def test_a_device_is_written_to_and_stays_one(tmp_path: Path) -> None:
    link = tmp_path / "sink"
    link.symlink_to("/dev/null")
    write_atomically(link, "x")
    assert link.is_char_device()


def test_a_directory_and_a_missing_directory_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"\.: is a directory, not a file"):
        write_atomically(".", "x")
    with pytest.raises(InputError, match=r"out/plan\.json: cannot be written: there is no directory 'out'"):
        write_atomically("out/plan.json", "x")


def test_a_directory_that_may_not_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.open", refuse)
    with pytest.raises(InputError, match=r"plan\.json: cannot be written: permission denied"):
        write_atomically(tmp_path / "plan.json", "x")
