"""What a workload is: how often requests come, how long they are, what they repeat, and where their hits are found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from kvplan.schema.base import Record
from kvplan.schema.hardware import PositiveFloat, Row

if TYPE_CHECKING:
    from collections.abc import Mapping

Routing = Literal["sticky", "random"]
"""Whether a request goes to the engine that may still hold its prefix, or to any."""
Share = Annotated[float, Field(ge=0, le=1)]
Bytes = Annotated[float, Field(ge=0)]
Several = tuple[tuple[str, ...], ...]

ARRIVAL: Final[Several] = (("requests_per_s",), ("requests_per_s_per_gpu",), ("busy_share",))
"""Three ways to say how much comes: for the whole fleet, for one GPU, or by how busy the GPUs are."""
REUSE: Final[Several] = (("hit_share",), ("suffix_tokens",))
"""Two ways to say what is new of a prompt: a share of it, or a length of its own."""
PLACE: Final[Several] = (
    ("g4_share",),
    ("local_hit_share",),
    ("g1_bytes_per_gpu", "g2_bytes_per_gpu", "g3_bytes_per_gpu"),
)
"""Three ways to say which hits the shared tier must serve; none of them: all hits."""
_SPREADS: Final[Several] = (("constant",), ("p50", "p90", "p99"), ("mean", "sigma"))
_WAYS: Final = (
    ("how much comes", ARRIVAL, 1),
    ("what is new of a prompt", REUSE, 1),
    ("where hits are found", PLACE, 0),
)


class Spread(Record):
    """A quantity that differs from request to request: a constant, percentiles, or a lognormal by mean and sigma.

    A number alone is a constant. Percentiles are the median and one or two above it. `sigma` [1] is the standard
    deviation of the logarithm.
    """

    model_config = ConfigDict(strict=True)

    constant: PositiveFloat | None = None
    p50: PositiveFloat | None = None
    p90: PositiveFloat | None = None
    p99: PositiveFloat | None = None
    mean: PositiveFloat | None = None
    sigma: Annotated[float, Field(ge=0, le=5)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _number_alone(cls, data: Any) -> Any:
        """Take a bare number as a constant; true and false are no numbers."""
        return {"constant": data} if isinstance(data, int | float) and not isinstance(data, bool) else data

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        message = _not_one(self, "a spread", _SPREADS, 1)
        if message:
            raise ValueError(message)
        if self.p90 is not None or self.p99 is not None or self.p50 is not None:
            self._check_percentiles()
        if (self.mean is None) != (self.sigma is None):
            message = "mean and sigma go together"
            raise ValueError(message)
        return self

    @property
    def typical(self) -> float:
        """The value that stands for all: the constant, the median or the mean."""
        return self.constant or self.p50 or self.mean or 0.0

    def _check_percentiles(self) -> None:
        """Refuse percentiles without the median, without one above it, or in the wrong order."""
        upper = [value for value in (self.p90, self.p99) if value is not None]
        if self.p50 is None or not upper:
            message = "percentiles are p50 with p90, p99 or both"
            raise ValueError(message)
        if sorted((self.p50, *upper)) != [self.p50, *upper]:
            message = "percentiles must not fall: p50, p90, p99"
            raise ValueError(message)


class Workload(Record):
    """The requests of a fleet as they come, day in, day out.

    Exactly one of `requests_per_s` [1/s], `requests_per_s_per_gpu` [1/s] and `busy_share` [1] says how much comes;
    exactly one of `hit_share` [1] and `suffix_tokens` [tokens] what is new of a prompt. Of the tokens that hit,
    `g4_share` [1] must come from the shared tier; or `local_hit_share` [1] is what GPU, host and local flash answer
    while requests go back to the engine that served them; or the sizes of these tiers decide, with `reuse_gap_s` [s],
    the time from one use of a prefix to its next. `shared_share` [1] of the hits is a prefix that all prompts share.
    `write_share` [1] of what is new goes to the tier. None of `burst_factor` [1]: it follows from the rate.
    """

    model_config = ConfigDict(strict=True)

    requests_per_s: PositiveFloat | None = None
    requests_per_s_per_gpu: PositiveFloat | None = None
    busy_share: Annotated[float, Field(gt=0, le=1)] | None = None
    prompt_tokens: Spread
    suffix_tokens: Spread | None = None
    hit_share: Share | None = None
    output_tokens: Annotated[float, Field(ge=0)] = 300.0
    itl_s: PositiveFloat = 0.015
    decode_batch: PositiveFloat = 32.0
    routing: Routing = "sticky"
    g4_share: Share | None = None
    local_hit_share: Share | None = None
    g1_bytes_per_gpu: Bytes | None = None
    g2_bytes_per_gpu: Bytes | None = None
    g3_bytes_per_gpu: Bytes | None = None
    reuse_gap_s: Spread | None = None
    shared_share: Share = 0.0
    retention_s: PositiveFloat = 3600.0
    burst_factor: Annotated[float, Field(ge=1)] | None = None
    write_share: Share = 1.0
    store_output: bool = False
    keep_endurance: bool = False
    ttft_target_s: PositiveFloat | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        problems = [_not_one(self, *ways) for ways in _WAYS]
        if self.local_bytes_per_gpu and self.reuse_gap_s is None:
            problems.append("sizes of local tiers decide only with reuse_gap_s")
        if self.suffix_tokens is not None and self.suffix_tokens.typical > self.prompt_tokens.typical:
            problems.append("suffix_tokens is longer than prompt_tokens, whose end it is")
        message = "; ".join(filter(None, problems))
        if message:
            raise ValueError(message)
        return self

    @property
    def local_bytes_per_gpu(self) -> float:
        """Room for KV in GPU, host and local flash, for each GPU [B]."""
        return sum(size or 0.0 for size in (self.g1_bytes_per_gpu, self.g2_bytes_per_gpu, self.g3_bytes_per_gpu))


class WorkloadPreset(Row):
    """A workload under a name; its sources say where each of its numbers comes from."""

    workload: Workload


def exclusive(field: str) -> tuple[str, ...]:
    """List the fields of a workload that another field replaces.

    Parameters
    ----------
    field
        Name of the field that is set.

    Returns
    -------
    tuple of str
        Names of the fields that say the same thing in another way.

    Examples
    --------
    >>> exclusive("busy_share"), exclusive("output_tokens")
    (('requests_per_s', 'requests_per_s_per_gpu'), ())
    """
    for groups in (ARRIVAL, REUSE, PLACE):
        if any(field in group for group in groups):
            return tuple(name for group in groups if field not in group for name in group)
    return ()


def replacing(fields: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Put fields over others; what says the same in another way goes.

    Parameters
    ----------
    fields
        Fields of a workload.
    given
        Those that count more.

    Returns
    -------
    dict
        Fields of a workload, not validated.

    Examples
    --------
    >>> replacing({"busy_share": 0.7, "hit_share": 0.5}, {"requests_per_s": 40.0})
    {'hit_share': 0.5, 'requests_per_s': 40.0}
    """
    replaced = {other for field in given for other in exclusive(field)}
    return {field: value for field, value in fields.items() if field not in replaced} | dict(given)


def _not_one(record: Record, what: str, groups: Several, least: int) -> str:
    """Say so when a record says one thing in several ways, or in none where one is needed."""
    given = [name for group in groups for name in group if getattr(record, name) is not None]
    count = sum(any(name in given for name in group) for group in groups)
    if least <= count <= 1:
        return ""
    ways = " or ".join(", ".join(group) for group in groups)
    found = f"not {' and '.join(given)}" if given else "none is given"
    return f"{what} is said by {'one' if least else 'at most one'} of {ways}; {found}"
