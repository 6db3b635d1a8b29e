"""Which files the tables come from: kvplan's own, then those of the user's directories, and one hash over all."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kvplan.catalogue.tables import CATALOGUE_VERSION, TABLES
from kvplan.errors import InputError, Problem, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

BUILT_IN = Path(__file__).parent
YAML_SUFFIXES = frozenset({".yaml", ".yml"})


@dataclass(frozen=True, slots=True)
class TableFile:
    """One file of a table; `layer` is 0 for kvplan's own and counts the user's directories, `stamp` tells changes."""

    table: str
    path: Path
    name: str
    layer: int
    stamp: tuple[int, int]


def table_files(user_dirs: Sequence[Path] = ()) -> tuple[TableFile, ...]:
    """List the files of all tables in a fixed order.

    Parameters
    ----------
    user_dirs
        Directories with the user's tables; later ones override earlier ones, all override kvplan's own.

    Returns
    -------
    tuple of TableFile
        kvplan's own first, then directory by directory, each in the order of the tables.

    Raises
    ------
    InputError
        When a directory is missing or holds a file that is no table, naming them all.
    """
    problems = [problem for directory in user_dirs for problem in _directory_problems(directory)]
    if problems:
        raise InputError(problems)
    own = (found for layer, directory in enumerate(user_dirs, start=1) for found in _files_in(directory, layer))
    return (*_built_in_files(), *own)


def digest(files: Iterable[TableFile]) -> str:
    """Hash the names and bytes of all table files, with the catalogue's version.

    Where a user's directory stands does not count, only what its tables are called and hold.
    """
    summed = hashlib.sha256(f"{CATALOGUE_VERSION}\n".encode())
    for file in files:
        content = file.path.read_bytes()
        # Neither directory nor its place in the list: the same tables give the same hash on every machine. The length
        # keeps two files from passing for one that joins them.
        summed.update(f"{min(file.layer, 1)} {file.name} {len(content)}\n".encode())
        summed.update(content)
    return summed.hexdigest()


@cache
def _built_in_files() -> tuple[TableFile, ...]:
    """List kvplan's own files once; they do not change under a running process."""
    return tuple(_files_in(BUILT_IN, 0))


def _files_in(directory: Path, layer: int) -> Iterator[TableFile]:
    """Yield the files of one directory, table by table: `<table>.yaml`, then `<table>/*.yaml` by name."""
    for table in TABLES:
        for path in (directory / f"{table}.yaml", *sorted((directory / table).glob("*.yaml"))):
            if path.is_file():
                status = path.stat()
                name = path.relative_to(directory).as_posix()
                yield TableFile(table, path, name, layer, (status.st_mtime_ns, status.st_size))


def _directory_problems(directory: Path) -> Iterator[Problem]:
    """Name what is wrong with a user's directory: not there, or with files that no table is called after."""
    if not directory.is_dir():
        what = "is not a directory" if directory.exists() else "does not exist"
        yield Problem(str(directory), what, allowed="a directory with catalogue tables")
        return
    for path in sorted(directory.iterdir()):
        if path.name.startswith("."):
            continue
        is_table = path.suffix == ".yaml" and path.stem in TABLES
        if path.is_file() and path.suffix in YAML_SUFFIXES and not is_table:
            yield _unknown(path, [f"{table}.yaml" for table in TABLES])
        if path.is_dir() and path.name not in TABLES and any(path.glob("*.y*ml")):
            yield _unknown(path, list(TABLES))


def _unknown(path: Path, names: list[str]) -> Problem:
    """Name a file or folder that no table is called after."""
    return Problem(
        str(path), "is no catalogue table", allowed=f"tables: {', '.join(TABLES)}", hint=did_you_mean(path.name, names)
    )
