"""The profiles: kvplan's own and whatever the user adds."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING

from kvplan.assets import profiles_dir
from kvplan.errors import InputError, Problem
from kvplan.inputs.files import read_yaml
from kvplan.inputs.validation import validate
from kvplan.schema.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_KEPT_PROFILES = 256


def load_profiles(user_dirs: Sequence[Path] = ()) -> tuple[Profile, ...]:
    """Read all profiles.

    Parameters
    ----------
    user_dirs
        Directories with the user's profiles, `*.yaml`; a profile with a known name replaces the one before it.

    Returns
    -------
    tuple of Profile
        From the smallest to the largest number of nodes they start with, then by name.

    Raises
    ------
    InputError
        With the problems of every profile that is wrong.
    """
    profiles: dict[str, Profile] = {}
    problems: list[Problem] = []
    own = profiles_dir()
    for directory in (own, *user_dirs):
        try:
            profiles |= _built_in(directory) if directory is own else _profiles_in(directory)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return tuple(sorted(profiles.values(), key=lambda profile: (profile.nodes.start, profile.name)))


@lru_cache(maxsize=1)
def _built_in(directory: Path) -> dict[str, Profile]:
    """Read the profiles that kvplan brings along once, for they do not change while it runs."""
    return _profiles_in(directory)


def _profiles_in(directory: Path) -> dict[str, Profile]:
    """Read the profiles of one directory by name."""
    profiles: dict[str, Profile] = {}
    problems: list[Problem] = []
    for file in _profile_files(directory):
        try:
            profile = _profile(file.path, file.stat().st_mtime_ns)
        except InputError as error:
            problems += error.problems
            continue
        if profile.name in profiles:
            problems.append(Problem(file.path, f"{profile.name!r} is given twice in this directory", key="name"))
        profiles[profile.name] = profile
    if problems:
        raise InputError(problems)
    return profiles


def _profile_files(directory: Path) -> list[os.DirEntry[str]]:
    """List the files of a directory that hold profiles, by name."""
    if not directory.is_dir():
        what = "is not a directory" if directory.exists() else "does not exist"
        raise InputError.single(str(directory), what, allowed="a directory with profiles")
    with os.scandir(directory) as entries:
        return sorted((entry for entry in entries if entry.name.endswith(".yaml")), key=lambda entry: entry.name)


@lru_cache(maxsize=_KEPT_PROFILES)
def _profile(path: str, _changed_ns: int) -> Profile:
    """Read one profile, again only when its file has changed."""
    return validate(Profile, read_yaml(path))
