"""What a fleet is simulated with, and what came of it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from kvplan.schema.base import Confidence, Record
from kvplan.schema.plan import FORMAT_VERSION

Lost = Literal["drive", "node", "leaf", "nothing"]
"""What may be lost of the tier; `nothing` is all well again."""
Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0, le=1e15)]
Moment = Annotated[float, Field(ge=0, le=1e9)]


class Failure(Record):
    """From a moment on [s] something is lost."""

    model_config = ConfigDict(strict=True)

    lost: Lost
    at_s: Moment


class Burst(Record):
    """So many requests that come at one moment [s]."""

    model_config = ConfigDict(strict=True)

    requests: Annotated[int, Field(ge=1, le=10**6)]
    at_s: Moment


class PrefillGiven(Record):
    """Coefficients of a cold prefill as people write them: c0 [ms], a [us/token] and b [ns/token^2]."""

    model_config = ConfigDict(strict=True)

    c0_ms: Annotated[float, Field(ge=0, le=1e5)]
    a_us_per_token: Annotated[float, Field(gt=0, le=1e6)]
    b_ns_per_token2: Annotated[float, Field(ge=0, le=1e6)]


class SimulationRequest(Record):
    """What a person asks of `kvplan simulate`.

    Without a trace requests come at random, `requests_per_s` [1/s] for `duration_s` [s]. Without lengths of its own
    every prompt is as long as the Plan's context. Unless `start` says so, blocks of a trace are not cached before they
    come, and shares of hits hold from the beginning. `tier_share` [1] of the hits are in the shared tier only while
    requests go back to their engine; of the others `shared_share` [1] are on a prefix that every engine holds, the
    rest is found by chance where routing is random. What is not set here a workload says, where there is one.
    """

    model_config = ConfigDict(strict=True)

    requests_per_s: Annotated[float, Field(gt=0, le=10**5)] | None = None
    prompt_tokens: Annotated[int, Field(ge=1, le=10**9)] | None = None
    prompt_sigma: Annotated[float, Field(ge=0, le=5)] = 0.0
    hit_share: Share | None = None
    tier_share: Share = 1.0
    shared_share: Share = 0.0
    reuse_gap_s: Annotated[float, Field(gt=0, le=1e9)] = 300.0
    start: Literal["warm", "cold"] | None = None
    duration_s: Annotated[float, Field(gt=0, le=1e9)] | None = None
    speed: Annotated[float, Field(gt=0, le=10**4)] = 1.0
    routing: Literal["sticky", "random", "round-robin"] = "sticky"
    placement: Literal["striped", "node"] = "striped"
    engines: Annotated[int, Field(ge=1, le=10**5)] | None = None
    local_tokens: Annotated[int, Field(ge=0, le=10**12)] | None = None
    stream_bytes_per_s: Positive | None = None
    prefill: PrefillGiven | None = None
    derate: Annotated[float, Field(ge=0.1, le=100)] | None = None
    fails: tuple[Failure, ...] = ()
    burst: Burst | None = None
    seed: Annotated[int, Field(ge=0, le=10**15)] = 0

    @model_validator(mode="after")
    def _moments_differ(self) -> Self:
        moments = [failure.at_s for failure in self.fails]
        if len(set(moments)) < len(moments):
            message = "two failures at the same moment; a Plan knows one loss at a time"
            raise ValueError(message)
        return self


class Ttft(Record):
    """Time to the first token over all requests [s]."""

    mean_s: float
    p50_s: float
    p90_s: float
    p95_s: float
    p99_s: float
    max_s: float


class FetchTimes(Record):
    """The fetches from the shared tier.

    `alone_s` is the mean time that they would take with the tier to themselves [s]; `lost` of them never came.
    """

    count: int
    lost: int
    bytes: float
    alone_s: float
    mean_s: float
    p99_s: float


class Side(Record):
    """One of the two fleets: time to the first token, and how busy its engines are.

    `engine_busy_share` is the work that comes over what all engines can do [1]; from 1 on queues grow without end.
    """

    ttft: Ttft
    cached_share: float
    engine_busy_share: float


class Moments(Record):
    """What happens from one moment to the next; the requests are those that came then."""

    start_s: float
    end_s: float
    requests: int
    with_p50_s: float | None
    with_p99_s: float | None
    without_p50_s: float | None
    without_p99_s: float | None
    read_bytes_per_s: float
    read_share: float
    with_engine_share: float
    without_engine_share: float


class FleetShape(Record):
    """The fleet as it was simulated."""

    engines: int
    tp: int
    engines_behind_a_nic: int
    nic_bytes_per_s: float
    stream_bytes_per_s: float
    shared_bytes_per_s: float
    write_bytes_per_s: float
    local_tokens: int
    loaded_bytes_per_token: float
    prefill_source: str
    prefill_confidence: Confidence
    cold_tokens_per_s: float


class SimulationReport(Record):
    """What `kvplan simulate` finds."""

    format_version: str = FORMAT_VERSION
    plan_sha256: str
    source: str
    workload: str | None = None
    request: SimulationRequest
    requests: int
    duration_s: float
    mean_prompt_tokens: float
    fleet: FleetShape
    with_tier: Side
    without_tier: Side
    mean_speedup: float
    fetches: FetchTimes
    tier_busy_share: float
    timeline: tuple[Moments, ...]
    notes: tuple[str, ...]
