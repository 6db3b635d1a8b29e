"""A Kickstart file read back: its commands with what %pre will include, and its sections."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.site.install.seen import drives_sought

if TYPE_CHECKING:
    from collections.abc import Iterator

SECTIONS: Final = ("%pre", "%packages", "%post")
_VARIABLE: Final = re.compile(r"\$\w+")
_HERE: Final = re.compile(r"^cat > (\S+) <<EOF\n(.*?)^EOF$", re.MULTILINE | re.DOTALL)


class Command(NamedTuple):
    """One command: its name, its options by name (empty where one has no value), and its other words."""

    name: str
    options: dict[str, str]
    words: tuple[str, ...]

    @property
    def target(self) -> str:
        """The first of its words: what it makes."""
        return self.words[0] if self.words else ""

    def listed(self, option: str) -> tuple[str, ...]:
        """Split an option's value at commas."""
        return tuple(value for value in self.options.get(option, "").split(",") if value)


class Section(NamedTuple):
    """One section: `%pre`, `%packages` or `%post`, the options on its first line, and its lines."""

    name: str
    options: dict[str, str]
    body: str


@dataclass(frozen=True)
class Kickstart:
    """A whole file; `faults` are lines that could not be read and sections that have no end."""

    commands: tuple[Command, ...]
    sections: tuple[Section, ...]
    missing_includes: tuple[str, ...]
    faults: tuple[str, ...]

    def named(self, *names: str) -> tuple[Command, ...]:
        """List the commands of these names."""
        return tuple(command for command in self.commands if command.name in names)

    def script(self, name: str) -> str:
        """Return the text of all sections of a name."""
        return "\n".join(section.body for section in self.sections if section.name == name)


def read_kickstart(text: str) -> Kickstart:
    """Read a Kickstart file, and put in what %pre includes with each drive's serial number for its name.

    Parameters
    ----------
    text
        The file.

    Returns
    -------
    Kickstart
        What is in it.

    Examples
    --------
    >>> read_kickstart("rootpw --lock").commands
    (Command(name='rootpw', options={'--lock': ''}, words=()),)
    """
    lines, sections, faults = _split(text)
    includes = _includes(sections)
    commands: list[Command] = []
    missing: list[str] = []
    for line in lines:
        name, _, path = line.partition(" ")
        if name != "%include":
            expanded = [line]
        elif path in includes:
            expanded = includes[path].splitlines()
        else:
            missing.append(path)
            continue
        for command in expanded:
            try:
                commands.append(_command(command))
            except ValueError as error:
                faults.append(f"{command!r} cannot be read: {error}")
    return Kickstart(tuple(commands), tuple(sections), tuple(missing), tuple(faults))


def _split(text: str) -> tuple[list[str], list[Section], list[str]]:
    """Part the lines outside of sections from the sections."""
    lines: list[str] = []
    sections: list[Section] = []
    faults: list[str] = []
    head, body = "", ""
    for line in text.splitlines():
        if head and line == "%end":
            sections.append(_section(head, body))
            head, body = "", ""
        elif head and not line.startswith(SECTIONS):
            body += f"{line}\n"
        elif line.startswith(SECTIONS):
            if head:
                faults.append(f"{head!r} has no %end")
            head, body = line, ""
        elif line == "%end":
            faults.append("there is a %end that ends nothing")
        elif line.strip() and not line.startswith("#"):
            lines.append(line)
    if head:
        faults.append(f"{head!r} has no %end")
    return lines, sections, faults


def _section(head: str, body: str) -> Section:
    """Read a section's first line."""
    name, *words = head.split()
    return Section(name, dict(_options(words)), body)


def _command(line: str) -> Command:
    """Read one line."""
    name, *words = shlex.split(line)
    options = dict(_options(words))
    return Command(name, options, tuple(word for word in words if not word.startswith("--")))


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """Read options; one without a value has an empty one."""
    for word in words:
        if word.startswith("--"):
            option, _, value = word.partition("=")
            yield option, value


def _includes(sections: list[Section]) -> dict[str, str]:
    """Work out the files that %pre writes, with each drive's serial number where its name will stand."""
    written: dict[str, str] = {}
    for section in sections:
        if section.name == "%pre":
            serials = {f"${name}": drive.serial for name, drive in drives_sought(section.body).items()}
            for path, text in _HERE.findall(section.body):
                written[path] = _VARIABLE.sub(partial(_serial, serials), text)
    return written


def _serial(serials: dict[str, str], found: re.Match[str]) -> str:
    """Return the serial number for a variable that holds a drive's name; leave others."""
    return serials.get(found[0], found[0])
