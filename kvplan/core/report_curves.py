"""What a report draws: load time over length, storms over engines, retention over write rates, space by use."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import TYPE_CHECKING

from kvplan.core.network.segments import DRIVE_PCIE, DRIVES, STORAGE_CLIENT_NIC, STORAGE_NIC
from kvplan.core.sizing.buys import planned_read

if TYPE_CHECKING:
    from kvplan.schema.network import StagesState

_IN_STORAGE_NODES = frozenset({DRIVES, DRIVE_PCIE, STORAGE_NIC, STORAGE_CLIENT_NIC})


@dataclass(frozen=True, slots=True)
class Space:
    """Raw capacity by what it is used for, in whole bytes [B]; the three add up to `raw_bytes`."""

    raw_bytes: int
    usable_bytes: int
    parity_bytes: int
    reserved_bytes: int


def load_seconds(tokens: float, bytes_per_token: float, once_bytes: float, engine_bytes_per_s: float) -> float:
    r"""Return the time in which one engine reads a cached prefix back, nobody else reading.

    .. math:: t(n) = (b n + o) / e

    Parameters
    ----------
    tokens
        Length n of the cached prefix [tokens].
    bytes_per_token
        What a hit reads for each token, b [B/token].
    once_bytes
        What a hit reads whatever its length, o: windows and states [B].
    engine_bytes_per_s
        Planned rate e into the engine [B/s].

    Returns
    -------
    float
        Time [s].

    Notes
    -----
    A lower bound of the time to the first token: queueing, the engine's own cost per hit and the tokens that are
    new to it come on top. Whole files and windows that are not full yet are left out.

    References
    ----------
    Definition of a rate; bytes as in the Plan's `kv.loaded_bytes_per_token`, IBM Redbook MD260021 for the model.

    Examples
    --------
    gpt-oss-120b over a PCIe Gen5 x16 link:

    >>> round(load_seconds(130_000, 73_728, 0, 57.2e9), 3)
    0.168
    """
    return (bytes_per_token * tokens + once_bytes) / engine_bytes_per_s


def storm_seconds(engines: float, context_bytes: float, engine_bytes_per_s: float, tier_bytes_per_s: float) -> float:
    r"""Return the time until engines that ask for a whole context at the same moment are all served.

    .. math:: T(N) = \max(S / r, N S / C)

    Parameters
    ----------
    engines
        Engines N that ask at once [engines].
    context_bytes
        What each of them reads, S [B].
    engine_bytes_per_s
        Planned rate r into one engine [B/s].
    tier_bytes_per_s
        Rate C that the tier plans for reads [B/s].

    Returns
    -------
    float
        Time [s].

    Notes
    -----
    The tier shares its rate evenly and loses nothing to the crowd; a real storm is no faster.

    References
    ----------
    Bound of a shared server: neither the engine's link nor the tier carries more than its rate.

    Examples
    --------
    >>> storm_seconds(1, 10e9, 50e9, 200e9), storm_seconds(128, 10e9, 50e9, 200e9)
    (0.2, 6.4)
    """
    return max(context_bytes / engine_bytes_per_s, engines * context_bytes / tier_bytes_per_s)


def storm_knee(engine_bytes_per_s: float, tier_bytes_per_s: float) -> float:
    r"""Return how many engines the tier serves at once before they slow each other down.

    .. math:: N^* = C / r

    Parameters
    ----------
    engine_bytes_per_s
        Planned rate r into one engine [B/s].
    tier_bytes_per_s
        Rate C that the tier plans for reads [B/s].

    Returns
    -------
    float
        Engines [engines].

    References
    ----------
    Where the two terms of `storm_seconds` meet.

    Examples
    --------
    >>> storm_knee(50e9, 200e9)
    4.0
    """
    return tier_bytes_per_s / engine_bytes_per_s


def planned_read_left(state: StagesState, planned_share: float) -> float:
    r"""Return the read rate that hits may count on with something lost, planned as it is with nothing lost.

    .. math:: C = \min(s T, P)

    Parameters
    ----------
    state
        The stages that are left: the least of those in the storage nodes is T, of all stages P [B/s].
    planned_share
        Share s of the tier's bandwidth that hits may use [1].

    Returns
    -------
    float
        Rate [B/s]; 0 when the code does not survive the loss.

    References
    ----------
    As `kvplan.core.sizing.buys.planned_read`.

    Examples
    --------
    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> round(planned_read_left(plan.network.degraded.node, 0.7) / 1e9, 1)
    122.0
    """
    if not state.read_bytes_per_s:
        return 0.0
    inside = [stage for stage in state.stages if stage.name in _IN_STORAGE_NODES]
    tier = min(stage.planned_bytes_per_s / stage.read_traffic for stage in inside if stage.read_traffic)
    return planned_read(tier, state.read_bytes_per_s, planned_share)


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


def spaced(first: float, last: float, count: int) -> tuple[float, ...]:
    r"""Return values from one to another, each the same factor above the one before.

    .. math:: x_i = a (z / a)^{i / (n - 1)}

    Parameters
    ----------
    first
        Where to begin, a, above 0 [1].
    last
        Where to end, z, above 0 [1].
    count
        How many values n, two at least [1].

    Returns
    -------
    tuple of float
        The values [1].

    References
    ----------
    Geometric sequence.

    Examples
    --------
    >>> [round(value, 6) for value in spaced(1, 100, 3)]
    [1.0, 10.0, 100.0]
    """
    step = log(last / first) / (count - 1)
    return (*(first * exp(step * index) for index in range(count - 1)), float(last))
