"""What the capacity is used for, and how long data stays in it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Space:
    """Raw capacity by what it is used for, in whole bytes [B]; the three add up to `raw_bytes`."""

    raw_bytes: int
    usable_bytes: int
    parity_bytes: int
    reserved_bytes: int


def retention_seconds(usable_bytes: float, write_bytes_per_s: float) -> float:
    r"""Return how long what is written stays before new writes take its place.

    .. math:: t = U / w

    Parameters
    ----------
    usable_bytes
        Usable capacity U [B].
    write_bytes_per_s
        Sustained rate w of new data [B/s], above 0.

    Returns
    -------
    float
        Time [s].

    Notes
    -----
    The oldest goes first and the whole capacity is used; an evictor that works to a watermark keeps a little less.

    References
    ----------
    Little's law: what is held = rate x time held.

    Examples
    --------
    >>> retention_seconds(744e12, 80e9) / 3600
    2.58333
    """
    return usable_bytes / write_bytes_per_s


def space_by_use(raw_bytes: int, usable_bytes: int, code_efficiency: float) -> Space:
    r"""Part raw capacity into what is usable, the parity of that, and what spares, logs and reserves take.

    .. math:: P = U (1 / \eta - 1), \qquad R = B - U - P

    Parameters
    ----------
    raw_bytes
        Space of all drives B [B].
    usable_bytes
        Usable capacity U [B].
    code_efficiency
        d / (d + p) of the erasure code, eta [1].

    Returns
    -------
    Space
        The parts [B].

    References
    ----------
    Definition of the code's efficiency.

    Examples
    --------
    >>> space_by_use(1_000, 600, 0.75)
    Space(raw_bytes=1000, usable_bytes=600, parity_bytes=200, reserved_bytes=200)
    """
    parity = round(usable_bytes / code_efficiency) - usable_bytes
    return Space(raw_bytes, usable_bytes, parity, raw_bytes - usable_bytes - parity)
