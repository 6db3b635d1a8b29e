"""Block ids on their way in: one object for equal ids, whole numbers for texts, and a check of how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kvplan.errors import shown
from kvplan.traces.malformed import RowError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMON_SIZES: Final = (16, 32, 64, 128, 256, 512, 1024, 2048)
"""Tokens of a block that engines and back ends use [tokens]."""


class Blocks:
    """Turns the ids of a trace into tuples of whole numbers.

    Parameters
    ----------
    block_tokens
        Tokens of a block [tokens].

    Attributes
    ----------
    block_tokens : int
        The same.
    fitting : int
        Requests whose ids were as many as their tokens ask for.
    misfits : list of tuple of int
        Tokens and ids of the first requests for which that was not so.
    unhashed_tails : int
        Requests whose last, partial block has no id, as engines that hash full blocks only leave it.
    """

    def __init__(self, block_tokens: int) -> None:
        self.block_tokens = block_tokens
        self.fitting = 0
        self.misfits: list[tuple[int, int]] = []
        self.unhashed_tails = 0
        self._known: dict[Any, int] = {}
        self._fresh = -1

    def taken(self, ids: Any, tokens: int) -> tuple[int, ...]:
        """Take the ids of a request.

        Parameters
        ----------
        ids
            As the trace has them: whole numbers or texts.
        tokens
            Tokens that they stand for [tokens].

        Returns
        -------
        tuple of int
            The ids; a partial block without one gets an id that never comes again.

        Raises
        ------
        RowError
            When they are no ids, or not as many as the tokens ask for.

        Examples
        --------
        >>> blocks = Blocks(512)
        >>> blocks.taken([7, 8], 600), blocks.taken(["a", "b"], 1024), blocks.taken([7], 600)
        ((7, 8), (-1, -2), (7, -3))
        """
        if type(ids) is not list:
            what = "is missing" if ids is None else f"must be a list, not {shown(ids)}"
            raise RowError(what=what, key="hash_ids")
        full, partial = divmod(tokens, self.block_tokens)
        count = len(ids)
        if count != full + bool(partial) and count != full:
            self._misfit(tokens, count)
        taken = self._numbers(ids)
        self.fitting += 1
        if count == full and partial:
            self.unhashed_tails += 1
            return (*taken, self.fresh())
        return taken

    def fresh(self) -> int:
        """Return an id that no block has; those of traces are not below zero."""
        self._fresh -= 1
        return self._fresh + 1

    def known(self, key: Any) -> int:
        """Return the id of a key, the same for the same key."""
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.fresh()
        return found

    def likely_size(self) -> int | None:
        """Return the block size that fits most of the requests that did not fit; None where none does."""
        fits = {
            size: sum(-(-tokens // size) == count or tokens // size == count for tokens, count in self.misfits)
            for size in COMMON_SIZES
        }
        best = max(COMMON_SIZES, key=lambda size: fits[size])
        return best if 2 * fits[best] > len(self.misfits) else None

    def _numbers(self, ids: list[Any]) -> tuple[int, ...]:
        kinds = set(map(type, ids))
        if kinds <= {int}:
            if ids and min(ids) < 0:
                what = f"an id must be 0 or more, not {min(ids)}"
                raise RowError(what=what, key="hash_ids")
            if ids and max(ids) > _MOST_ID:
                return tuple(map(self.known, ids))
            # Equal ids become one object, which is a third of the memory of a long trace.
            return tuple(map(self._known.setdefault, ids, ids))
        if kinds <= {str}:
            return tuple(map(self.known, ids))
        wrong = next(value for value in ids if type(value) is not int and type(value) is not str)
        what = f"an id must be a whole number or text, not {shown(wrong)}"
        raise RowError(what=what, key="hash_ids")

    def _misfit(self, tokens: int, count: int) -> None:
        """Refuse a request whose ids are too few or too many."""
        if len(self.misfits) < _KEPT_MISFITS:
            self.misfits.append((tokens, count))
        needed = -(-tokens // self.block_tokens)
        what = f"has {count:,} ids, but {tokens:,} tokens make {needed:,} blocks of {self.block_tokens:,}"
        raise RowError(what=what, key="hash_ids")


_KEPT_MISFITS: Final = 100
_MOST_ID: Final = 2**63 - 1
"""The engine keeps ids in 64 bits; longer hashes are numbered as they come."""


def shared_head(one: Sequence[int], other: Sequence[int]) -> bool:
    """Tell whether two prompts begin with the same block.

    >>> shared_head((1, 2), (1, 3)), shared_head((), (1,))
    (True, False)
    """
    return bool(one) and bool(other) and one[0] == other[0]
