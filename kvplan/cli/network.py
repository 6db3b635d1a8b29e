"""`kvplan network`: port map, cable schedule, drawings and import files of a Plan's network."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kvplan.cli import building, options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.catalogue.loader import Catalogue
    from kvplan.errors import Problem
    from kvplan.render.fabric.netbox import Maker
    from kvplan.render.view import View
    from kvplan.schema.build import BuildOptions
    from kvplan.schema.design import Design

EXAMPLES = options.examples(
    "kvplan network plan.json",
    "kvplan network plan.json --table ports",
    "kvplan network plan.json --format csv -o cables.csv",
    "kvplan network plan.json --format svg --drawing racks -o racks.svg",
    "kvplan network plan.json --format ptm -o topology.dot",
    "kvplan network plan.json --format netbox-csv --site hall-1 -o netbox",
)
FORMATS = ("table", "json", "csv", "md", "dot", "mermaid", "svg", "netbox-csv", "ptm")
DRAWINGS = ("fabric", "racks")
_DEFAULT_SITE = "site-1"
_WITH_TABLE, _WITH_DRAWING, _WITH_SITE = ("table", "md", "csv"), ("svg",), ("netbox-csv",)


def network(  # noqa: PLR0913 - one parameter an option
    plan: building.PlanFile,
    *,
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            help="A whole table: cables, ports, devices, racks, addresses, optics, findings or states.",
            metavar="NAME",
        ),
    ] = None,
    drawing: Annotated[
        str | None,
        typer.Option("--drawing", help="What --format svg draws: fabric (the default) or racks.", metavar="NAME"),
    ] = None,
    site: Annotated[
        str | None,
        typer.Option("--site", help=f"Name of the site in NetBox. Default: {_DEFAULT_SITE}.", metavar="NAME"),
    ] = None,
    build: building.BuildFile = None,
    medium: building.Medium = None,
    spines: building.Spines = None,
    racks: building.Racks = None,
    rack_units: building.RackUnits = None,
    rack_power_kw: building.RackPower = None,
    catalogue: options.CatalogueDirs = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to save to; of netbox-csv a directory.",
            show_default=False,
            metavar="FILE|DIR",
        ),
    ] = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format", "-f", help="table, json, csv, md, dot, mermaid, svg, netbox-csv or ptm.", metavar="FORMAT"
        ),
    ] = "table",
) -> None:
    """Rack, cable and address a Plan, and show its network.

    The table is a summary with findings and failure states; csv is the cable schedule, or the table named; ptm is the
    cabling as the switches check it; dot, mermaid and svg are drawings.
    """
    flags = building.BuildFlags(
        build=build, medium=medium, spines=spines, racks=racks, rack_units=rack_units, rack_power_kw=rack_power_kw
    )
    asked = _Asked(plan, format_, table, drawing, site, output)
    _network(asked, asked.checked(flags), catalogue)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be shown, and where it is to be saved."""

    plan: Path
    form: str
    table: str | None
    drawing: str | None
    site: str | None
    output: Path | None

    def checked(self, flags: building.BuildFlags) -> BuildOptions:
        """Check all options, and return those that say how the Plan is built."""
        from kvplan.errors import InputError
        from kvplan.render.fabric.tables import TABLES
        from kvplan.schema.build import BuildOptions

        problems = [
            *_unknown("--format", "format", self.form, FORMATS),
            *_unknown("--table", "table", self.table, tuple(TABLES)),
            *_unknown("--drawing", "drawing", self.drawing, DRAWINGS),
        ]
        if not problems:
            problems += self._idle()
        built = BuildOptions()
        try:
            built = flags.options()
        except InputError as error:
            problems += error.problems
        if problems:
            raise InputError(problems)
        return built

    def _idle(self) -> list[Problem]:
        """Name options that say nothing in the format asked for."""
        from kvplan.errors import Problem

        given = (
            ("--table", self.table, _WITH_TABLE),
            ("--drawing", self.drawing, _WITH_DRAWING),
            ("--site", self.site, _WITH_SITE),
        )
        return [
            Problem(
                option, f"means nothing with --format {self.form}", allowed=f"it goes with --format {', '.join(forms)}"
            )
            for option, value, forms in given
            if value is not None and self.form not in forms
        ]


