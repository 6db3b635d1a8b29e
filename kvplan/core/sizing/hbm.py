"""What GPU memory holds before any shared tier is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kvplan.core.arithmetic import ceil_div
from kvplan.schema.plan import PlanHbm


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """One GPU's memory [B], the share of it vLLM may use [1], and what is neither weights nor KV [B]."""

    memory_bytes: int
    utilisation: float
    overhead_bytes: int


def kv_bytes_per_gpu(budget: MemoryBudget, weights_bytes: int, tp: int) -> int:
    r"""Return the memory left for KV cache on one GPU.

    .. math:: KV = \max(0, \lfloor M u \rfloor - \lceil W / TP \rceil - O)

    Parameters
    ----------
    budget
        Memory M [B], utilisation u [1] and overhead O [B] of one GPU.
    weights_bytes
        Weights W of the whole model [B].
    tp
        Tensor parallelism TP [1].

    Returns
    -------
    int
        Free bytes of one GPU [B]; 0 when the weights do not fit.

    Notes
    -----
    Weights are taken as divided evenly; embeddings that some engines replicate are part of the overhead.

    Examples
    --------
    The reference GPU (97,887 MiB) with gpt-oss-120b leaves the 19.6 GiB that the Redbook states:

    >>> budget = MemoryBudget(97_887 * 2**20, 0.9, 6_150_000_000)
    >>> round(kv_bytes_per_gpu(budget, 65_190_340_224, 1) / 2**30, 1)
    19.6

    References
    ----------
    IBM Redbook MD260021 (19.6 GiB left for KV); vLLM `gpu_memory_utilization`.
    """
    usable = math.floor(budget.memory_bytes * budget.utilisation)
    return max(0, usable - ceil_div(weights_bytes, tp) - budget.overhead_bytes)


@dataclass(frozen=True, slots=True)
class Fleet:
    """GPUs at hand [1], how many make one engine [1], and contexts in flight per engine [1]."""

    gpus: int
    tp: int
    concurrency: int


def hbm_check(budget: MemoryBudget, fleet: Fleet, weights_bytes: int, context_bytes_per_gpu: int) -> PlanHbm:
    """Count the whole contexts that fit in one engine's free memory and say whether a shared tier is needed.

    Parameters
    ----------
    budget
        One GPU's memory.
    fleet
        GPUs, tensor parallelism and contexts in flight per engine.
    weights_bytes
        Weights of the whole model [B].
    context_bytes_per_gpu
        What the engine reserves on one GPU for one context [B].

    Returns
    -------
    PlanHbm
        Bytes per GPU [B], contexts per engine [1]; `needs_shared_tier` when fewer contexts fit than are in flight.

    Examples
    --------
    >>> budget = MemoryBudget(97_887 * 2**20, 0.9, 6_150_000_000)
    >>> hbm_check(budget, Fleet(128, 1, 7), 65_190_340_224, 130_000 * 73_728).contexts_that_fit
    2

    References
    ----------
    IBM Redbook MD260021, memory left for KV beside the weights (19.6 GiB); contexts are whole ones, exact division.
    """
    free = kv_bytes_per_gpu(budget, weights_bytes, fleet.tp)
    contexts = free // context_bytes_per_gpu if context_bytes_per_gpu else 0
    return PlanHbm(
        gpu_memory_bytes=budget.memory_bytes,
        weights_bytes_per_gpu=ceil_div(weights_bytes, fleet.tp),
        overhead_bytes_per_gpu=budget.overhead_bytes,
        kv_bytes_per_gpu=free,
        contexts_that_fit=contexts,
        engines=fleet.gpus // fleet.tp,
        needs_shared_tier=contexts < fleet.concurrency,
    )
