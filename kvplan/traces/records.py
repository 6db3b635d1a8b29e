"""A trace once it is read: its requests in the order of their arrival, and what its form cannot tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from kvplan.errors import Problem

TraceKind = Literal[
    "mooncake", "bailian", "lengths", "aiperf-sessions", "aiperf-text", "aiperf-inputs", "azure", "burstgpt"
]
KIND_WORDS: dict[TraceKind, str] = {
    "mooncake": "Mooncake JSONL",
    "bailian": "Qwen-Bailian JSONL",
    "lengths": "JSONL of lengths",
    "aiperf-sessions": "AIPerf JSONL of sessions",
    "aiperf-text": "AIPerf JSONL of texts",
    "aiperf-inputs": "AIPerf inputs.json",
    "azure": "Azure CSV",
    "burstgpt": "BurstGPT CSV",
}
"""Every form that is read, as people call it."""


class TraceRequest(NamedTuple):
    """One request: when it arrived [s after the first], its lengths [tokens], its blocks and its session.

    `blocks` are prefix-chained ids: an id stands for a block and everything before it. Only the last block is partial.
    None where the trace has no ids.
    """

    time_s: float
    input_tokens: int
    output_tokens: int
    blocks: tuple[int, ...] | None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace, and what to think of it.

    Attributes
    ----------
    name : str
        The file as it was named.
    kind : TraceKind
        Its form.
    requests : list of TraceRequest
        In the order of arrival.
    block_tokens : int or None
        Tokens of a block [tokens]; None where the trace has no ids.
    timed : bool
        Whether arrivals are known; where not, `time_s` counts requests.
    malformed : int
        Lines left out.
    problems : tuple of Problem
        The first of them, each with its place.
    unknown : tuple of str
        What cannot be known from this trace, and why.
    notes : tuple of str
        What was done to it or assumed of it.
    """

    name: str
    kind: TraceKind
    requests: list[TraceRequest]
    block_tokens: int | None
    timed: bool = True
    malformed: int = 0
    problems: tuple[Problem, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
