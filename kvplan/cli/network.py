"""`kvplan network`: port map, cable schedule, drawings and import files of a Plan's network."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kvplan.cli import building, options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.catalogue.loader import Catalogue
    from kvplan.errors import Problem
    from kvplan.render.fabric.netbox import Maker
    from kvplan.render.view import View
    from kvplan.schema.design import Design
    from kvplan.schema.plan import Plan

EXAMPLES = options.examples(
    "kvplan network plan.json",
    "kvplan network plan.json --table ports",
    "kvplan network plan.json -o cables.csv",
    "kvplan network plan.json --drawing racks -o racks.svg",
    "kvplan network plan.json --format ptm -o topology.dot",
    "kvplan network plan.json --format netbox-csv --site hall-1 -o netbox",
)
FORMATS = {
    "table": (".txt",),
    "json": (".json",),
    "csv": (".csv",),
    "md": (".md",),
    "dot": (".dot",),
    "mermaid": (".mmd",),
    "svg": (".svg",),
    "netbox-csv": (),
    "ptm": (".dot",),
}
"""Every format with the endings of its files; NetBox takes a directory."""
DRAWINGS = ("fabric", "racks")
_DEFAULT_SITE = "site-1"
_NETBOX_FILES = "[0-9][0-9]-*.csv"
"""How the files of every import are called; their numbers give its order."""
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
            help="File to save to; its ending chooses the format. - is stdout. Of netbox-csv a directory.",
            show_default=False,
            metavar="FILE|DIR",
            callback=options.stdout_for_dash,
        ),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            help="table, json, csv, md, dot, mermaid, svg, netbox-csv or ptm. Default: by -o, else table.",
            metavar="FORMAT",
        ),
    ] = None,
) -> None:
    """Rack, cable and address a Plan, and show its network.

    The table is a summary with findings and failure states; csv is the cable schedule, or the table named; ptm is the
    cabling as the switches check it; dot, mermaid and svg are drawings.
    """
    _network(options.gathered(_Asked, locals()), options.gathered(building.BuildFlags, locals()), catalogue)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be shown, and where it is to be saved, as it was typed."""

    plan: Path
    build: Path | None
    table: str | None
    drawing: str | None
    site: str | None
    output: Path | None
    format_: str | None

    def form(self) -> str:
        """Check what was typed, and return the format."""
        from kvplan.cli.parsing import format_of, keep_inputs, unknown_name
        from kvplan.errors import Problems
        from kvplan.render.fabric.tables import TABLES

        problems = Problems()
        form = ""
        with problems.kept():
            form = format_of(self.output, self.format_, FORMATS, default="table")
        with problems.kept():
            keep_inputs(self.output, {"plan": self.plan, "build": self.build})
        if self.table is not None:
            problems.found += unknown_name("--table", "table", self.table, tuple(TABLES))
        if self.drawing is not None:
            problems.found += unknown_name("--drawing", "drawing", self.drawing, DRAWINGS)
        if form:
            problems.found += self._idle(form)
        problems.raise_any()
        return form

    def _idle(self, form: str) -> Iterator[Problem]:
        """Name what says nothing in the format asked for, and what is missing for it."""
        from kvplan.errors import Problem

        for option, value, forms in (
            ("--table", self.table, _WITH_TABLE),
            ("--drawing", self.drawing, _WITH_DRAWING),
            ("--site", self.site, _WITH_SITE),
        ):
            if value is not None and form not in forms:
                allowed = f"it goes with --format {', '.join(forms)}"
                yield Problem(option, f"means nothing with --format {form}", allowed=allowed)
        if form == "netbox-csv" and self.output is None:
            yield Problem(
                "--output", "is needed: netbox-csv is a file for each table", allowed="a directory: -o netbox"
            )


