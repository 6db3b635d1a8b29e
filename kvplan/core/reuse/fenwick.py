"""A Fenwick tree that grows: sums over everything up to an index while entries change and are appended."""

from __future__ import annotations


class Fenwick:
    """Prefix sums of a growing sequence, each operation in O(log n).

    References
    ----------
    P. M. Fenwick, A new data structure for cumulative frequency tables, Software: Practice and Experience 24 (1994).

    Examples
    --------
    >>> sums = Fenwick()
    >>> for value in (3, 1, 4):
    ...     sums.append(value)
    >>> sums.add(1, 10)
    >>> sums.upto(0), sums.upto(1), sums.upto(2)
    (3, 14, 18)
    """

    __slots__ = ("_tree",)

    def __init__(self) -> None:
        # Entry i, counted from one, sums the entries of the range that ends at i and is as long as i's lowest set bit.
        self._tree = [0]

    def append(self, value: int) -> None:
        """Add an entry at the end.

        Parameters
        ----------
        value
            Its value [1].
        """
        tree = self._tree
        index = len(tree)
        start = index & (index - 1)
        child = index - 1
        while child > start:
            value += tree[child]
            child &= child - 1
        tree.append(value)

    def add(self, index: int, change: int) -> None:
        """Change an entry.

        Parameters
        ----------
        index
            Which one, counted from zero [1].
        change
            What is added to it [1].
        """
        tree = self._tree
        size = len(tree)
        index += 1
        while index < size:
            tree[index] += change
            index += index & -index

    def upto(self, index: int) -> int:
        """Return the sum of all entries up to and including one.

        Parameters
        ----------
        index
            The last one that counts, from zero [1].

        Returns
        -------
        int
            The sum [1].
        """
        tree = self._tree
        total = 0
        index += 1
        while index:
            total += tree[index]
            index &= index - 1
        return total
