"""What a policy yields over a trace, in a form that all policies share."""

from __future__ import annotations

from typing import NamedTuple


class Outcome(NamedTuple):
    """Hits and writes of one policy at one size of the cache.

    Attributes
    ----------
    hit_blocks
        Blocks found, over the requests that count [blocks].
    hit_tokens
        Tokens found, over the requests that count [tokens].
    written_blocks
        Blocks put into the cache, over the requests that count [blocks].
    """

    hit_blocks: int
    hit_tokens: int
    written_blocks: int
