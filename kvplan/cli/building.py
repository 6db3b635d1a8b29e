"""The options that say how a Plan is built, shared by the verbs that rack, cable and quote it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from kvplan.errors import Problem
    from kvplan.inputs.loc import Loc
    from kvplan.schema.build import BuildOptions

PlanFile = Annotated[Path, typer.Argument(help="Plan that `kvplan size -o` saved.", show_default=False)]
BuildFile = Annotated[
    Path | None,
    typer.Option(
        "--build",
        help="YAML file with build options: racks, cabling, fabric, management, addresses. Options below override it.",
        show_default=False,
        metavar="FILE",
    ),
]
Medium = Annotated[
    str | None, typer.Option("--medium", help="auto (copper while it reaches), copper or optics.", metavar="MEDIUM")
]
Clients = Annotated[
    str | None,
    typer.Option("--clients", help="What of the GPU servers is quoted: servers, adapters or none.", metavar="SCOPE"),
]
Spines = Annotated[str | None, typer.Option("--spines", help="Spine switches at least, such as 2.", metavar="N")]
Racks = Annotated[str | None, typer.Option("--racks", help="Racks that are there.", metavar="N")]
RackUnits = Annotated[str | None, typer.Option("--rack-units", help="Height of a rack in units.", metavar="N")]
RackPower = Annotated[
    str | None,
    typer.Option("--rack-power-kw", help="What either power feed of a rack carries, in kW.", metavar="KW"),
]
_OPTIONS = {
    ("clients",): "--clients",
    ("cabling", "medium"): "--medium",
    ("fabric", "min_spines"): "--spines",
    ("racks", "available"): "--racks",
    ("racks", "units"): "--rack-units",
    ("racks", "power_w"): "--rack-power-kw",
}


@dataclass(frozen=True, slots=True)
class BuildFlags:
    """The build options as they were typed; None where one was left out."""

    build: Path | None = None
    medium: str | None = None
    clients: str | None = None
    spines: str | None = None
    racks: str | None = None
    rack_units: str | None = None
    rack_power_kw: str | None = None

    def options(self) -> BuildOptions:
        """Read the build file and lay the options over it.

        Returns
        -------
        BuildOptions
            Defaults where neither file nor options say otherwise.

        Raises
        ------
        InputError
            With every problem of the file, or of the options, at once.
        """
        from pydantic import ValidationError

        from kvplan.errors import InputError
        from kvplan.inputs.files import read_yaml
        from kvplan.inputs.validation import problems_of, validate
        from kvplan.schema.build import BuildOptions

        options = BuildOptions() if self.build is None else validate(BuildOptions, read_yaml(self.build))
        values, problems = self._values()
        try:
            built = BuildOptions.model_validate(_merged(options.model_dump(mode="json"), values))
        except ValidationError as error:
            raise InputError((*problems, *problems_of(error, _place))) from error
        if problems:
            raise InputError(problems)
        return built

    def _values(self) -> tuple[dict[tuple[str, ...], Any], list[Problem]]:
        """Read the options' texts, by the path of the field that each sets."""
        from kvplan.cli.parsing import Options
        from kvplan.errors import InputError

        asked = Options({"spines": "--spines", "racks": "--racks", "units": "--rack-units", "power": "--rack-power-kw"})
        asked.counts(spines=self.spines, racks=self.racks, units=self.rack_units)
        asked.scaled(1000, "kW, such as 17", power=self.rack_power_kw)
        problems: list[Problem] = []
        try:
            asked.check()
        except InputError as error:
            problems.extend(error.problems)
        given = {
            ("clients",): self.clients,
            ("cabling", "medium"): self.medium,
            ("fabric", "min_spines"): asked.value("spines"),
            ("racks", "available"): asked.value("racks"),
            ("racks", "units"): asked.value("units"),
            ("racks", "power_w"): asked.value("power"),
        }
        return {path: value for path, value in given.items() if value is not None}, problems


def _merged(data: dict[str, Any], values: dict[tuple[str, ...], Any]) -> dict[str, Any]:
    """Lay single values over the data of a build file."""
    for path, value in values.items():
        section = data
        for key in path[:-1]:
            section = section[key]
        section[path[-1]] = value
    return data


def _place(loc: Loc) -> str:
    """Name the option that a value came from."""
    return _OPTIONS.get(tuple(str(part) for part in loc), ".".join(map(str, loc)))
