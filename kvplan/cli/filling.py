"""Secrets put in for the marks in rendered files, on their way to where they are needed and nowhere else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kvplan.errors import InputError, Problem, Problems
from kvplan.site.secrets import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def filled(texts: Mapping[str, str], references: Mapping[str, str], directory: Path) -> dict[str, str]:
    """Put secrets in for their marks.

    Parameters
    ----------
    texts
        Rendered files by path.
    references
        Where each secret is, by name.
    directory
        Where `file:` begins: the Site's own directory.

    Returns
    -------
    dict of str
        The files without marks.

    Raises
    ------
    InputError
        With every secret that is not there; a vault is opened by deploying only.
    """
    wanted = {match["name"] for text in texts.values() for match in PLACEHOLDER.finditer(text)}
    problems = Problems()
    known: dict[str, str] = {}
    for name in sorted(wanted):
        with problems.kept():
            known[name] = _secret(name, references.get(name, ""), directory)
    problems.raise_any()
    return {path: PLACEHOLDER.sub(lambda match: known[match["name"]], text) for path, text in texts.items()}


def _secret(name: str, reference: str, directory: Path) -> str:
    """Read one secret; what is wrong is said without repeating anything of it."""
    from kvplan.inputs.files import read_text

    kind, _, place = reference.partition(":")
    if kind == "file":
        return read_text(directory / place).strip()
    if kind == "env":
        value = os.environ.get(place, "")
        if not value:
            raise InputError.single(where=f"secret {name}", what=f"the environment variable {place} is not set")
        return value
    what = "is in a vault, which only deploying opens" if kind == "vault" else "has no reference in the Site"
    raise InputError([Problem(f"secret {name}", what)])
