"""Rows of the table of measurements: what somebody published of a system that ran, shown beside what is computed."""

from __future__ import annotations

from typing import Literal

from kvplan.schema.hardware import PositiveFloat, PositiveInt, Row


class Measurement(Row):
    """One published time to first token: of which model on which GPU, how long a prompt, cold or from the cache.

    `model` and `gpu` are ids of the catalogue; `setup` says in a few words what ran.
    """

    model: str
    gpu: str
    prompt: Literal["cold", "cached"]
    context_tokens: PositiveInt
    ttft_s: PositiveFloat
    setup: str
