"""`kvplan render`: a Plan and a Site as the tree of files that a deployment needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kvplan.cli import building, options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.cli.tree_out import Change

EXAMPLES = options.examples(
    "kvplan render plan.json site.yaml -o build/",
    "kvplan render plan.json site.yaml --diff build/",
)
SiteFile = Annotated[Path, typer.Argument(help="Site that `kvplan init site` began.", show_default=False)]


def render(
    plan: building.PlanFile,
    site: SiteFile,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Directory to write. Default: build.", show_default=False, metavar="DIR"),
    ] = None,
    diff: Annotated[
        Path | None,
        typer.Option(
            "--diff", help="Show what would change in this directory; write nothing.", show_default=False, metavar="DIR"
        ),
    ] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="With --diff, return 5 when files differ.")] = False,
    media: Annotated[
        Path | None,
        typer.Option(
            "--media", help="Build the boot media too, into this directory.", show_default=False, metavar="DIR"
        ),
    ] = None,
    image: Annotated[
        list[Path] | None,
        typer.Option("--image", help="Installer image for --media; repeatable.", show_default=False, metavar="FILE"),
    ] = None,
    catalogue: options.CatalogueDirs = None,
) -> None:
    """Write inventory, installer files, switch and host configuration, cluster and engine files.

    Equal input gives equal bytes. Nothing outside the directory is touched; no file holds a secret.
    """
    from kvplan.cli.siting import read_sited
    from kvplan.site.render import render_tree

    _refuse_contradictions(output, diff, exit_code=exit_code, media=media, image=image)
    sited = read_sited(plan, site, catalogue)
    tree = render_tree(sited.checked())
    if diff is not None:
        from kvplan.cli.tree_out import changes

        _show_diff(tuple(changes(tree, diff)), exit_code=exit_code)
        return
    from kvplan.cli.console import out
    from kvplan.cli.tree_out import write_tree

    directory = output or Path("build")
    out(_summary(directory, len(tree), write_tree(tree, directory)))
    if media is not None:
        from kvplan.cli.media import build_all

        build_all(sited, tree, media, image or [])


def _refuse_contradictions(
    output: Path | None, diff: Path | None, *, exit_code: bool, media: Path | None, image: list[Path] | None
) -> None:
    """Refuse options that do not go together."""
    from kvplan.errors import UsageError

    if diff is not None and (output is not None or media is not None):
        message = "--diff writes nothing, so it goes with neither --output nor --media"
        raise UsageError(message)
    if options.STDOUT in (output, diff, media):
        message = "render writes directories, not stdout"
        raise UsageError(message)
    if exit_code and diff is None:
        message = "--exit-code goes with --diff"
        raise UsageError(message)
    if image and media is None:
        message = "--image goes with --media"
        raise UsageError(message)


def _show_diff(found: Sequence[Change], *, exit_code: bool) -> None:
    """Print what would change, as a patch."""
    from kvplan.cli.console import out
    from kvplan.errors import ExitCode

    out("".join(change.diff for change in found))
    if exit_code and found:
        raise typer.Exit(ExitCode.DIFFERS)


def _summary(directory: Path, files: int, found: Sequence[Change]) -> str:
    """Say in a line what was written."""
    return f"{directory}: {files:,} files; {_counted(found) if found else 'nothing changed'}\n"


def _counted(found: Sequence[Change]) -> str:
    """Count changes by kind."""
    from collections import Counter

    counts = Counter[str](change.kind for change in found)
    words = {"new": "new", "changed": "changed", "removed": "removed", "mode": "with another mode"}
    return ", ".join(f"{counts[kind]:,} {word}" for kind, word in words.items() if counts[kind])
