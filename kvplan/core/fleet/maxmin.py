"""Max-min fair rates: nobody can have more without taking from one who has no more than they."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def max_min_rates(
    counts: Sequence[int],
    paths: Sequence[Sequence[int]],
    capacities_bytes_per_s: Sequence[float],
    stream_bytes_per_s: float,
) -> list[float]:
    r"""Share links fairly among flows, by progressive filling.

    .. math:: x = \min_l \frac{C_l - \sum_{\text{frozen}} n_c x_c}{\sum_{\text{rising}} n_c}

    All flows rise together until a link is full; those that pass it keep what they have, and the others rise on.

    Parameters
    ----------
    counts
        Flows n_c of each class [1].
    paths
        Links that the flows of each class pass, by their place in the capacities.
    capacities_bytes_per_s
        Capacity C_l of each link [B/s].
    stream_bytes_per_s
        The most that one flow takes [B/s].

    Returns
    -------
    list of float
        Rate of one flow of each class [B/s]; of a class without flows the rate that its cap allows.

    Notes
    -----
    Real transports come near to it over many round trips; short flows and losses do worse.

    References
    ----------
    Bertsekas and Gallager, Data Networks, 6.5.2.

    Examples
    --------
    Two flows share the NIC of one server, a third has another; all pass a link of 100 GB/s:

    >>> max_min_rates([2, 1], [(0, 2), (1, 2)], [40e9, 90e9, 100e9], 80e9)
    [20000000000.0, 60000000000.0]
    """
    rates = [stream_bytes_per_s] * len(counts)
    rising = {index for index, count in enumerate(counts) if count}
    left = _full_links(counts, paths, capacities_bytes_per_s, stream_bytes_per_s)
    while left and rising:
        load = _loads(counts, paths, rising, left)
        if not load:
            break
        level, fullest = min((max(left[link], 0.0) / flows, link) for link, flows in load.items())
        frozen = {index for index in rising if fullest in paths[index]}
        for index in frozen:
            rates[index] = level
        for link, flows in _loads(counts, paths, frozen, left).items():
            left[link] -= flows * level
        rising -= frozen
        del left[fullest]
    return rates


def _full_links(
    counts: Sequence[int], paths: Sequence[Sequence[int]], capacities: Sequence[float], stream: float
) -> dict[int, float]:
    """Return the links that flows would fill if each took its cap; the others never matter."""
    load = _loads(counts, paths, range(len(counts)), range(len(capacities)))
    return {link: capacities[link] for link, flows in load.items() if flows * stream > capacities[link]}


def _loads(
    counts: Sequence[int],
    paths: Sequence[Sequence[int]],
    classes: set[int] | range,
    links: dict[int, float] | range,
) -> dict[int, int]:
    """Count the flows of some classes on each of some links."""
    load: dict[int, int] = {}
    for index in classes:
        count = counts[index]
        for link in paths[index] if count else ():
            if link in links:
                load[link] = load.get(link, 0) + count
    return load