def _network(asked: _Asked, flags: building.BuildFlags, catalogue: list[Path] | None) -> None:
    """Build the design, and print or save it in the format asked for."""
    from kvplan.errors import Problems

    problems = Problems()
    with problems.kept():
        form = asked.form()
    with problems.kept():
        built = building.read_design(asked.plan, flags, catalogue)
    problems.raise_any()
    if asked.output is None:
        _print(built.design, asked, form)
    elif form == "netbox-csv":
        _save_netbox(built, asked.output, asked.site or _DEFAULT_SITE)
    else:
        _save(asked.output, _text(built.design, asked, form))


def _print(shown: Design, asked: _Asked, form: str) -> None:
    """Print a table as wide as the terminal, a drawing as it is, and text as the terminal takes it."""
    from kvplan.cli.console import out, out_bytes
    from kvplan.cli.shared import show_view

    if form == "table":
        show_view(_view(shown, asked))
    elif form == "svg":
        out_bytes(_text(shown, asked, form).encode())
    else:
        out(_text(shown, asked, form))


def _save(target: Path, text: str) -> None:
    """Save a file, and name it."""
    from kvplan.cli.console import out
    from kvplan.inputs.files import write_atomically

    write_atomically(target, text)
    out(f"{target}\n")


def _save_netbox(built: building.Built, target: Path, site: str) -> None:
    """Save the files for NetBox, and name them, and those of another run that an import must leave out."""
    from kvplan.cli.console import out
    from kvplan.render.fabric.netbox import netbox_files

    files = netbox_files(built.design, _makers(built.plan, built.catalogue), site=site)
    _save_all(target, files)
    stale = sorted(path.name for path in target.glob(_NETBOX_FILES) if path.name not in files)
    out("".join(f"{target / name}\n" for name in files))
    out("".join(f"{target / name}: of another run, not part of this import\n" for name in stale))


def _view(shown: Design, asked: _Asked) -> View:
    """Arrange the summary, or the table asked for."""
    from kvplan.render.fabric.summary import network_view, table_view

    if asked.table is not None:
        return table_view(shown, asked.table)
    return network_view(shown, next_command=f"kvplan network {asked.plan} --table cables")


def _text(shown: Design, asked: _Asked, form: str) -> str:  # noqa: PLR0911 - one return a format
    """Write the design in a format of one file."""
    from kvplan.render.data import record_json, rows_csv
    from kvplan.render.fabric import dot, fabric_svg, mermaid, ptm, racks_svg
    from kvplan.render.fabric.tables import TABLES
    from kvplan.render.markdown import view_markdown
    from kvplan.render.text import view_text

    match form:
        case "json":
            return record_json(shown)
        case "csv":
            return rows_csv(*TABLES[asked.table or "cables"].whole(shown))
        case "md":
            return view_markdown(_view(shown, asked), title="Network")
        case "dot":
            return dot.fabric_dot(shown)
        case "mermaid":
            return mermaid.fabric_mermaid(shown)
        case "svg":
            return racks_svg.racks_svg(shown) if asked.drawing == "racks" else fabric_svg.fabric_svg(shown)
        case "ptm":
            return ptm.cabling_ptm(shown)
        case _:
            return view_text(_view(shown, asked))


def _makers(plan: Plan, tables: Catalogue) -> dict[str, Maker]:
    """Look up who makes each chassis and switch: as the Plan has its parts, the rest from the tables."""
    from kvplan.catalogue.tables import SERVERS, SWITCHES
    from kvplan.render.fabric.netbox import Maker
    from kvplan.schema.hardware import ANY_VENDOR

    servers = (*tables.records(SERVERS), plan.parts.server, plan.parts.client_server)
    switches = (*tables.records(SWITCHES), plan.parts.switch)
    makers = {row.id: Maker(row.vendor) for row in servers if row.vendor != ANY_VENDOR}
    return makers | {row.id: Maker(row.vendor, row.part_number) for row in switches}


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
    except InputError as error:
        # What is said of a file aside is meant of the one that it would have become.
        named = (replace(problem, where=problem.where.replace(str(aside), str(target))) for problem in error.problems)
        raise InputError(named) from error
    except OSError as error:
        raise InputError.single(str(target), f"cannot be written: {(error.strerror or str(error)).lower()}") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
