"""What a package that stands in for another holds."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class Contents(NamedTuple):
    """Files by absolute path, links by absolute path, and a shell script that runs after installation.

    A file that begins with `#!` may be executed. `requires` names packages that are installed with this one.
    """

    files: Mapping[str, str | bytes] = _NOTHING
    links: Mapping[str, str] = _NOTHING
    after: str = ""
    requires: tuple[str, ...] = ()
