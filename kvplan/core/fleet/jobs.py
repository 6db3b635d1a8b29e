"""Requests as the fleet gets them: when, at which engine, and what of the prompt is found where."""

from __future__ import annotations

from typing import NamedTuple


class Job(NamedTuple):
    """One request at its engine.

    `local_tokens` of its prompt are in the engine's own tiers [tokens], and `tier_tokens` that follow them only in the
    shared tier [tokens]; the rest is new.
    """

    arrival_s: float
    engine: int
    tokens: int
    local_tokens: int = 0
    tier_tokens: int = 0


class Arrival(NamedTuple):
    """A prompt that comes in: when [s], how long [tokens], and its blocks if they are known."""

    time_s: float
    tokens: int
    blocks: tuple[int, ...] = ()
