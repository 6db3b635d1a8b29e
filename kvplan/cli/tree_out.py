"""A tree of files on disk: written file by file, compared file by file, and nothing else touched."""

from __future__ import annotations

import json
from difflib import unified_diff
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, NamedTuple

from kvplan.errors import InputError, Problem
from kvplan.inputs.files import make_directory, write_atomically
from kvplan.site.tree import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from kvplan.site.tree import File


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
        When the directory holds files but no manifest, or something in it stands in the way.
    """
    _refuse_strangers(tree, directory)
    found = tuple(changes(tree, directory))
    for change in found:
        target = directory / change.path
        if change.kind == "removed":
            target.unlink()
        elif change.path != MANIFEST:
            _write(tree[change.path], target)
    if any(change.path == MANIFEST for change in found):
        _write(tree[MANIFEST], directory / MANIFEST)
    return found


def changes(tree: Mapping[str, File], directory: Path) -> Iterator[Change]:
    """Compare a tree with a directory.

    Parameters
    ----------
    tree
        The files by path.
    directory
        Where they are or would go.

    Yields
    ------
    Change
        Each file that differs, in the order of paths.
    """
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
        elif target.stat().st_mode & 0o777 != tree[path].mode:
            yield Change(
                "mode", path, f"{path}: mode {target.stat().st_mode & 0o777:04o}, {tree[path].mode:04o} wanted\n"
            )


def _earlier(directory: Path) -> Iterator[str]:
    """Yield the files that an earlier run wrote and nobody has changed since."""
    manifest = directory / MANIFEST
    if not manifest.is_file():
        return
    try:
        files = json.loads(manifest.read_text(encoding="utf-8"))["files"]
        known = {str(path): str(entry["sha256"]) for path, entry in files.items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError.single(str(manifest), "is no manifest", hint="remove it, or name another directory") from error
    for path, expected in known.items():
        target = directory / path
        if _inside(target, directory) and target.is_file() and sha256(target.read_bytes()).hexdigest() == expected:
            yield path


def _refuse_strangers(tree: Mapping[str, File], directory: Path) -> None:
    """Refuse a directory that is not kvplan's, and links that lead out of it."""
    if directory.exists() and not directory.is_dir():
        raise InputError.single(str(directory), "is not a directory")
    if directory.is_dir() and not (directory / MANIFEST).is_file():
        # A run that was interrupted left folders of the tree, and no manifest.
        folders = {path.partition("/")[0] for path in tree}
        strangers = sorted(
            entry.name for entry in directory.iterdir() if not entry.name.startswith(".") and entry.name not in folders
        )
        if strangers:
            what = f"holds files that are not kvplan's: {', '.join(strangers[:3])}"
            raise InputError.single(str(directory), what, hint="name an empty directory, or one that render wrote")
    problems = [problem for path in tree if (problem := _in_the_way(directory / path, directory))]
    if problems:
        raise InputError(problems)


def _in_the_way(target: Path, directory: Path) -> Problem | None:
    """Say why a file cannot be written where it belongs."""
    if not _inside(target, directory):
        return Problem(str(target), "leads out of the directory by a link")
    return Problem(str(target), "is a directory, where a file goes") if target.is_dir() else None


def _inside(target: Path, directory: Path) -> bool:
    """Tell whether a path stays in a directory when its links are followed."""
    return target.resolve().is_relative_to(directory.resolve())


def _write(file: File, target: Path) -> None:
    """Write one file with its mode."""
    make_directory(target.parent)
    write_atomically(target, file.content, mode=file.mode)


def _diff(path: str, before: bytes | None, after: bytes) -> str:
    """Write what changes in a file, as `git diff` would."""
    old, new = ((content or b"").decode(errors="replace").splitlines(keepends=True) for content in (before, after))
    return "".join(unified_diff(old, new, f"a/{path}", f"b/{path}"))
