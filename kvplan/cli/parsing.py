"""Option texts turned into values; every problem is collected, so that one run shows all of them."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from kvplan.errors import InputError, Problem, did_you_mean
from kvplan.inputs.validation import problems_of
from kvplan.units import MAX_COUNT, parse_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kvplan.inputs.loc import Loc

RecordT = TypeVar("RecordT", bound=BaseModel)


class Options:
    """Option values on their way into a record.

    Texts are read with `counts`, `numbers` and so on, by field; what cannot be read is kept as a problem under the
    option's name. `build` then raises all problems together with those that the record finds itself.

    Parameters
    ----------
    names
        Option name of each field that is not named like its option.
    """

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self._names = names or {}
        self._values: dict[str, Any] = {}
        self._problems: list[Problem] = []
        self._out_of_range: dict[str, Problem] = {}

    def plain(self, **values: object) -> None:
        """Take values as they are; None leaves a field to its default."""
        self._values.update({field: value for field, value in values.items() if value is not None})

    def counts(self, **texts: str | None) -> None:
        """Read whole numbers as people write them."""
        self._read(texts, parse_count, "a whole number such as 131072, 128Ki, 130k or 1.5M")

    def params(self, **texts: str | None) -> None:
        """Read parameter counts, in billions where they end in `B`."""
        self._read(texts, _parse_params, "a count such as 70B, 235B or 7000000000")

    def numbers(self, **texts: str | None) -> None:
        """Read decimal numbers."""
        self._read(texts, lambda text: float(_decimal(text)), "a decimal number")

    def scaled(self, unit_size: int, unit: str, **texts: str | None) -> None:
        """Read decimal numbers of a unit, kept as whole numbers of what the unit counts."""
        allowed = f"a number of {unit}"
        self._read(texts, lambda text: int(_decimal(text) * unit_size), allowed)
        for field, text in texts.items():
            # The record would speak of what the unit counts, which nobody typed.
            name = self._names[field]
            self._out_of_range[name] = Problem(name, f"{text!r} is out of range", allowed=allowed)

    def directories(self, option: str, paths: Iterable[Path] | None) -> tuple[Path, ...]:
        """Take directories, and keep a problem of each that is none."""
        found = tuple(paths or ())
        self._problems.extend(_not_directories(found, option))
        return tuple(path for path in found if path.is_dir())

    def text(self, field: str) -> str:
        """Return a value that was taken as it is; empty when it was left out."""
        return str(self._values.get(field, ""))

    def value(self, field: str) -> Any:
        """Return a value that was read; None when it was left out or could not be read."""
        return self._values.get(field)

    def form(self, value: str, allowed: Sequence[str]) -> str:
        """Check the `--format` of a verb and give it back."""
        if value not in allowed:
            problem = Problem(
                "--format",
                f"unknown format {value!r}",
                allowed=f"one of {', '.join(allowed)}",
                hint=did_you_mean(value, allowed),
            )
            self._problems.append(problem)
        return value

    def check(self) -> None:
        """Raise what was found so far.

        Raises
        ------
        InputError
            With every problem found.
        """
        if self._problems:
            raise InputError(self._problems)

    def build(self, record: type[RecordT], further: Callable[[], Iterable[Problem]] = tuple) -> RecordT:
        """Build the record.

        Parameters
        ----------
        record
            Record that the options fill.
        further
            Finds what else is wrong, asked only when the record cannot be built, so that one run shows everything.

        Returns
        -------
        RecordT
            The record, validated.

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
            found = [problem for problem in problems_of(error, self._place) if problem.where not in unread]
            problems.extend(self._out_of_range.get(problem.where, problem) for problem in found)
        if problems:
            raise InputError((*problems, *further()))
        return built

    def _place(self, loc: Loc) -> str:
        """Name the option of a value; of a repeated option also which one, counted from 1, and the field in it."""
        field, index, *inner = (*loc, "", "")[: max(len(loc), 2)]
        name = self._names.get(str(field), str(field))
        numbered = f"{name} {index + 1}" if isinstance(index, int) else name
        return f"{numbered}: {inner[-1]}" if inner else numbered

    def _read(self, texts: Mapping[str, str | None], parse: Callable[[str], Any], allowed: str) -> None:
        """Read texts, or keep their problems."""
        for field, text in texts.items():
            if text is None:
                continue
            try:
                self._values[field] = parse(text)
            except (ValueError, InvalidOperation) as error:
                what = str(error) if isinstance(error, ValueError) and str(error) else f"{text!r} is not a number"
                self._problems.append(Problem(self._names[field], what, allowed=allowed))


def _not_directories(paths: Iterable[Path], option: str) -> list[Problem]:
    """Name each path that is no directory."""
    return [
        Problem(option, f"{path} is {'no directory' if path.exists() else 'missing'}", allowed="a directory")
        for path in paths
        if not path.is_dir()
    ]


def _parse_params(text: str) -> int:
    """Read a parameter count; B is 10^9."""
    stripped = text.strip()
    if stripped[-1:] in ("b", "B"):
        return int(_decimal(stripped[:-1]) * 10**9)
    return parse_count(stripped)


def _decimal(text: str) -> Decimal:
    """Read a finite decimal number exactly."""
    number = Decimal(text.strip())
    if not number.is_finite():
        message = f"{text!r} is not a finite number"
        raise ValueError(message)
    if abs(number) > MAX_COUNT:
        message = f"{text!r} is beyond {MAX_COUNT:,}"
        raise ValueError(message)
    return number
