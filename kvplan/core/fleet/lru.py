"""The least recently used cache of blocks."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class PrefixCache:
    """Blocks of prompts, of which the least recently used go first.

    A prompt touches its blocks from the tail to the head, so that a block never goes before what follows it and the
    cache always holds whole beginnings.

    Parameters
    ----------
    capacity_blocks
        Blocks that it holds [blocks]; None keeps everything.

    Examples
    --------
    >>> cache = PrefixCache(2)
    >>> cache.touch([1, 2, 3])
    >>> cache.hits([1, 2, 3]), cache.hits([4, 1])
    (2, 0)
    """

    def __init__(self, capacity_blocks: int | None) -> None:
        self._capacity = capacity_blocks
        self._held: OrderedDict[int, None] = OrderedDict()

    def hits(self, blocks: Sequence[int]) -> int:
        """Count the blocks at the beginning of a prompt that are held [blocks]."""
        held = self._held
        for position, block in enumerate(blocks):
            if block not in held:
                return position
        return len(blocks)

    def touch(self, blocks: Sequence[int]) -> None:
        """Use the blocks of a prompt, and let the oldest go where there is no room."""
        held = self._held
        for block in reversed(blocks):
            held[block] = None
            held.move_to_end(block)
        if self._capacity is not None:
            for _ in range(len(held) - self._capacity):
                held.popitem(last=False)
