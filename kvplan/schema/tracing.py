"""What is asked of a request trace, and what it says about the cache that would serve it.

Counts of blocks, tokens and hits are exact for the trace, unless it is so long that they come from a sample. Bytes are
tokens times what the model's back end stores for a token. Figures in bytes are absent without a model; figures about
reuse are absent where the trace has no block ids; rates are absent where it has no times.
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from kvplan.schema.base import Record
from kvplan.schema.plan import FORMAT_VERSION
from kvplan.schema.request import KvDtype, SoftwareChoice
from kvplan.schema.software import BackendId

Policy = Literal["fifo", "purge-80", "purge-50", "second-touch"]


class TraceAsked(Record):
    """What a person asks of `kvplan trace`.

    `block_tokens` is what the ids of the trace stand for; where it is absent, what the form has. `characters_per_token`
    is for traces that hold texts. `target` is the share of the hits of an endless cache that is wanted. `fleet_scale`
    is how many times the traced traffic the fleet has. `tier_bytes` are the sizes of the tiers above the shared one,
    summed over the engines that serve the traced traffic, the fastest first; `instances` counts these engines.
    """

    model_config = ConfigDict(strict=True)

    model: str | None = Field(default=None, min_length=1)
    kv_dtype: KvDtype = "bf16"
    software: SoftwareChoice = "reference"
    cache_backend: BackendId | None = None
    block_tokens: int | None = Field(default=None, ge=1, le=10**6)
    characters_per_token: float = Field(default=4.0, gt=0, le=100)
    target: float = Field(default=0.9, gt=0, le=1)
    fleet_scale: float = Field(default=1.0, gt=0, le=10**6)
    tier_bytes: tuple[int, ...] = Field(default=(), max_length=3)
    instances: int = Field(default=1, ge=1, le=4096)


class TraceSource(Record):
    """The trace as it was read.

    `malformed` counts the lines that were left out, `problems` says what is wrong with the first of them.
    """

    name: str
    kind: str
    block_tokens: int | None
    span_s: float | None
    malformed: int
    problems: tuple[str, ...]


class KvBytes(Record):
    """What a token is worth in the tier: written when its block is new, read when it is hit [B/token]."""

    model: str
    kv_dtype: str
    cache_backend: str
    stored_bytes_per_token: float
    loaded_bytes_per_token: float


class Lengths(Record):
    """How long prompts or answers are [tokens]."""

    total: int
    mean: float
    median: int
    p90: int
    p99: int
    max: int


class CurvePoint(Record):
    """A cache of some size and what it hits: `hit_ratio` of the blocks looked up, `token_hit_ratio` of the tokens."""

    tokens: int
    bytes: int | None
    hit_ratio: float
    token_hit_ratio: float


class Capacity(Record):
    """The smallest LRU cache with a share of the token hits of an endless one."""

    target: float
    tokens: int
    bytes: int | None


class WarmWindow(Record):
    """The same figures for the requests of the warm window alone; those before it fill the cache.

    `from_request` counts from 0, `from_s` is its arrival [s].
    """

    from_request: int
    from_s: float
    requests: int
    infinite_token_hit_ratio: float
    capacity_for_target: Capacity
    curve: tuple[CurvePoint, ...]


class Rate(Record):
    """A rate over the trace, and its highest mean over 10 s."""

    mean: float
    peak: float


class Rates(Record):
    """What an endless cache behind all engines would be written and read, scaled to the fleet."""

    write_tokens_per_s: Rate
    read_tokens_per_s: Rate
    write_bytes_per_s: Rate | None
    read_bytes_per_s: Rate | None


class Ttl(Record):
    """Blocks kept for a time after each touch: what is hit, and what the fleet then holds.

    The mean is that of a steady state, the peak that of the trace, which begins with nothing.
    """

    ttl_s: float
    hit_ratio: float
    token_hit_ratio: float
    mean_tokens: int
    peak_tokens: int
    mean_bytes: int | None
    peak_bytes: int | None


class WhatIf(Record):
    """Another policy at the sizes of `belady`.

    `write_share` is what it writes of what an endless cache writes, where it writes less.
    """

    policy: Policy
    write_share: float | None
    points: tuple[CurvePoint, ...]


class TierShare(Record):
    """A tier, fastest first, and the share of the tokens looked up that it serves; the last is the shared tier."""

    name: str
    bytes: int | None
    sticky_token_hit_ratio: float
    random_token_hit_ratio: float


class PointErrors(Record):
    """Standard errors of a point of a sampled curve: of the ratios at a cache of so many `tokens` [1]."""

    tokens: int
    hit_ratio: float
    token_hit_ratio: float


class StandardErrors(Record):
    """Standard errors of the figures of a window that they are named like, in the same units."""

    infinite_hit_ratio: float
    infinite_token_hit_ratio: float
    capacity_tokens: float
    curve: tuple[PointErrors, ...]


class TraceSample(Record):
    """How a trace too long to be counted whole was sampled, and the standard errors that this makes.

    `every` is how many blocks each followed one stands for, `samples` how many samples were drawn, `unique_blocks` the
    standard error of their number [blocks]. Errors show the choice of blocks only.
    """

    every: int
    samples: int
    unique_blocks: float
    whole: StandardErrors
    warm: StandardErrors


class TraceReport(Record):
    """What `kvplan trace` finds; with a `sample`, figures about reuse are estimates."""

    format_version: str = FORMAT_VERSION
    trace: TraceSource
    kv: KvBytes | None
    fleet_scale: float
    requests: int
    requests_per_s: float | None
    input_tokens: Lengths
    output_tokens: Lengths
    block_accesses: int | None = None
    unique_blocks: int | None = None
    infinite_hit_ratio: float | None = None
    infinite_token_hit_ratio: float | None = None
    working_set_tokens: int | None = None
    working_set_bytes: int | None = None
    capacity_for_target: Capacity | None = None
    curve: tuple[CurvePoint, ...] = ()
    belady: tuple[CurvePoint, ...] = ()
    warm: WarmWindow | None = None
    sample: TraceSample | None = None
    rates: Rates | None = None
    ttl: tuple[Ttl, ...] = ()
    what_ifs: tuple[WhatIf, ...] = ()
    tiers: tuple[TierShare, ...] = ()
    unknown: tuple[str, ...]
    notes: tuple[str, ...]
