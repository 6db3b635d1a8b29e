"""`kvplan init`: the first form of a file that a person then completes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kvplan.cli import building, options

if TYPE_CHECKING:
    from kvplan.schema.design import Design
    from kvplan.site.initial.assets import Asset

EXAMPLES = options.examples("kvplan init site --from plan.json -o site.yaml")
SITE_EXAMPLES = options.examples(
    "kvplan init site --from plan.json -o site.yaml",
    "kvplan init site --from plan.json --import hosts.csv \\\n      -o site.yaml",
    "kvplan init site --from plan.json --cumulus 5.11.1 -o site.yaml",
)
AssetList = Annotated[
    Path | None,
    typer.Option(
        "--import",
        help="CSV asset list: serial numbers, MAC addresses, controllers, boot drives.",
        show_default=False,
        metavar="FILE",
    ),
]
Cumulus = Annotated[str, typer.Option("--cumulus", help="Cumulus Linux that the switches run.", metavar="VERSION")]
KeptBuild = Annotated[
    Path | None,
    typer.Option(
        "--build",
        help="YAML file with build options (racks, cabling, fabric, addresses), which the Site then keeps.",
        show_default=False,
        metavar="FILE",
    ),
]
app = typer.Typer(
    help="Begin a file that a person completes.", no_args_is_help=True, rich_markup_mode=None, epilog=EXAMPLES
)


@app.callback()
def init() -> None:
    """Begin a file that a person completes."""


@app.command("site", epilog=SITE_EXAMPLES)
def site(
    *,
    plan: Annotated[
        Path, typer.Option("--from", help="Plan that `kvplan size -o` saved.", show_default=False, metavar="FILE")
    ],
    assets: AssetList = None,
    cumulus: Cumulus = "5.15.0",
    build: KeptBuild = None,
    catalogue: options.CatalogueDirs = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to save to. - is stdout.", metavar="FILE")
    ] = Path("site.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write a commented site.yaml: all that a Plan decides, and CHANGE-ME where only the site knows.

    Beside it goes site.schema.json, from which editors complete and check.
    """
    from kvplan.cli.console import out
    from kvplan.inputs.files import write_atomically
    from kvplan.site.initial.schema import site_schema_text
    from kvplan.site.initial.text import SCHEMA_FILE, site_text

    _refuse_output(output, [path for path in (plan, assets, build) if path], force=force)
    data, unused = _data(plan, assets, cumulus, build, catalogue)
    # The name goes into a comment, which a name with a line end would leave.
    plain = output != options.STDOUT and output.name.isprintable()
    text = site_text(data, output.name if plain else "site.yaml")
    if output == options.STDOUT:
        out(text)
        return
    write_atomically(output, text)
    write_atomically(output.parent / SCHEMA_FILE, site_schema_text())
    left = text.count("CHANGE-ME") - text.splitlines()[1].count("CHANGE-ME")
    out(f"{output}: {len(data['servers'])} servers, {len(data['switches'])} switches; {left} values to fill in\n")
    if unused:
        out(f"{assets}: nothing is read from {', '.join(unused)}\n")


def _data(
    plan: Path, assets: Path | None, cumulus: str, build: Path | None, catalogue: list[Path] | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Read everything and bring it together, with every problem of all files at once; and what is not used."""
    from kvplan.errors import Problems
    from kvplan.site.initial.data import initial_data

    problems = Problems()
    with problems.kept():
        _check_cumulus(cumulus)
    with problems.kept():
        built = building.read_design(plan, building.BuildFlags(build=build), catalogue)
        with problems.kept():
            known, unused = _assets(assets, built.design)
    problems.raise_any()
    software = built.catalogue.software(built.plan.request.software)
    return initial_data(built.plan, built.design, software, cumulus=cumulus, assets=known), unused


def _assets(path: Path | None, designed: Design) -> tuple[dict[str, Asset], tuple[str, ...]]:
    """Read the asset list, where there is one, and what of it is not used."""
    from kvplan.inputs.files import read_text
    from kvplan.site.initial.assets import read_assets, unused_columns

    if not path:
        return {}, ()
    text = read_text(path)
    return read_assets(text, str(path), designed), unused_columns(text, str(path), designed)


def _check_cumulus(version: str) -> None:
    """Check that the switches' version is one."""
    from pydantic import TypeAdapter, ValidationError

    from kvplan.errors import InputError
    from kvplan.schema.site.forms import Version

    try:
        TypeAdapter(Version).validate_python(version)
    except ValidationError as error:
        raise InputError.single(where="--cumulus", what=f"{version!r} is no version") from error


def _refuse_output(output: Path, inputs: list[Path], *, force: bool) -> None:
    """Keep a file that somebody may have completed, those that are read, and the schema's own."""
    from kvplan.errors import InputError
    from kvplan.site.initial.text import SCHEMA_FILE

    if output == options.STDOUT:
        return
    what, hint = "", "name another file"
    if output.name == SCHEMA_FILE:
        what = "is the name of the schema beside the Site"
    elif output.exists() and any(path.exists() and path.samefile(output) for path in inputs):
        what = "is read from"
    elif output.exists() and not force:
        what, hint = "exists", "name another file, or add --force"
    if what:
        raise InputError.single(where="--output", what=f"{str(output)!r} {what}", hint=hint)
