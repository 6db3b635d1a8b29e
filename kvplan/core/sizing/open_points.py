"""Assumed values that matter to a Plan, to be confirmed before money is spent."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from kvplan.core.paths import CONSTANTS
from kvplan.schema.plan import OpenPoint
from kvplan.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.core.sizing.outcome import Outcome
    from kvplan.schema.base import Constant
    from kvplan.schema.hardware import Row


def open_points(outcome: Outcome) -> tuple[OpenPoint, ...]:
    """List the assumed constants and catalogue rows that the Plan rests on.

    Parameters
    ----------
    outcome
        Everything that the engine computed.

    Returns
    -------
    tuple of OpenPoint
        Constants, then rows, then what is assumed of the model.

    Examples
    --------
    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> [point.id for point in plan.open_points if point.id.startswith("constants.hbm")]
    ['constants.hbm.concurrency_per_engine', 'constants.hbm.overhead_bytes']

    References
    ----------
    The `confidence` of each catalogue row; values keep their own unit, such as [B] or [1].
    """
    return (*_constants(outcome), *_rows(outcome), *_model(outcome))


def _constants(outcome: Outcome) -> Iterator[OpenPoint]:
    """Yield the assumed calibrations that were used."""
    unused = {"hbm.concurrency_per_engine"} if outcome.inputs.request.concurrency is not None else set()
    for name, constant in sorted(outcome.inputs.constants.items()):
        if constant.confidence == "assumed" and name not in unused:
            yield _constant_point(name, constant)


@lru_cache(maxsize=256)
def _constant_point(name: str, constant: Constant) -> OpenPoint:
    """Write down one assumed calibration, once for all requests."""
    text = f"{format_quantity(constant.value, constant.unit)}; {constant.note or constant.source}"
    return OpenPoint(id=f"{CONSTANTS}{name}", text=text, source=constant.source)


def _rows(outcome: Outcome) -> Iterator[OpenPoint]:
    """Yield the assumed rows of the hardware and software that the Plan names."""
    parts, stack = outcome.chosen.parts, outcome.setup.stack
    rows: tuple[tuple[str, Row], ...] = (
        ("gpus", outcome.inputs.gpu),
        ("nics", outcome.inputs.gpu_nic),
        ("servers", parts.server),
        ("drives", parts.drive),
        ("nics", parts.client_nic),
        ("nics", parts.storage_nic),
        ("switches", parts.switch),
        ("backends", stack.backend),
        ("software", stack.software),
    )
    # Keyed by name, since the same adapter may stand in several places.
    assumed = {f"{table}.{row.id}": row for table, row in rows if row.confidence == "assumed"}
    for point, row in assumed.items():
        yield OpenPoint(id=point, text=row.note or row.title or row.id, source=row.source)


def _model(outcome: Outcome) -> Iterator[OpenPoint]:
    """Yield the model's row and parameter count where they are assumed."""
    model = outcome.inputs.model
    if model.spec.confidence == "assumed":
        text = f"layer groups of {model.spec.id} are not from the publisher's own configuration"
        yield OpenPoint(id=f"models.{model.spec.id}", text=text, source=model.spec.source)
    if model.spec.max_position_tokens is None:
        text = f"the catalogue holds no maximum context for {model.spec.id}; the length asked for was not checked"
        yield OpenPoint(id=f"models.{model.spec.id}.max-position", text=text, source=model.spec.source)
