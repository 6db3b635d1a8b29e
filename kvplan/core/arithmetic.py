"""Arithmetic of whole numbers."""

from __future__ import annotations


def ceil_div(dividend: int, divisor: int) -> int:
    """Return the quotient rounded up.

    ceil(dividend / divisor) = -floor(-dividend / divisor)

    Parameters
    ----------
    dividend
        What is divided [1].
    divisor
        By how much, positive [1].

    Returns
    -------
    int
        The quotient [1].

    Notes
    -----
    Exact for whole numbers of any size, unlike a quotient of floats.

    References
    ----------
    Python language reference, binary arithmetic operations: `//` rounds towards minus infinity.

    Examples
    --------
    >>> ceil_div(131_072, 16), ceil_div(262_144, 1600)
    (8192, 164)
    """
    return -(-dividend // divisor)
