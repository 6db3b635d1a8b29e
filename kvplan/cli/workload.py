"""The options of a workload: its name or file, a trace, and single numbers that replace its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.catalogue.loader import Catalogue
    from kvplan.schema.workload import Workload

Name = Annotated[
    str | None,
    typer.Option(
        "--workload",
        help="What the fleet serves: chat, rag, agent, docqa, batch, or a YAML file. Default: the published guidance.",
        metavar="NAME|FILE",
    ),
]
Numbers = Annotated[
    list[str] | None,
    typer.Option(
        "--with", help="A number of the workload, such as hit_share=0.8; may be repeated.", metavar="NAME=VALUE"
    ),
]
Trace = Annotated[
    Path | None,
    typer.Option("--trace", help="Take the workload from a request trace (see kvplan trace).", metavar="FILE"),
]
Scale = Annotated[
    str | None,
    typer.Option(
        "--fleet-scale", help="Traffic of the fleet over that of the trace. Default: as busy as chat.", metavar="NUMBER"
    ),
]
_BASE = "chat"
"""What a trace does not tell is as in this workload."""


@dataclass(frozen=True, slots=True)
class WorkloadAsked:
    """What was said of the workload on the command line."""

    name: str | None
    numbers: Sequence[str] | None
    trace: Path | None
    scale: float | None

    @property
    def given(self) -> bool:
        """Whether there is one at all."""
        return bool(self.name or self.numbers or self.trace)

    @property
    def title(self) -> str:
        """What the Plan calls it."""
        return self.name or (self.trace.name if self.trace else "as given")


def read_workload(asked: WorkloadAsked, catalogue: Catalogue, base: Workload | None = None) -> Workload | None:
    """Read the workload, then put single numbers in place.

    Parameters
    ----------
    asked
        What was said on the command line.
    catalogue
        Where presets are looked up.
    base
        What single numbers change where neither name nor trace is given.

    Returns
    -------
    Workload or None
        The workload; None where nothing was said.

    Raises
    ------
    InputError
        With every problem of the file or of the numbers.
    """
    from pydantic import ValidationError

    from kvplan.core.sizing.workload import with_overrides
    from kvplan.errors import InputError
    from kvplan.inputs.validation import problems_of
    from kvplan.schema.workload import Workload
    from kvplan.workloads import load_workload

    if not asked.given:
        return None
    if asked.name and asked.trace:
        raise InputError.single(
            where="--workload, --trace", what="both say what the fleet serves", hint="leave one out"
        )
    numbers = _numbers(asked.numbers or ())
    try:
        if asked.trace:
            return _of_trace(asked, asked.trace, catalogue, numbers)
        if asked.name:
            return with_overrides(load_workload(asked.name, catalogue), numbers)
        return with_overrides(base, numbers) if base else Workload.model_validate(numbers)
    except ValidationError as error:
        raise InputError(problems_of(error, lambda loc: f"--with {'.'.join(map(str, loc))}".strip())) from error


def _of_trace(asked: WorkloadAsked, trace: Path, catalogue: Catalogue, numbers: dict[str, Any]) -> Workload:
    """Take the workload from a trace; numbers count more."""
    from kvplan.api import trace_report
    from kvplan.core.sizing.workload_trace import workload_of_trace
    from kvplan.errors import InputError
    from kvplan.schema.tracing import TraceAsked
    from kvplan.workloads import load_workload

    wanted = TraceAsked()
    report = trace_report(trace, wanted, catalogue=catalogue)
    if report.infinite_token_hit_ratio is None and not {"hit_share", "suffix_tokens"} & set(numbers):
        raise InputError.single(
            where="--trace",
            what="has no ids of blocks, so what its prompts repeat cannot be known",
            hint="give it: --with hit_share=0.5",
        )
    base = load_workload(_BASE, catalogue)
    return workload_of_trace(report, base, numbers, target=wanted.target, scale=asked.scale)


def _numbers(given: Sequence[str]) -> dict[str, Any]:
    """Read `NAME=VALUE`; a value is YAML, so that a spread can be given too."""
    from kvplan.errors import InputError, Problem, did_you_mean
    from kvplan.inputs.yaml_text import parse_yaml
    from kvplan.schema.workload import Workload

    found: dict[str, Any] = {}
    problems = []
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            allowed = "NAME=VALUE, such as hit_share=0.8 or routing=random"
            problems.append(Problem("--with", f"{text!r} is no number of a workload", allowed=allowed))
            continue
        if name not in Workload.model_fields:
            allowed = f"numbers of a workload: {', '.join(Workload.model_fields)}"
            hint = did_you_mean(name, Workload.model_fields)
            problems.append(Problem("--with", f"{name!r} is not known", allowed=allowed, hint=hint))
            continue
        found[name] = parse_yaml(value, f"--with {name}")
    if problems:
        raise InputError(problems)
    return found
