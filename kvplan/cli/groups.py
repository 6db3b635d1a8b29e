"""Groups of commands, one of which is meant where none is named."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


def default_command(name: str) -> type[TyperGroup]:
    """Make a group that takes `verb FILE` for `verb NAME FILE`.

    Parameters
    ----------
    name
        The command that is meant.

    Returns
    -------
    type
        A class for `typer.Typer`.
    """

    class Group(TyperGroup):
        """Puts the command in where a file or an option stands in its place."""

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            """Read the arguments."""
            if args and args[0] not in {*self.commands, "--help", "-h"}:
                args = [name, *args]
            return super().parse_args(ctx, args)

    return Group
