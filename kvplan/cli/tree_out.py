"""A tree of files on disk: written file by file, compared file by file, and nothing else touched."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager, suppress
from difflib import unified_diff
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from kvplan.errors import InputError, Problem
from kvplan.inputs.files import make_directory, write_atomically
from kvplan.site.tree import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from kvplan.site.tree import File

_LEFTOVER: Final = ".kvplan-*.tmp"
"""A file that a killed run was writing."""


class Change(NamedTuple):
    """One file that is not as it would be written: what happens to it, and what that changes as a unified diff."""

    kind: Literal["new", "changed", "removed", "mode"]
    path: str
    diff: str


def write_tree(tree: Mapping[str, File], directory: Path) -> tuple[Change, ...]:
    """Bring a directory to the state of a tree: the manifest last, so that an interrupted run is seen as one.

    Files of an earlier run that are no longer made are removed where they are as that run left them. All else in the
    directory, such as `.git`, stays as it is.

    Parameters
    ----------
    tree
        The files by path.
    directory
        Where they go; made when it is absent.

    Returns
    -------
    tuple of Change
        What was changed.

    Raises
    ------
    InputError
        When the directory holds files but no manifest, something in it stands in the way or cannot be read or
        written, or another run is writing it.
    """
    with _system_errors(directory), _alone(directory):
        found = changes(tree, directory)
        for change in found:
            if change.kind == "removed":
                _remove(directory / change.path, directory)
            elif change.path != MANIFEST:
                _write(tree[change.path], directory / change.path)
        if any(change.path == MANIFEST for change in found):
            _write(tree[MANIFEST], directory / MANIFEST)
        _clean(directory, _folders(tree))
    return found


def changes(tree: Mapping[str, File], directory: Path) -> tuple[Change, ...]:
    """Compare a tree with a directory.

    Parameters
    ----------
    tree
        The files by path.
    directory
        Where they are or would go.

    Returns
    -------
    tuple of Change
        Each file that differs, in the order of paths.

    Raises
    ------
    InputError
        When the tree could not be written there: the directory holds files but no manifest, or something stands in
        the way or cannot be read.
    """
    with _system_errors(directory):
        _refuse_strangers(tree, directory)
        return tuple(_changes(tree, directory))


def _changes(tree: Mapping[str, File], directory: Path) -> Iterator[Change]:
    """Yield each file that differs."""
    stale = {path for path in _earlier(directory) if path not in tree}
    for path in sorted({*tree, *stale}):
        target = directory / path
        before = target.read_bytes() if target.is_file() else None
        if path in stale:
            yield Change("removed", path, _diff(path, before, b""))
        elif before is None:
            yield Change("new", path, _diff(path, b"", tree[path].content))
        elif before != tree[path].content:
            yield Change("changed", path, _diff(path, before, tree[path].content))
        elif (mode := target.stat().st_mode & 0o777) != tree[path].mode:
            yield Change("mode", path, f"{path}: mode {mode:04o}, {tree[path].mode:04o} wanted\n")


@contextmanager
def _system_errors(directory: Path) -> Iterator[None]:
    """Turn what the system refuses into an error that names the file."""
    try:
        yield
    except OSError as error:
        what = f"cannot be read or written: {(error.strerror or str(error)).lower()}"
        raise InputError.single(str(error.filename or directory), what) from error


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Keep other runs out of the directory while this one writes it; the lock ends with the process."""
    import fcntl

    _refuse_a_file(directory)
    make_directory(directory)
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise InputError.single(str(directory), "is being written by another run", hint="wait for it") from error
    except OSError:  # a file system without locks
        pass
    try:
        yield
    finally:
        os.close(descriptor)


def _earlier(directory: Path) -> Iterator[str]:
    """Yield the files that an earlier run wrote and nobody has changed since."""
    manifest = directory / MANIFEST
    if not manifest.is_file():
        return
    try:
        files = json.loads(manifest.read_text(encoding="utf-8"))["files"]
        known = {str(path): str(entry["sha256"]) for path, entry in files.items() if "\0" not in path}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError.single(str(manifest), "is no manifest", hint="remove it, or name another directory") from error
    for path, expected in known.items():
        target = directory / path
        if _in_place(path, directory) and target.is_file() and sha256(target.read_bytes()).hexdigest() == expected:
            yield path


def _refuse_a_file(directory: Path) -> None:
    """Refuse what is there and is no directory."""
    if directory.exists() and not directory.is_dir():
        raise InputError.single(str(directory), "is not a directory")


def _refuse_strangers(tree: Mapping[str, File], directory: Path) -> None:
    """Refuse a directory that is not kvplan's, and whatever stands in the way in it."""
    _refuse_a_file(directory)
    if directory.is_dir() and not (directory / MANIFEST).is_file():
        # A run that was interrupted left folders of the tree, and no manifest.
        folders = _folders(tree)
        strangers = sorted(
            entry.name for entry in directory.iterdir() if not entry.name.startswith(".") and entry.name not in folders
        )
        if strangers:
            what = f"holds files that are not kvplan's: {', '.join(strangers[:3])}"
            raise InputError.single(str(directory), what, hint="name an empty directory, or one that render wrote")
    above = sorted({parent for path in tree for parent in map(str, PurePosixPath(path).parents) if parent != "."})
    problems = [
        *(problem for path in above if (problem := _in_the_way(path, directory, folder=True))),
        *(problem for path in tree if (problem := _in_the_way(path, directory, folder=False))),
    ]
    if problems:
        raise InputError(problems)


def _folders(tree: Mapping[str, File]) -> set[str]:
    """Return what stands at the top of a tree."""
    return {path.partition("/")[0] for path in tree}


def _in_the_way(path: str, directory: Path, *, folder: bool) -> Problem | None:
    """Say why a folder or a file of the tree cannot be where it belongs."""
    target = directory / path
    if not os.path.lexists(target):
        return None
    if target.is_symlink():
        return Problem(str(target), "leads elsewhere by a link", hint="remove the link")
    if folder:
        return None if target.is_dir() else Problem(str(target), "is not a directory")
    return None if target.is_file() else Problem(str(target), "is not a file, where one goes")


def _in_place(path: str, directory: Path) -> bool:
    """Tell whether a path is plain and stays where it says, with no link on the way."""
    return os.path.realpath(directory / path) == f"{os.path.realpath(directory)}/{path}"


def _remove(target: Path, directory: Path) -> None:
    """Remove a file, and the folders that are empty without it."""
    target.unlink()
    for folder in target.parents:
        if folder == directory:
            return
        with suppress(OSError):
            folder.rmdir()


def _clean(directory: Path, folders: set[str]) -> None:
    """Remove what a killed run was writing: nobody else writes here now."""
    for place in (directory.glob(_LEFTOVER), *((directory / folder).rglob(_LEFTOVER) for folder in folders)):
        for leftover in place:
            leftover.unlink()


def _write(file: File, target: Path) -> None:
    """Write one file with its mode."""
    make_directory(target.parent)
    write_atomically(target, file.content, mode=file.mode)


def _diff(path: str, before: bytes | None, after: bytes) -> str:
    """Write what changes in a file, as `git diff` would."""
    old, new = ((content or b"").decode(errors="replace").splitlines(keepends=True) for content in (before, after))
    return "".join(unified_diff(old, new, f"a/{path}", f"b/{path}"))
