"""The environment variables that kvplan reads, and nothing else of the environment.

============================  ==========================================================================
`KVPLAN_CATALOGUE`            directories with the user's own catalogue tables, joined like `PATH`
`KVPLAN_PROFILES`             directories with the user's own profiles, joined like `PATH`
`KVPLAN_DATA_DIR`             directory that holds `profiles/`, `playbooks/` and `templates/` instead of
                              those that kvplan brings along
============================  ==========================================================================
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

CATALOGUE_VARIABLE = "KVPLAN_CATALOGUE"
PROFILES_VARIABLE = "KVPLAN_PROFILES"
DATA_DIR_VARIABLE = "KVPLAN_DATA_DIR"


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says; an unset or empty variable is as good as none."""

    catalogue_dirs: tuple[Path, ...] = ()
    profile_dirs: tuple[Path, ...] = ()
    data_dir: Path | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read the variables.

        Parameters
        ----------
        environment
            The variables; those of the process when absent.

        Returns
        -------
        Settings
            Directories in the order given; whether they exist is for their reader to say.
        """
        variables = os.environ if environment is None else environment
        # `VARIABLE=` in a shell means unset to whoever types it.
        data_dir = variables.get(DATA_DIR_VARIABLE, "")
        return cls(
            catalogue_dirs=_directories(variables.get(CATALOGUE_VARIABLE, "")),
            profile_dirs=_directories(variables.get(PROFILES_VARIABLE, "")),
            data_dir=Path(data_dir) if data_dir else None,
        )


def _directories(joined: str) -> tuple[Path, ...]:
    """Split a list that is joined like `PATH`, leaving out empty parts."""
    return tuple(Path(part) for part in joined.split(os.pathsep) if part)
