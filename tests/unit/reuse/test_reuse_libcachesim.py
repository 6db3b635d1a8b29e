"""Hit counts of another program, where it is installed; its licence keeps it out of kvplan's own dependencies."""

from __future__ import annotations

from typing import Any

import pytest
from public_traces import TRACES
from reuse_oracles import CONVERSATION, SYNTHETIC, generated_prompts, real_prompts

from kvplan.core.reuse.distances import stack_distances
from kvplan.core.reuse.prompt import Prompt

lcs: Any = pytest.importorskip("libcachesim", reason="libcachesim is not installed: a test-only check")


def one_by_one(trace: list[Prompt]) -> list[Prompt]:
    """Return the accesses of a trace as prompts of one block, since libcachesim knows no prompts, last block first."""
    return [Prompt(prompt.time_s, (block,), 512) for prompt in trace for block in reversed(prompt.blocks)]


def hits_of_libcachesim(accesses: list[Prompt], capacity: int) -> int:
    cache = lcs.LRU(capacity)
    request = lcs.Request()
    hits = 0
    for access in accesses:
        request.obj_id = access.blocks[0]
        request.obj_size = 1
        hits += cache.get(request)
    return hits


@pytest.mark.parametrize("name", [CONVERSATION, SYNTHETIC, "generated"])
def test_hit_counts_equal_those_of_libcachesim_at_eight_capacities(name: str) -> None:
    if name != "generated" and not TRACES.is_dir():
        pytest.skip("the real traces are not here")
    accesses = one_by_one(generated_prompts(1_000) if name == "generated" else real_prompts(name))
    found = stack_distances(accesses, 512)
    for share in (0.001, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 1.0):
        capacity = max(round(share * found.unique_blocks), 1)
        assert found.whole.hit_blocks(capacity) == hits_of_libcachesim(accesses, capacity)
