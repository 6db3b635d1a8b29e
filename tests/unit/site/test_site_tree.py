"""The tree of files: plain paths, each taken once; on disk whole or not at all, and nothing else touched."""

from __future__ import annotations

import fcntl
import json
import os
from typing import TYPE_CHECKING

import pytest

from kvplan.cli.tree_out import changes, write_tree
from kvplan.errors import InputError
from kvplan.inputs import files as files_module
from kvplan.site.tree import EXECUTABLE, MANIFEST, PRIVATE, File, tree_of

if TYPE_CHECKING:
    from pathlib import Path


def tree(**texts: str) -> dict[str, File]:
    """Make a tree of files `<name>/file`, with its manifest."""
    made = [File(f"{name}/file", text, PRIVATE if name == "private" else EXECUTABLE) for name, text in texts.items()]
    listed = {file.path: {"sha256": file.sha256, "mode": f"{file.mode:04o}"} for file in made}
    return tree_of((*made, File(MANIFEST, json.dumps({"files": listed}))))


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a/"])
def test_paths_that_are_not_plain_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match="is no plain path"):
        tree_of([File(path, "")])


def test_a_path_is_taken_once() -> None:
    with pytest.raises(ValueError, match="is written twice"):
        tree_of([File("a", "1"), File("a", "2")])


def test_files_are_written_with_their_modes(tmp_path: Path) -> None:
    found = write_tree(tree(private="secret place", run="#!/bin/sh\n"), tmp_path / "build")
    assert [change.kind for change in found] == ["new"] * 3
    assert (tmp_path / "build/private/file").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "build/run/file").stat().st_mode & 0o777 == 0o755
    assert write_tree(tree(private="secret place", run="#!/bin/sh\n"), tmp_path / "build") == ()


def test_what_changes_is_shown_as_a_patch_and_nothing_is_written(tmp_path: Path) -> None:
    write_tree(tree(a="one\n", b="two\n"), tmp_path)
    found = {change.path: change for change in changes(tree(a="one\nmore\n", c="three\n"), tmp_path)}
    assert {path: change.kind for path, change in found.items() if path != MANIFEST} == {
        "a/file": "changed",
        "b/file": "removed",
        "c/file": "new",
    }
    assert "+more\n" in found["a/file"].diff
    assert (tmp_path / "a/file").read_text() == "one\n"
    (tmp_path / "a/file").chmod(0o644)
    assert [(change.kind, change.path) for change in changes(tree(a="one\n", b="two\n"), tmp_path)] == [
        ("mode", "a/file")
    ]


def test_files_that_are_no_longer_made_go_unless_somebody_changed_them(tmp_path: Path) -> None:
    write_tree(tree(a="one\n", b="two\n", c="three\n"), tmp_path)
    (tmp_path / "c/file").write_text("mine")
    write_tree(tree(a="one\n"), tmp_path)
    assert not (tmp_path / "b/file").exists()
    assert (tmp_path / "c/file").read_text() == "mine"


def test_other_files_stay(tmp_path: Path) -> None:
    write_tree(tree(a="one\n"), tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "notes.txt").write_text("mine")
    write_tree(tree(b="two\n"), tmp_path)
    assert (tmp_path / ".git").is_dir()
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_directory_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match=r"not kvplan's: thesis\.tex"):
        write_tree(tree(a="one\n"), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["thesis.tex"]


def test_a_file_for_a_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "build").write_text("x")
    with pytest.raises(InputError, match="is not a directory"):
        write_tree(tree(a="one\n"), tmp_path / "build")


def test_links_that_lead_out_are_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    build = tmp_path / "build"
    build.mkdir()
    (build / "a").symlink_to(outside)
    with pytest.raises(InputError, match="leads elsewhere by a link; remove the link"):
        write_tree(tree(a="one\n"), build)
    assert list(outside.iterdir()) == []


def test_a_directory_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a/file").mkdir(parents=True)
    with pytest.raises(InputError, match="is not a file, where one goes"):
        write_tree(tree(a="one\n"), tmp_path)


