"""A trace replayed: which engine each request goes to, and what it finds there and in the shared tier."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final, Literal

from kvplan.core.fleet.jobs import Arrival, Job
from kvplan.core.fleet.lru import PrefixCache

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Routing = Literal["sticky", "random", "round-robin"]
_LEAD_WEIGHT: Final = 0.05
"""How much a token that an engine has computed more than the others weighs against one that it holds [1].

On the public conversation trace engines then work equally within 2 %, and hit as often as one cache of all their room.
"""


@dataclass(frozen=True, slots=True)
class Caches:
    """Who holds how much: `local_blocks` in each engine, `tier_blocks` in the shared tier, None for no end [blocks].

    With a `warm` start the shared tier held every block of the trace before it began.
    """

    engines: int
    block_tokens: int
    local_blocks: int
    tier_blocks: int | None = None
    warm: bool = False


def replay(arrivals: Iterable[Arrival], caches: Caches, routing: Routing, seed: int) -> list[Job]:
    """Find for each request of a trace its engine and what is cached of it.

    Parameters
    ----------
    arrivals
        Requests by their arrival [s], each with its prefix-chained blocks.
    caches
        Engines [engines], blocks that they and the shared tier hold [blocks], and tokens of a block [tokens].
    routing
        `sticky` joins the engine that holds most of the prompt, unless it has computed far more than others; `random`;
        `round-robin`.
    seed
        What random routing follows from [1].

    Returns
    -------
    list of Job
        The requests at their engines.

    Notes
    -----
    A prompt is cached everywhere from its arrival on, so that of two equal ones close together the second hits. What
    decoding adds is no block of the trace, so that reuse is understated by at most the output's share.

    References
    ----------
    Least recently used with the tail touched first, as vLLM's prefix cache frees blocks.

    Examples
    --------
    >>> twice = [Arrival(0.0, 1_000, (1, 2)), Arrival(9.0, 1_500, (1, 2, 3))]
    >>> [job[1:] for job in replay(twice, Caches(2, 512, 100), "round-robin", seed=0)]
    [(0, 1000, 0, 0), (1, 1500, 0, 1024)]
    >>> [job[1:] for job in replay(twice, Caches(2, 512, 100), "sticky", seed=0)]
    [(0, 1000, 0, 0), (0, 1500, 1024, 0)]
    """
    asked = list(arrivals)
    local = [PrefixCache(caches.local_blocks) for _ in range(caches.engines)]
    tier = PrefixCache(caches.tier_blocks)
    if caches.warm:
        for arrival in asked:
            tier.touch(arrival.blocks)
    choose = _Router(local, caches.block_tokens, routing, seed)
    jobs = []
    for arrival in asked:
        engine, near = choose.engine(arrival)
        far = max(min(tier.hits(arrival.blocks) * caches.block_tokens, arrival.tokens), near)
        local[engine].touch(arrival.blocks)
        tier.touch(arrival.blocks)
        jobs.append(Job(arrival.time_s, engine, arrival.tokens, near, far - near))
    return jobs


class _Router:
    """Chooses engines."""

    def __init__(self, local: Sequence[PrefixCache], block_tokens: int, routing: Routing, seed: int) -> None:
        self._local = local
        self._block_tokens = block_tokens
        self._routing = routing
        self._random = Random(seed)  # noqa: S311 - a simulation, not a secret
        self._sent = 0
        self._computed = [0] * len(local)

    def engine(self, arrival: Arrival) -> tuple[int, int]:
        """Return the engine of a request, and the tokens that it holds of it [tokens]."""
        if self._routing == "sticky":
            return self._nearest(arrival)
        engine = self._sent % len(self._local)
        if self._routing == "random":
            engine = self._random.randrange(len(self._local))
        self._sent += 1
        return engine, self._held(engine, arrival)

    def _nearest(self, arrival: Arrival) -> tuple[int, int]:
        """Choose by what is left to compute, and by what was computed so far."""
        held = [self._held(engine, arrival) for engine in range(len(self._local))]
        engine = min(range(len(held)), key=lambda index: _LEAD_WEIGHT * self._computed[index] - held[index])
        self._computed[engine] += arrival.tokens - held[engine]
        return engine, held[engine]

    def _held(self, engine: int, arrival: Arrival) -> int:
        """Return the tokens of a prompt that an engine holds [tokens]."""
        return min(self._local[engine].hits(arrival.blocks) * self._block_tokens, arrival.tokens)