def _unknown(option: str, noun: str, value: str | None, known: Sequence[str]) -> list[Problem]:
    """Return the problem of a name that is not known, if it is not."""
    from kvplan.errors import Problem, did_you_mean

    if value is None or value in known:
        return []
    allowed = f"one of {', '.join(known)}"
    return [Problem(option, f"unknown {noun} {value!r}", allowed=allowed, hint=did_you_mean(value, known))]


def _network(asked: _Asked, built: BuildOptions, catalogue: list[Path] | None) -> None:
    """Build the design, and print or save it in the format asked for."""
    from kvplan.api import design
    from kvplan.cli.console import out
    from kvplan.cli.shared import open_catalogue, read_plan, show_view
    from kvplan.inputs.files import write_atomically

    tables = open_catalogue(catalogue)
    shown = design(read_plan(asked.plan), built, catalogue=tables)
    if asked.form == "netbox-csv" and asked.output is not None:
        from kvplan.render.fabric.netbox import netbox_files

        files = netbox_files(shown, _makers(tables), site=asked.site or _DEFAULT_SITE)
        _save_all(asked.output, files)
        out("".join(f"{asked.output / name}\n" for name in files))
    elif asked.output is not None:
        write_atomically(asked.output, _text(shown, asked))
        out(f"{asked.output}\n")
    elif asked.form == "table":
        show_view(_view(shown, asked))
    else:
        out(_text(shown, asked))


def _view(shown: Design, asked: _Asked) -> View:
    """Arrange the summary, or the table asked for."""
    from kvplan.render.fabric.summary import network_view, table_view

    if asked.table is not None:
        return table_view(shown, asked.table)
    return network_view(shown, next_command=f"kvplan network {asked.plan} --table cables")


def _text(shown: Design, asked: _Asked) -> str:
    """Write the design in a format."""
    from kvplan.render.data import record_json, rows_csv
    from kvplan.render.fabric import dot, drawings, mermaid, netbox, ptm
    from kvplan.render.fabric.tables import TABLES
    from kvplan.render.markdown import view_markdown
    from kvplan.render.text import view_text

    svg = {"fabric": drawings.fabric_svg, "racks": drawings.racks_svg}
    writers = {
        "table": lambda: view_text(_view(shown, asked)),
        "md": lambda: view_markdown(_view(shown, asked), title="Network"),
        "json": lambda: record_json(shown),
        "csv": lambda: rows_csv(*TABLES[asked.table or "cables"].whole(shown)),
        "dot": lambda: dot.fabric_dot(shown),
        "mermaid": lambda: mermaid.fabric_mermaid(shown),
        "svg": lambda: svg[asked.drawing or DRAWINGS[0]](shown),
        "netbox-csv": lambda: netbox.netbox_cables(shown),
        "ptm": lambda: ptm.cabling_ptm(shown),
    }
    return writers[asked.form]()


def _makers(tables: Catalogue) -> dict[str, Maker]:
    """Look up who makes each chassis and switch."""
    from kvplan.catalogue.tables import SERVERS, SWITCHES
    from kvplan.render.fabric.netbox import Maker

    servers = {row.id: Maker(row.vendor) for row in tables.records(SERVERS)}
    return servers | {row.id: Maker(row.vendor, row.part_number) for row in tables.records(SWITCHES)}


def _save_all(target: Path, files: dict[str, str]) -> None:
    """Write files into a directory: a new one appears whole, in one that is there each file is replaced whole."""
    from kvplan.errors import InputError
    from kvplan.inputs.files import write_atomically

    if target.is_dir():
        for name, content in files.items():
            write_atomically(target / name, content)
        return
    if target.exists() or target.is_symlink():
        raise InputError.single(str(target), "is a file, not a directory")
    if not target.parent.is_dir():
        raise InputError.single(str(target), f"cannot be written: there is no directory {str(target.parent)!r}")
    _save_new(target, files)


def _save_new(target: Path, files: dict[str, str]) -> None:
    """Fill a directory beside the target, and rename it."""
    import secrets
    import shutil

    from kvplan.errors import InputError
    from kvplan.inputs.files import write_atomically

    aside = target.parent / f".kvplan-{secrets.token_hex(8)}.tmp"
    try:
        aside.mkdir()
        for name, content in files.items():
            write_atomically(aside / name, content)
        aside.rename(target)
    except OSError as error:
        raise InputError.single(str(target), f"cannot be written: {(error.strerror or str(error)).lower()}") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
