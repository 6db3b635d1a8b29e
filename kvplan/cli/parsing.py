"""Option texts turned into values; every problem is collected, so that one run shows all of them."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from kvplan.errors import InputError, Problem, Problems, did_you_mean
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

    Attributes
    ----------
    problems : Problems
        What was found so far.
    """

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self.problems = Problems()
        self._names = names or {}
        self._values: dict[str, Any] = {}
        self._out_of_range: dict[str, Problem] = {}

    def plain(self, **values: object) -> None:
        """Take values as they are; None leaves a field to its default."""
        self._values.update({field: value for field, value in values.items() if value is not None})

    def counts(self, such_as: str = "131072, 128Ki, 130k or 1.5M", /, **texts: str | None) -> None:
        """Read whole numbers as people write them."""
        self._read(texts, parse_count, f"a whole number such as {such_as}")

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
            name = self._names.get(field, field)
            self._out_of_range[name] = Problem(name, f"{text!r} is out of range", allowed=allowed)

    def directories(self, option: str, paths: Iterable[Path] | None) -> tuple[Path, ...]:
        """Take directories, and keep a problem of each that is none."""
        found = tuple(paths or ())
        self.problems.found.extend(_not_directories(found, option))
        return tuple(path for path in found if path.is_dir())

    def text(self, field: str) -> str:
        """Return a value that was taken as it is; empty when it was left out."""
        return str(self._values.get(field, ""))

    def value(self, field: str) -> Any:
        """Return a value that was read; None when it was left out or could not be read."""
        return self._values.get(field)

    def take(self, field: str) -> Any:
        """Return a value that was read, and leave it out of the record."""
        return self._values.pop(field, None)

    def form(self, value: str, allowed: Sequence[str]) -> str:
        """Check the `--format` of a verb and give it back."""
        self.problems.found.extend(unknown_name("--format", "format", value, allowed))
        return value

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
        with self.problems.kept():
            built = self.made(lambda: record(**self._values), self._place)
        if self.problems.found:
            raise InputError((*self.problems.found, *further()))
        return built

    def made(self, make: Callable[[], RecordT], place: Callable[[Loc], str]) -> RecordT:
        """Make a record of the values.

        Parameters
        ----------
        make
            Makes the record.
        place
            Names the option of a path in it.

        Returns
        -------
        RecordT
            The record, validated.

        Raises
        ------
        InputError
            With what the record finds wrong, but not of options that could not be read.
        """
        try:
            return make()
        except ValidationError as error:
            unread = {problem.where for problem in self.problems.found}
            found = [problem for problem in problems_of(error, place) if problem.where not in unread]
            raise InputError(self._out_of_range.get(problem.where, problem) for problem in found) from error

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
                self.problems.found.append(Problem(self._names.get(field, field), what, allowed=allowed))


def format_of(output: Path | None, form: str | None, endings: Mapping[str, Sequence[str]], *, default: str) -> str:
    """Choose the format of a result: as asked, else by the ending of the file, else the verb's own.

    Parameters
    ----------
    output
        File to save to; None for stdout.
    form
        Format that was asked for, if one was.
    endings
        Every format with the endings of its files; an ending that two share stands for the first.
    default
        Format where neither is given.

    Returns
    -------
    str
        One of the formats.

    Raises
    ------
    InputError
        When there is no such format, the ending says none, or it says another than was asked for.
    """
    if form is not None:
        problems = unknown_name("--format", "format", form, tuple(endings))
        if problems:
            raise InputError(problems)
    if output is None:
        return form or default
    ending = output.suffix.lower()
    named = [known for known, its_endings in endings.items() if ending in its_endings]
    if form is None and not named:
        listed = ", ".join(dict.fromkeys(ending for its_endings in endings.values() for ending in its_endings))
        directories = "".join(f"; a directory goes with --format {known}" for known in endings if not endings[known])
        what, hint = f"{str(output)!r} says no format by its ending", f"or name --format{directories}"
        raise InputError.single(where="--output", what=what, allowed=f"endings: {listed}", hint=hint)
    if form is not None and named and form not in named:
        what = f"{str(output)!r} is named like {named[0]}, but {form} is saved"
        allowed = f"an ending such as {endings[form][0]}" if endings[form] else "a name without an ending"
        raise InputError.single(where="--output", what=what, allowed=allowed)
    return form or named[0]


def keep_inputs(output: Path | None, given: Mapping[str, Any]) -> None:
    """Refuse to save over a file that is read.

    Parameters
    ----------
    output
        File to save to; None for stdout.
    given
        The parameters of the verb by name; paths of files among them are its inputs.

    Raises
    ------
    InputError
        When the output is one of them, under whatever name.
    """
    if output is None or not output.is_file():
        return
    for name, value in given.items():
        for path in value if isinstance(value, list) else [value]:
            if name != "output" and isinstance(path, Path) and path.is_file() and path.samefile(output):
                read_as = "the Plan" if name == "plan" else f"what --{name.replace('_', '-')} reads"
                raise InputError.single(where="--output", what=f"{str(output)!r} is {read_as}", allowed="another file")


def unknown_name(option: str, noun: str, value: str, known: Sequence[str]) -> tuple[Problem, ...]:
    """Return the problem of a name that is not known, if it is not.

    >>> [str(problem) for problem in unknown_name("--format", "format", "jsn", ["json", "csv"])]
    ["--format: unknown format 'jsn'; one of json, csv; did you mean 'json'?"]
    """
    if value in known:
        return ()
    allowed, hint = f"one of {', '.join(known)}", did_you_mean(value, known)
    return (Problem(option, f"unknown {noun} {value!r}", allowed=allowed, hint=hint),)


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
