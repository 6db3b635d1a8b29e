"""Where the files are that kvplan brings along: profiles, playbooks, templates.

In a checkout they stand beside the package; in an installed wheel they are inside it, under `_data`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from kvplan.errors import InputError
from kvplan.settings import DATA_DIR_VARIABLE, Settings

_PACKAGE = Path(str(files("kvplan")))


def profiles_dir() -> Path:
    """Return the directory of the profiles that kvplan brings along."""
    return _data_dir("profiles")


def playbooks_dir() -> Path:
    """Return the directory of the playbooks."""
    return _data_dir("playbooks")


def templates_dir() -> Path:
    """Return the directory of the templates."""
    return _data_dir("templates")


def _data_dir(name: str) -> Path:
    """Find one directory: where the environment says, else in the checkout, else in the wheel."""
    override = Settings.from_environment().data_dir
    if override is None:
        return _own_dir(name)
    chosen = override / name
    if not chosen.is_dir():
        raise InputError.single(
            DATA_DIR_VARIABLE, f"{str(override)!r} has no directory {name!r}", hint="unset it to use kvplan's own files"
        )
    return chosen


@cache
def _own_dir(name: str) -> Path:
    """Find one of kvplan's own directories; they do not move while it runs."""
    in_checkout = _PACKAGE.parent / name
    return in_checkout if in_checkout.is_dir() else _PACKAGE / "_data" / name
