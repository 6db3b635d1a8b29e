"""The LRU stack of all blocks ever seen, asked at each arrival how deep the blocks of the prompt lie."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from kvplan.core.reuse.fenwick import Fenwick
from kvplan.core.reuse.prefix_tree import PrefixTree

if TYPE_CHECKING:
    from collections.abc import Sequence


class Run(NamedTuple):
    """Consecutive blocks of a prompt that were last touched together and lie one below the other on the stack.

    Attributes
    ----------
    owner
        Request that last touched them.
    position
        Place of the first of them in the prompt [blocks].
    depth
        Blocks that lie above the first of them [blocks]: a cache of `depth + i` blocks still holds the first i.
    length
        How many they are [blocks].
    """

    owner: int
    position: int
    depth: int
    length: int


class ChainedStack:
    """The stack where an id stands for a whole prefix: a prompt is a few runs, and each costs O(log requests).

    A request looks up its blocks, then touches them last block first, so that no block lies above one before it in
    the prompt. What was last touched together therefore lies together, and what a later request takes of it is a
    head of it. The depth of a run is what is left of all requests after its owner.

    Parameters
    ----------
    every
        Blocks that each block after the hot ones stands for [blocks]: 1 unless the trace is a sample.

    References
    ----------
    R. L. Mattson et al., Evaluation techniques for storage hierarchies, IBM Systems Journal 9 (1970).

    Examples
    --------
    >>> stack = ChainedStack()
    >>> stack.touch([1, 2, 3]), stack.touch([1, 4])
    ([], [Run(owner=0, position=0, depth=0, length=1)])
    >>> stack.touch([1, 2, 3])
    [Run(owner=1, position=0, depth=0, length=1), Run(owner=0, position=1, depth=2, length=2)]
    >>> stack.unique_blocks
    4
    """

    __slots__ = ("_every", "_left", "_requests", "_tree", "unique_blocks")

    def __init__(self, every: int = 1) -> None:
        self._tree = PrefixTree()
        self._left = Fenwick()
        self._requests = 0
        self._every = every
        self.unique_blocks = 0

    def touch(self, blocks: Sequence[int], hot: int = 0) -> list[Run]:
        """Return the runs of a prompt as the stack stands, then touch the prompt.

        Parameters
        ----------
        blocks
            The prompt.
        hot
            How many blocks at its head stand for themselves in a sample [blocks].

        Returns
        -------
        list[Run]
            The known blocks from the first on, and how deep they lie [blocks].
        """
        runs = []
        known = 0
        for owner, position, end in self._tree.touch(blocks, self._requests):
            start, known = self._stands_for(position, hot), self._stands_for(end, hot)
            depth = self.unique_blocks - self._left.upto(owner)
            self._left.add(owner, start - known)
            runs.append(Run(owner, start, depth, known - start))
        size = self._stands_for(len(blocks), hot)
        self._left.append(size)
        self._requests += 1
        self.unique_blocks += size - known
        return runs

    def _stands_for(self, blocks: int, hot: int) -> int:
        return blocks if blocks <= hot else hot + (blocks - hot) * self._every


class UnchainedStack:
    """The stack where ids do not stand for prefixes: each access costs O(log accesses).

    A block helps only if all before it are there too. So it counts as deep as the deepest of them, and nothing after
    an unseen block is a hit.

    Examples
    --------
    >>> stack = UnchainedStack()
    >>> stack.touch([1, 2, 3]), stack.touch([2, 1])
    ([], [Run(owner=0, position=0, depth=1, length=1), Run(owner=0, position=1, depth=1, length=1)])
    """

    __slots__ = ("_last", "_live", "_owners", "_requests")

    def __init__(self) -> None:
        self._last: dict[int, int] = {}
        self._live = Fenwick()
        self._owners = array("q")
        self._requests = 0

    @property
    def unique_blocks(self) -> int:
        """Different blocks so far [blocks]."""
        return len(self._last)

    def touch(self, blocks: Sequence[int]) -> list[Run]:
        """Return the runs of a prompt as the stack stands, then touch the prompt.

        Parameters
        ----------
        blocks
            The prompt.

        Returns
        -------
        list[Run]
            The known blocks from the first on, and how deep they lie [blocks].
        """
        runs = self._depths(blocks)
        for block in reversed(blocks):
            slot = self._last.get(block)
            if slot is not None:
                self._live.add(slot, -1)
            self._last[block] = len(self._owners)
            self._live.append(1)
            self._owners.append(self._requests)
        self._requests += 1
        return runs

    def _depths(self, blocks: Sequence[int]) -> list[Run]:
        runs: list[Run] = []
        deepest = 0
        for position, block in enumerate(blocks):
            slot = self._last.get(block)
            if slot is None:
                break
            deepest = max(deepest, len(self._last) - self._live.upto(slot))
            runs.append(Run(self._owners[slot], position, deepest, 1))
        return runs
