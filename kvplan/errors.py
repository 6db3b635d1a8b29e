"""The errors of kvplan: one tree, each class with its exit code.

::

    KvplanError                 1  unexpected
    ├── UsageError              2  the command line contradicts itself
    ├── InputError              3  one or more problems in what was given; all of them at once
    ├── NoProfileFitsError      4  no candidate satisfies every limit
    ├── DeployFailedError       7  a phase of a deployment failed
    └── PlanStaleError          8  a plan was altered or written by another format
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_SHOWN = 40
"""Characters of a value that a message shows."""


class ExitCode(IntEnum):
    """Exit codes of every verb."""

    OK = 0
    UNEXPECTED = 1
    USAGE = 2
    INVALID_INPUT = 3
    NO_PROFILE_FITS = 4
    DIFFERS = 5
    PREFLIGHT_FAILED = 6
    DEPLOY_FAILED = 7
    STALE_PLAN = 8
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in one place: what is wrong, what is allowed, and how to put it right.

    `where` is `file`, `file:line:column` or the name of an option; `key` is the path inside the file, if any.
    """

    where: str
    what: str
    key: str = ""
    allowed: str = ""
    hint: str = ""

    def __str__(self) -> str:
        """Return `where: key: what; allowed; hint`, leaving out what is empty."""
        place = ": ".join(part for part in (self.where, self.key) if part)
        rest = "; ".join(part for part in (self.what, self.allowed, self.hint) if part)
        return f"{place}: {rest}" if place else rest


class KvplanError(Exception):
    """Base of everything that kvplan raises on purpose."""

    exit_code = ExitCode.UNEXPECTED

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(KvplanError):
    """The command line contradicts itself."""

    exit_code = ExitCode.USAGE


class InputError(KvplanError):
    """What was given is wrong; carries every problem found, not only the first."""

    exit_code = ExitCode.INVALID_INPUT

    def __init__(self, problems: Iterable[Problem], *, hint: str = "") -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)), hint=hint)

    @classmethod
    def single(cls, where: str, what: str, *, key: str = "", allowed: str = "", hint: str = "") -> InputError:
        """Build the error for a single problem."""
        return cls([Problem(where, what, key=key, allowed=allowed, hint=hint)])


class Problems:
    """What is wrong in several steps, kept so that one run names everything.

    >>> problems = Problems()
    >>> for name in ("old.json", "new.json"):
    ...     with problems.kept():
    ...         raise InputError.single(name, "does not exist")
    >>> [problem.where for problem in problems.found]
    ['old.json', 'new.json']
    """

    def __init__(self) -> None:
        self.found: list[Problem] = []

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Take a step; its problems are kept, and the steps after it are taken too."""
        try:
            yield
        except InputError as error:
            self.found.extend(error.problems)

    def raise_any(self) -> None:
        """Raise what was found.

        Raises
        ------
        InputError
            With every problem, where there are any.
        """
        if self.found:
            raise InputError(self.found)


def require_at_least(where: str, *given: tuple[str, int, int]) -> None:
    """Refuse numbers that are too small, all of them at once.

    Parameters
    ----------
    where
        What the numbers belong to.
    *given
        Name, value and least value of each.

    Raises
    ------
    InputError
        With a problem for each value below its least.

    Examples
    --------
    >>> require_at_least("vLLM", ("tp", 1, 1), ("max_model_len", 5, 1))
    """
    problems = [
        Problem(where, f"{value} is too small", key=key, allowed=f"at least {least}")
        for key, value, least in given
        if value < least
    ]
    if problems:
        raise InputError(problems)


class NoProfileFitsError(KvplanError):
    """No candidate satisfies every limit; the message lists each candidate and what it breaks."""

    exit_code = ExitCode.NO_PROFILE_FITS


class DeployFailedError(KvplanError):
    """A phase of a deployment failed; the message says which, where and why."""

    exit_code = ExitCode.DEPLOY_FAILED


class PlanStaleError(KvplanError):
    """A plan was written by another format version or altered by hand."""

    exit_code = ExitCode.STALE_PLAN


def did_you_mean(word: str, choices: Iterable[str], *, limit: int = 3) -> str:
    """Name the close matches of a word, or nothing.

    >>> did_you_mean("gpt-os-120b", ["gpt-oss-120b", "llama-3.1-8b"])
    "did you mean 'gpt-oss-120b'?"
    >>> did_you_mean("zzz", ["gpt-oss-120b"])
    ''
    """
    # Compared in lower case, offered as spelled.
    lowered = {choice.lower(): choice for choice in choices}
    close = [lowered[match] for match in get_close_matches(word.lower(), lowered, n=limit, cutoff=0.6)]
    return f"did you mean {' or '.join(repr(match) for match in close)}?" if close else ""


def shown(value: object) -> str:
    """Write a value as a message shows it: containers by their kind only, cut where it is long.

    >>> shown("abc"), shown(True), shown(None), shown([1, 2]), shown({"a": 1}), shown(1.5), shown("x" * 50)
    ("'abc'", 'true', 'an empty value', 'a list', 'a mapping', '1.5', "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…")
    """
    if isinstance(value, Mapping | list | tuple):
        return "a mapping" if isinstance(value, Mapping) else "a list"
    if value is None:
        return "an empty value"
    text = repr(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
