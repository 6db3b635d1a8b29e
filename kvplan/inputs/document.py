"""A file that was read: its data, and where in the file each value stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yaml import Node

    from kvplan.inputs.loc import Loc


@dataclass(frozen=True)
class Document:
    """What a YAML or JSON file holds, its name, and its text, from which positions are found when asked for."""

    data: Any
    name: str
    text: str = field(default="", repr=False)

    def where(self, loc: Loc = (), *, at_key: bool = False) -> str:
        """Say where a value stands.

        Parameters
        ----------
        loc
            Path of the value. Where it leads to nothing, the nearest thing around it is meant.
        at_key
            Point at the key instead of its value.

        Returns
        -------
        str
            `file:line:column`, both counted from 1; the file's name alone when no position can be told.
        """
        if self._root is None:
            return self.name
        from kvplan.inputs.yaml_text import position  # noqa: PLC0415 - yaml is loaded for YAML and for errors only

        line, column = position(self._root, loc, at_key=at_key)
        return f"{self.name}:{line}:{column}"

    @cached_property
    def _root(self) -> Node | None:
        """Compose the text into nodes with marks; JSON is YAML enough once its tabs are spaces."""
        from kvplan.inputs.yaml_text import compose_leniently  # noqa: PLC0415 - as above

        return compose_leniently(self.text)
