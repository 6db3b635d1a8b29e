"""The tree of all prefixes seen so far, kept as few long segments, and which request last touched each part of it."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORD: Final = (1 << 64) - 1

TouchedRun: TypeAlias = tuple[int, int, int]
"""Request that last touched some consecutive blocks of a prompt, their first position and the one after their last."""


class NotChainedError(ValueError):
    """A block id came after two different blocks, so that it does not stand for a whole prefix."""


class PrefixTree:
    """Where prompts part ways, and who came by last.

    A prompt follows segments from the root and leaves the last of them into unseen blocks. These make that segment
    longer, or become one of their own where it goes on otherwise. Whoever touches a block touches all before it. So
    along a segment the last touch only grows older, and a few (end, request) pairs tell it for every block.

    Notes
    -----
    A prompt costs a binary search for each segment on its way, and copying and comparing of memory, not a dictionary
    look-up for each block. A unique block costs 8 bytes while ids are numbered by first appearance, as in the public
    traces; other ids are kept in a set as well, without which a repeated id could pass for a new one.
    """

    __slots__ = ("_children", "_highest", "_parents", "_seen", "_segments", "_touches")

    def __init__(self) -> None:
        self._children: dict[int, int] = {}
        self._parents: list[int | None] = []
        self._segments: list[array[int]] = []
        self._touches: list[list[tuple[int, int]]] = []
        self._highest = -1
        self._seen: set[int] | None = None

    def touch(self, blocks: Sequence[int], request: int) -> list[TouchedRun]:
        """Let a request touch all blocks of its prompt; return who touched the known ones before, first block first.

        Parameters
        ----------
        blocks
            The prompt, as 64-bit integers of either kind.
        request
            Number of the request, above all before it.

        Returns
        -------
        list[TouchedRun]
            Consecutive blocks that were last touched by one request [blocks].

        Raises
        ------
        NotChainedError
            Where an id was seen after another block.
        """
        try:
            ids = array("Q", blocks)
        except OverflowError:
            blocks = ids = array("Q", [block & _WORD for block in blocks])
        runs: list[TouchedRun] = []
        position, size = 0, len(ids)
        parent: int | None = None
        open_end: int | None = None
        while position < size:
            segment = self._children.get(ids[position])
            if segment is None:
                self._check_unseen(blocks[position:], ids[position:])
                self._grow(ids[position:], parent, open_end)
                self._touches[-1 if open_end is None else open_end] = [(size, request)]
                break
            if self._parents[segment] != parent:
                raise NotChainedError
            end = self._follow(segment, ids, position)
            self._pass_by(segment, position, end, request, runs)
            open_end = segment if end - position == len(self._segments[segment]) else None
            position = end
            parent = ids[end - 1]
        return runs

    def _check_unseen(self, blocks: Sequence[int], ids: array[int]) -> None:
        """Make sure that no prompt has had any of these blocks, and remember them."""
        if self._seen is None and not self._is_numbered(ids):
            self._seen = set().union(*self._segments)
        if self._seen is not None:
            before = len(self._seen)
            # The caller's own integers, because those of an array would be made anew and kept beside them.
            self._seen.update(blocks)
            if len(self._seen) - before != len(ids):
                raise NotChainedError
        self._highest = ids[-1]

    def _grow(self, ids: array[int], parent: int | None, open_end: int | None) -> None:
        """Add unseen blocks: to the segment at whose very end they come, or else as a segment of their own."""
        if open_end is not None:
            self._segments[open_end].extend(ids)
            return
        self._children[ids[0]] = len(self._segments)
        self._parents.append(parent)
        self._segments.append(ids)
        self._touches.append([])

    def _is_numbered(self, ids: array[int]) -> bool:
        """Return whether the ids count on from above all before, which proves them new without looking each one up."""
        first, last = ids[0], ids[-1]
        ascending = first > self._highest and last - first == len(ids) - 1
        return ascending and ids == array("Q", range(first, last + 1))

    def _follow(self, segment: int, ids: array[int], position: int) -> int:
        """Return the position at which a prompt leaves a segment that it has entered."""
        known = self._segments[segment]
        size = min(len(known), len(ids) - position)
        if known[size - 1] != ids[position + size - 1]:
            same, size = 0, size - 1
            while size - same > 1:
                middle = (same + size) // 2
                if known[middle] == ids[position + middle]:
                    same = middle
                else:
                    size = middle
        if known[:size] != ids[position : position + size]:
            raise NotChainedError
        return position + size

    def _pass_by(self, segment: int, position: int, end: int, request: int, runs: list[TouchedRun]) -> None:
        """Add the runs of a stretch of a segment, and make it the request's."""
        touches = self._touches[segment]
        while position < end:
            run_end, owner = touches[-1]
            if run_end <= end:
                touches.pop()
            else:
                run_end = end
            if runs and runs[-1][0] == owner:
                runs[-1] = (owner, runs[-1][1], run_end)
            else:
                runs.append((owner, position, run_end))
            position = run_end
        touches.append((end, request))
