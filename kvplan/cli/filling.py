"""Secrets put in for the marks in rendered files, on their way to where they are needed and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.deploy.secrets import read_secrets
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
    known = read_secrets({name: references.get(name, "") for name in wanted}, directory, vaults=False)
    return {path: PLACEHOLDER.sub(lambda match: known[match["name"]], text) for path, text in texts.items()}