def test_a_link_to_another_file_of_the_tree_is_refused(tmp_path: Path) -> None:
    write_tree(tree(a="one\n", b="two\n"), tmp_path)
    (tmp_path / "a/file").unlink()
    (tmp_path / "a/file").symlink_to(tmp_path / MANIFEST)
    manifest = (tmp_path / MANIFEST).read_text()
    with pytest.raises(InputError, match="leads elsewhere by a link"):
        write_tree(tree(a="one\n", b="two\n"), tmp_path)
    assert (tmp_path / MANIFEST).read_text() == manifest


def test_a_link_to_itself_and_a_pipe_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/file").symlink_to("file")
    (tmp_path / "b").mkdir()
    os.mkfifo(tmp_path / "b/file")
    with pytest.raises(InputError, match=r"(?s)a/file: leads elsewhere.*b/file: is not a file"):
        write_tree(tree(a="one\n", b="two\n"), tmp_path)


def test_a_file_in_the_place_of_a_folder_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("")
    with pytest.raises(InputError, match=r"b: is not a directory"):
        write_tree(tree(a="one\n", b="two\n"), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_what_cannot_be_written_is_refused_in_comparing_too(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match=r"not kvplan's: thesis\.tex"):
        changes(tree(a="one\n"), tmp_path)
    with pytest.raises(InputError, match="is not a directory"):
        changes(tree(a="one\n"), tmp_path / "thesis.tex")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tree(a="one\n"), tmp_path)

    def refused(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(type(tmp_path), "read_bytes", refused)
    with pytest.raises(InputError, match=r"a/file: cannot be read or written: permission denied"):
        changes(tree(a="two\n"), tmp_path)


def test_folders_go_with_their_last_file(tmp_path: Path) -> None:
    write_tree(tree(a="one\n", b="two\n", c="three\n"), tmp_path)
    (tmp_path / "c/notes").write_text("mine")
    write_tree(tree(a="one\n"), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c", MANIFEST]


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    write_tree(tree(a="one\n"), tmp_path)
    for leftover in (tmp_path / ".kvplan-1.tmp", tmp_path / "a/.kvplan-2.tmp"):
        leftover.write_text("half")
    assert write_tree(tree(a="one\n"), tmp_path) == ()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "file", MANIFEST]


def test_two_runs_do_not_write_at_once(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    with pytest.raises(InputError, match="is being written by another run; wait for it"):
        write_tree(tree(a="one\n"), tmp_path)
    os.close(descriptor)
    assert write_tree(tree(a="one\n"), tmp_path)


def test_a_file_system_without_locks_is_written_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    assert write_tree(tree(a="one\n"), tmp_path)


def test_a_manifest_that_is_none_is_said(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("[]")
    with pytest.raises(InputError, match="is no manifest"):
        write_tree(tree(a="one\n"), tmp_path)


def test_a_manifest_cannot_have_files_elsewhere_removed(tmp_path: Path) -> None:
    victim = File("x", "keep")
    (tmp_path / "victim").write_text("keep")
    build = tmp_path / "build"
    build.mkdir()
    entry = {"sha256": victim.sha256, "mode": "0644"}
    listed = dict.fromkeys(("../victim", str(tmp_path / "victim"), "a\x00b"), entry)
    (build / MANIFEST).write_text(json.dumps({"files": listed}))
    write_tree(tree(a="one\n"), build)
    assert (tmp_path / "victim").exists()


def test_an_interrupted_run_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = tmp_path / "build"
    whole = tree(a="one\n", b="two\n")
    real, count = files_module._replace, 0

    def interrupted(target: Path, content: bytes, mode: int | None) -> None:
        nonlocal count
        count += 1
        if count == 2:
            raise KeyboardInterrupt
        real(target, content, mode)

    monkeypatch.setattr(files_module, "_replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_tree(whole, build)
    monkeypatch.undo()
    assert not (build / MANIFEST).exists()
    write_tree(whole, build)
    assert (build / "b/file").read_text() == "two\n"
    assert tuple(changes(whole, build)) == ()
