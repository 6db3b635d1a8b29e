"""What several verbs do alike: load the catalogue, read a Plan, show a view in the format asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.cli.console import color, out, width
from kvplan.errors import InputError, PlanStaleError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from kvplan.catalogue.loader import Catalogue
    from kvplan.render.view import View
    from kvplan.schema.plan import Plan

FORMATS = ("table", "json", "yaml", "md", "csv")


def checked_format(value: str) -> str:
    """Check the `--format` of a verb that has no other option to check.

    Parameters
    ----------
    value
        Format asked for.

    Returns
    -------
    str
        The same format.

    Raises
    ------
    InputError
        When there is no such format.
    """
    from kvplan.cli.parsing import unknown_name

    problems = unknown_name("--format", "format", value, FORMATS)
    if problems:
        raise InputError(problems)
    return value


def open_catalogue(user_dirs: list[Path] | None) -> Catalogue:
    """Load the catalogue with the user tables named on the command line or in the environment."""
    from kvplan.catalogue.loader import load_catalogue
    from kvplan.cli.parsing import Options
    from kvplan.settings import CATALOGUE_VARIABLE, Settings

    asked = Options()
    named = asked.directories(CATALOGUE_VARIABLE, Settings.from_environment().catalogue_dirs)
    given = asked.directories("--catalogue", user_dirs)
    asked.problems.raise_any()
    return load_catalogue((*named, *given))


def read_plan(path: Path) -> Plan:
    """Read a saved Plan.

    Parameters
    ----------
    path
        File that `kvplan size -o` wrote.

    Returns
    -------
    Plan
        The Plan, validated.

    Raises
    ------
    InputError
        When the file is no Plan.
    PlanStaleError
        When it was written in another format version, or altered since it was saved.
    """
    from kvplan.core.seal import is_altered
    from kvplan.inputs.files import read_json
    from kvplan.inputs.validation import validate
    from kvplan.schema.plan import FORMAT_VERSION, Plan

    document = read_json(path)
    if not isinstance(document.data, dict) or "format_version" not in document.data:
        raise InputError.single(document.where(), "is no Plan", allowed="a file that `kvplan size -o` saved")
    version = document.data["format_version"]
    if isinstance(version, str) and version != FORMAT_VERSION:
        message = f"{path}: plan format {version!r}, this kvplan reads {FORMAT_VERSION}"
        raise PlanStaleError(message, hint="run kvplan size again")
    plan = validate(Plan, document)
    if is_altered(plan):
        message = f"{path}: was altered since it was saved: its content is not what its sha256 says"
        raise PlanStaleError(message, hint="run kvplan size again; a Plan is not edited by hand")
    return plan


def versioned(**fields: object) -> dict[str, object]:
    """Return a result that is no record of its own as data with a format version."""
    from kvplan.schema.plan import FORMAT_VERSION

    return {"format_version": FORMAT_VERSION, **fields}


def show_view(view: View) -> None:
    """Print a view for people."""
    from kvplan.render.text import view_text

    out(view_text(view, width=width(), color=color()))


def show(
    chosen: str,
    *,
    data: Callable[[], object],
    view: Callable[[], View],
    title: str,
    rows: Callable[[], tuple[Sequence[str], Sequence[Sequence[str]]]],
) -> None:
    """Print a result in one of the formats; only the one asked for is made."""
    from kvplan.render import data as as_data

    if chosen == "json":
        out(as_data.data_json(data()))
    elif chosen == "yaml":
        out(as_data.data_yaml(data()))
    elif chosen == "csv":
        out(as_data.rows_csv(*rows()))
    elif chosen == "md":
        from kvplan.render.markdown import view_markdown

        out(view_markdown(view(), title=title))
    else:
        show_view(view())
