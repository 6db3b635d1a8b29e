"""Explanations that hold on the basis `workload`, where the guidance's own formulas do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.core.explanation import numbers
from kvplan.schema.plan import Derivation

if TYPE_CHECKING:
    from kvplan.core.sizing.outcome import Outcome

_LOAD: Final = "workload.load"
_UNITS: Final = {"_tokens": "tokens", "_s": "s", "_bytes_per_gpu": "B", "_per_s": "1/s", "_per_s_per_gpu": "1/s"}
"""Units by the endings of a workload's fields; the longest that fits counts, and what has none is a ratio."""
_BASIS: Final = {
    "demand.read_bytes_per_s": Derivation(
        formula="reads of the workload", unit="B/s", inputs=(f"{_LOAD}.read_bytes_per_s",)
    ),
    "demand.write_bytes_per_s": Derivation(
        formula="writes of the workload", unit="B/s", inputs=(f"{_LOAD}.write_bytes_per_s",)
    ),
    "demand.capacity_bytes": Derivation(
        formula="the larger of held_bytes / low watermark and the contexts in flight",
        unit="B",
        inputs=(f"{_LOAD}.held_bytes", "constants.flash.low_watermark", "hbm.engines", "request.concurrency"),
    ),
    "buys.planned_read_bytes_per_s": Derivation(
        formula="planned share x read rate x (1 - interference x writes / write rate), at most what the path carries",
        unit="B/s",
        inputs=(
            "profile.read_bytes_per_s",
            "profile.write_bytes_per_s",
            f"{_LOAD}.write_bytes_per_s",
            "constants.guidance.planned_read_share",
            "constants.tier.write_interference",
            "network.read_bytes_per_s",
        ),
    ),
    "candidates[].limits[read_bandwidth].have": Derivation(
        formula="planned share x what the writes leave of the candidate's read rate", unit="B/s"
    ),
}


def workload_derivations(outcome: Outcome) -> dict[str, Derivation]:
    """Explain what a workload changes, and each number of the workload by where it was given.

    Parameters
    ----------
    outcome
        Everything that the engine computed.

    Returns
    -------
    dict of Derivation
        Explanations by path; none on another basis.

    Examples
    --------
    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> plan.derivation["demand.read_bytes_per_s"].formula
    'gpus x guidance rate per GPU'

    References
    ----------
    The workload's own row or file; units are those of the fields, such as [1/s].
    """
    planned = outcome.workload
    if planned is None:
        return {}
    source = f"workload {planned.name}" if planned.name else "the request"
    given = {
        f"workload.given.{path}": Derivation(formula="as the workload gives it", unit=_unit(path), source=source)
        for path, _ in numbers(planned.given.model_dump(mode="json"))
    }
    return {**_BASIS, **given}


def _unit(path: str) -> str:
    """Tell the unit of a field from its name; a spread has that of the field around it."""
    name = path.split(".", maxsplit=1)[0]
    if path.endswith(".sigma"):
        return "ratio"
    endings = sorted((ending for ending in _UNITS if name.endswith(ending)), key=len)
    return _UNITS[endings[-1]] if endings else "ratio"
