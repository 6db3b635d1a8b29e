"""The three accountings of a model's KV cache, and what an engine's memory holds of it."""

from __future__ import annotations

from typing import Annotated, Literal

from kvplan.schema.base import Explained, Record

AccountingName = Literal["minimal", "vllm-gpu", "external-tier"]


class Accounting(Record):
    """bytes(n) = bytes_per_token x n + fixed_bytes for long n; `context_bytes` is exact for the context asked for.

    `scope` says what is counted: the whole model once, one GPU of the engine, or everything an engine writes.
    `formula` is the sum with the model's numbers put in, one line a layer group.
    """

    name: AccountingName
    scope: str
    rule: str
    bytes_per_token: Annotated[float, Explained("B/token", "sum of the growing terms of all layer groups")]
    fixed_bytes: Annotated[int, Explained("B", "sum of the window and state terms, full once the context exceeds them")]
    context_bytes: Annotated[int, Explained("B", "the same sum evaluated at request.context_tokens, rounded to blocks")]
    formula: tuple[str, ...]


class Accountings(Record):
    """The same model counted three ways; none is wrong, they answer different questions."""

    minimal: Accounting
    vllm_gpu: Accounting
    external_tier: Accounting

    @property
    def all(self) -> tuple[Accounting, ...]:
        """The three, from what a model must keep to what a tier stores."""
        return self.minimal, self.vllm_gpu, self.external_tier


class VllmLog(Record):
    """What vLLM prints at start: the size of the GPU KV cache in tokens and the maximum concurrency.

    Where not one request of `max_model_len` fits, vLLM does not start; its error then names `needed_bytes` and
    `estimated_max_length`, which are absent otherwise.
    """

    available_bytes: int
    vllm_version: str
    rule: str
    block_tokens: int
    groups: int
    blocks: int
    tokens: int
    max_concurrency: float
    max_model_len: int
    needed_bytes: int | None = None
    estimated_max_length: int | None = None
