"""How long engines wait that all ask at once, as the tier is built and with something lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.network.segments import DRIVE_PCIE, DRIVES, STORAGE_CLIENT_NIC, STORAGE_NIC
from kvplan.core.sizing.buys import planned_read

if TYPE_CHECKING:
    from kvplan.schema.network import StagesState

_IN_STORAGE_NODES = frozenset({DRIVES, DRIVE_PCIE, STORAGE_NIC, STORAGE_CLIENT_NIC})


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
