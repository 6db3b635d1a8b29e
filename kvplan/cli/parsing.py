"""Option texts turned into values; every problem is collected, so that one run shows all of them."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from kvplan.errors import InputError, Problem, did_you_mean
from kvplan.inputs.validation import problems_of
from kvplan.units import GIB, TB, parse_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

RecordT = TypeVar("RecordT", bound=BaseModel)

COUNTS = "a whole number such as 131072, 128Ki, 130k or 1.5M"


class Options:
    """Option values on their way into a record.

    Texts are read with `count`, `decimal` and so on; what cannot be read is kept as a problem under the option's
    name. `build` then raises all problems together with those that the record finds itself.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        """Take the option name of each field."""
        self._names = names
        self._values: dict[str, Any] = {}
        self._problems: list[Problem] = []

    def set(self, field: str, value: object) -> None:
        """Take a value as it is; None leaves the field to its default."""
        if value is not None:
            self._values[field] = value

    def count(self, field: str, text: str | None) -> None:
        """Read a whole number as people write it."""
        self._read(field, text, parse_count, COUNTS)

    def params(self, field: str, text: str | None) -> None:
        """Read a parameter count, in billions where it ends in `B`."""
        self._read(field, text, _parse_params, "a count such as 70B, 235B or 7000000000")

    def number(self, field: str, text: str | None, *, allowed: str) -> None:
        """Read a decimal number."""
        self._read(field, text, _parse_float, allowed)

    def gibibytes(self, field: str, text: str | None) -> None:
        """Read an amount of memory in GiB, kept in bytes."""
        self._read(field, text, lambda value: int(_decimal(value) * GIB), "a number of GiB such as 19.6")

    def terabytes(self, field: str, text: str | None) -> None:
        """Read a size in TB, kept in bytes."""
        self._read(field, text, lambda value: int(_decimal(value) * TB), "a number of TB such as 7.68")

    def gigabits(self, field: str, text: str | None) -> None:
        """Read a line rate in Gb/s, kept in bits per second."""
        self._read(field, text, lambda value: float(_decimal(value) * 10**9), "a number of Gb/s such as 400")

    def gigabytes(self, field: str, text: str | None) -> None:
        """Read an amount or rate in GB, kept in bytes."""
        self._read(field, text, lambda value: float(_decimal(value) * 10**9), "a number of GB/s such as 12.5")

    def build(self, record: type[RecordT]) -> RecordT:
        """Build the record.

        Raises
        ------
        InputError
            With every problem found, in the order of the fields.
        """
        problems = list(self._problems)
        try:
            built = record(**self._values)
        except ValidationError as error:
            unread = {problem.where for problem in problems}
            found = problems_of(error, lambda loc: self._names.get(str(loc[0]), str(loc[0])) if loc else "")
            problems.extend(_without_key(problem) for problem in found if problem.where not in unread)
            raise InputError(problems) from None
        if problems:
            raise InputError(problems)
        return built

    def _read(self, field: str, text: str | None, parse: Callable[[str], Any], allowed: str) -> None:
        """Read a text, or keep the problem and a stand-in out of the values."""
        if text is None:
            return
        try:
            self._values[field] = parse(text)
        except (ValueError, InvalidOperation) as error:
            what = str(error) if isinstance(error, ValueError) and str(error) else f"{text!r} is not a number"
            self._problems.append(Problem(self._names[field], what, allowed=allowed))


def checked_format(value: str, allowed: Iterable[str]) -> str:
    """Check the `--format` of a verb.

    Raises
    ------
    InputError
        When the verb has no such format.
    """
    formats = tuple(allowed)
    if value not in formats:
        raise InputError.single(
            "--format",
            f"unknown format {value!r}",
            allowed=f"one of {', '.join(formats)}",
            hint=did_you_mean(value, formats),
        )
    return value


def directories(paths: Iterable[Path] | None, option: str) -> tuple[Path, ...]:
    """Check that every path is a directory.

    Raises
    ------
    InputError
        Naming each that is not.
    """
    found = tuple(paths or ())
    problems = [
        Problem(option, f"{path} is {'no directory' if path.exists() else 'missing'}", allowed="a directory")
        for path in found
        if not Path(path).is_dir()
    ]
    if problems:
        raise InputError(problems)
    return found


def _parse_params(text: str) -> int:
    """Read a parameter count; B is 10^9."""
    stripped = text.strip()
    if stripped[-1:] in ("b", "B"):
        return int(_decimal(stripped[:-1]) * 10**9)
    return parse_count(stripped)


def _parse_float(text: str) -> float:
    """Read a finite decimal number."""
    return float(_decimal(text))


def _decimal(text: str) -> Decimal:
    """Read a finite decimal number exactly."""
    number = Decimal(text.strip())
    if not number.is_finite():
        message = f"{text!r} is not a finite number"
        raise ValueError(message)
    return number


def _without_key(problem: Problem) -> Problem:
    """Drop the field's own name: the option's name says it already."""
    return Problem(problem.where, problem.what, allowed=problem.allowed, hint=problem.hint)
