"""What a rule over a rendered installer file is given to look at, and how it says what is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from kvplan.site.rules import Break, Rule, rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kvplan.site.deployment import Deployment, Server

_WORD: Final = re.compile(r"[A-Za-z0-9._-]+")
_DRIVE: Final = re.compile(r"^(\w+)=\$\(boot_drive (\S+) (\d+) (\d+)\)$", re.MULTILINE)
ParsedT = TypeVar("ParsedT")


class Sought(NamedTuple):
    """A boot drive as a script looks for it: by serial number, with a window of sizes [GB]."""

    serial: str
    least_gb: int
    most_gb: int


def drives_sought(script: str) -> dict[str, Sought]:
    """Read from a script which drives it looks for, by the variable that it puts each one's name in.

    >>> drives_sought("first=$(boot_drive AB12 200 1000)")
    {'first': Sought(serial='AB12', least_gb=200, most_gb=1000)}
    """
    return {variable: Sought(serial, int(least), int(most)) for variable, serial, least, most in _DRIVE.findall(script)}


@dataclass(frozen=True)
class Seen(Generic[ParsedT]):
    """One file of one server: its text, what was read from it, and the scripts before and after the installation."""

    deployment: Deployment
    server: Server
    path: str
    text: str
    parsed: ParsedT
    before: str
    after: str

    @cached_property
    def sought(self) -> dict[str, Sought]:
        """The drives that the script before the installation looks for."""
        return drives_sought(self.before)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the text that could be serial numbers."""
        return frozenset(_WORD.findall(self.text))

    @property
    def boot_serials(self) -> frozenset[str]:
        """The serial numbers of the boot drives by the Site."""
        return frozenset(self.server.site.boot_drives.serials)

    @property
    def password_expected(self) -> bool:
        """Whether the Site has a hash of the console password."""
        return self.deployment.site.access.console_password_hash is not None


def file_rule(rule_id: str, what: str) -> Callable[[Callable[[Seen[ParsedT]], Iterator[str]]], Rule[Seen[ParsedT]]]:
    """Make a rule of the function below, which says what is wrong with the one file that it sees."""

    def made(texts: Callable[[Seen[ParsedT]], Iterator[str]]) -> Rule[Seen[ParsedT]]:
        return rule(rule_id, what)(lambda seen: (Break(seen.path, text) for text in texts(seen)))

    return made
