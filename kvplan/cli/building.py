"""The options that say how a Plan is built, shared by the verbs that rack, cable and quote it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from kvplan.catalogue.loader import Catalogue
    from kvplan.errors import Problem
    from kvplan.inputs.document import Document
    from kvplan.inputs.loc import Loc
    from kvplan.schema.build import BuildOptions
    from kvplan.schema.design import Design
    from kvplan.schema.plan import Plan

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
_PATHS: dict[str, tuple[str, ...]] = {
    "--clients": ("clients",),
    "--medium": ("cabling", "medium"),
    "--spines": ("fabric", "min_spines"),
    "--racks": ("racks", "available"),
    "--rack-units": ("racks", "units"),
    "--rack-power-kw": ("racks", "power_w"),
}
"""What each option sets in the build options."""


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

    def read(self) -> tuple[BuildOptions, Document | None]:
        """Read the build file and lay the options over it.

        Returns
        -------
        tuple of BuildOptions and Document or None
            The options, with defaults where neither file nor option says otherwise, and the file.

        Raises
        ------
        InputError
            With every problem of the file and of the options at once.
        """
        from kvplan.errors import Problems
        from kvplan.inputs.files import read_yaml
        from kvplan.inputs.validation import validate
        from kvplan.schema.build import BuildOptions

        problems = Problems()
        options, document = BuildOptions(), None
        with problems.kept():
            if self.build is not None:
                document = read_yaml(self.build)
                options = validate(BuildOptions, document)
        with problems.kept():
            options = self._over(options)
        problems.raise_any()
        return options, document

    def _over(self, options: BuildOptions) -> BuildOptions:
        """Lay the options that were typed over others."""
        from kvplan.cli.parsing import Options

        asked = Options()
        asked.plain(**{"--clients": self.clients, "--medium": self.medium})
        asked.counts("2", **{"--spines": self.spines, "--racks": self.racks})
        asked.counts("42", **{"--rack-units": self.rack_units})
        asked.scaled(1000, "kW, such as 17", **{"--rack-power-kw": self.rack_power_kw})
        data = options.model_dump(mode="json")
        for option, (*sections, field) in _PATHS.items():
            value = asked.value(option)
            if value is not None:
                section = data[sections[0]] if sections else data
                section[field] = value
        with asked.problems.kept():
            options = asked.made(lambda: options.model_validate(data), _option_of)
        asked.problems.raise_any()
        return options


@dataclass(frozen=True, slots=True)
class Built:
    """A Plan with its design, and the tables that it was made with."""

    plan: Plan
    design: Design
    catalogue: Catalogue


def read_design(plan: Path, flags: BuildFlags, catalogue: list[Path] | None) -> Built:
    """Read Plan, build options and tables, and make the design.

    Parameters
    ----------
    plan
        File with the Plan.
    flags
        How it is to be built.
    catalogue
        Directories with user tables.

    Returns
    -------
    Built
        The Plan and its design.

    Raises
    ------
    InputError
        With the problems of all files and options at once.
    PlanStaleError
        When the Plan was written in another format version.
    """
    from kvplan.api import design
    from kvplan.cli.shared import open_catalogue, read_plan
    from kvplan.errors import InputError, Problems

    problems = Problems()
    with problems.kept():
        sized = read_plan(plan)
    with problems.kept():
        tables = open_catalogue(catalogue)
    with problems.kept():
        options, document = flags.read()
    problems.raise_any()
    try:
        return Built(sized, design(sized, options, catalogue=tables), tables)
    except InputError as error:
        raise InputError(_placed(problem, document) for problem in error.problems) from error


def _option_of(loc: Loc) -> str:
    """Name the option that sets a value."""
    from kvplan.inputs.loc import key_path

    return next((option for option, path in _PATHS.items() if path == loc), key_path(loc))


def _placed(problem: Problem, document: Document | None) -> Problem:
    """Say where in the build file a name stands that no table has."""
    loc = tuple(problem.where.split("."))
    if document is None or not _holds(document.data, loc):
        return problem
    return replace(problem, where=document.where(loc), key=problem.where)


def _holds(data: Any, loc: tuple[str, ...]) -> bool:
    """Tell whether a path leads to something."""
    for key in loc:
        if not isinstance(data, dict) or key not in data:
            return False
        data = data[key]
    return True
