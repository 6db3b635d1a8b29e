"""The boot menu of an installer image, as text: arguments put in, and read back."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CHECK: Final = "rd.live.check"
"""Argument of the entry that checks the medium; the sum in a changed image is no longer right."""
_RESCUE: Final = "inst.rescue"
_SPLIT: Final = "---"
"""What stands behind it is kept by Ubuntu for the installed system."""
_KERNEL: Final = re.compile(r"(\s*linux(?:efi)?\s+)(\S.*)")
_SPECIAL: Final = re.compile(r"([;&|<>{}$\"'\\])")
_MENU: Final = re.compile(r"\s*(menuentry|submenu)\b")


class Entry(NamedTuple):
    """A kernel line of a menu: its place among the lines, and that of the outermost entry around it, from 0."""

    line: int
    choice: int
    words: tuple[str, ...]

    @property
    def installs(self) -> bool:
        """Whether it starts an installation, not a rescue system."""
        return _RESCUE not in self.words


def with_arguments(text: str, arguments: Sequence[str], timeout_s: int) -> str:
    r"""Add arguments to each kernel line that installs, and make the first of them the default.

    The check of the medium is taken out everywhere.

    Parameters
    ----------
    text
        A `grub.cfg`.
    arguments
        Arguments as the kernel sees them; one that a line has already is not added again.
    timeout_s
        How long the menu waits [s].

    Returns
    -------
    str
        The changed text; the same text where no line starts a kernel.

    Examples
    --------
    >>> print(with_arguments("menuentry 'Install' {\n linux /vmlinuz --- quiet\n}\n", ["a=b;c"], 5), end="")
    set default="0"
    set timeout=5
    menuentry 'Install' {
     linux /vmlinuz a=b\;c --- quiet
    }
    """
    lines = text.split("\n")
    entries = [entry for entry in kernel_entries(text) if entry.installs]
    if not entries:
        return text
    for entry in entries:
        lines[entry.line] = _extended(lines[entry.line], arguments)
    return _set(_set("\n".join(lines), "timeout", str(timeout_s)), "default", f'"{entries[0].choice}"')


def kernel_entries(text: str) -> Iterator[Entry]:
    """Find the lines that start a kernel.

    Parameters
    ----------
    text
        A `grub.cfg`.

    Yields
    ------
    Entry
        Each line in its order.
    """
    index, depth, inside = -1, 0, 0
    for number, line in enumerate(text.split("\n")):
        if _MENU.match(line) and not inside:
            index, inside = index + 1, depth + 1
        if match := _KERNEL.fullmatch(line):
            yield Entry(number, max(index, 0), tuple(shlex.split(match[2])))
        depth += line.rstrip().endswith("{") - (line.strip() == "}")
        inside = inside if depth >= inside else 0


def faults_in(text: str, arguments: Sequence[str]) -> Iterator[str]:
    """Say what keeps a menu from starting the installer unattended.

    Parameters
    ----------
    text
        A `grub.cfg`.
    arguments
        Arguments as the kernel must see them.

    Yields
    ------
    str
        What is wrong.
    """
    entries = [entry for entry in kernel_entries(text) if entry.installs]
    if not entries:
        yield "starts no installer"
    lacking = [word for word in arguments if any(word not in entry.words for entry in entries)]
    if lacking:
        yield f"lacks the arguments {' '.join(lacking)}"
    if any(CHECK in entry.words for entry in entries):
        yield f"checks the medium ({CHECK}), which a changed image fails"
    default = re.findall(r"^\s*set default=\"?(\w+)\"?", text, re.MULTILINE)
    if entries and default[-1:] != [str(entries[0].choice)]:
        yield "its default entry is not the first that installs"


def _extended(line: str, arguments: Sequence[str]) -> str:
    """Put arguments into one kernel line, before what the installed system keeps."""
    match = _KERNEL.fullmatch(line)
    assert match  # noqa: S101 - the line was found by the same pattern
    words = [word for word in match[2].split() if word != CHECK]
    known = shlex.split(match[2])
    added = [_SPECIAL.sub(r"\\\1", argument) for argument in arguments if argument not in known]
    place = words.index(_SPLIT) if _SPLIT in words else len(words)
    return match[1] + " ".join((*words[:place], *added, *words[place:]))


def _set(text: str, variable: str, value: str) -> str:
    """Set a variable of the menu wherever it is set, or else at its beginning."""
    line = f"set {variable}={value}"
    changed, count = re.subn(rf"^(\s*)set {variable}=.*$", rf"\g<1>{line}", text, flags=re.MULTILINE)
    return changed if count else f"{line}\n{text}"
