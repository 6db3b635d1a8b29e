"""What a tier buys for one model and one context, whatever rule chose it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.arithmetic import ceil_div
from kvplan.schema.demand import Buys

if TYPE_CHECKING:
    from kvplan.schema.plan import PlanKv


def buys(
    kv: PlanKv,
    *,
    gpus: int,
    usable_bytes: int,
    planned_read_bytes_per_s: float,
    engine_read_bytes_per_s: float,
) -> Buys:
    r"""Return whole-context hits per second, contexts held and the unloaded time of one load.

    .. math:: H = R / L, \qquad N = \lfloor U / S \rfloor, \qquad t = L / e

    Parameters
    ----------
    kv
        Bytes of one context, stored S [B] and loaded L [B].
    gpus
        GPUs of the fleet [1].
    usable_bytes
        Usable capacity U of the tier [B].
    planned_read_bytes_per_s
        Read rate R that hits may count on [B/s], as `planned_read` gives it.
    engine_read_bytes_per_s
        Planned rate e into one engine [B/s], as `engine_read` gives it.

    Returns
    -------
    Buys
        Rates [1/s] and [B/s], contexts [1], time [s].

    Notes
    -----
    Bandwidth only: queueing, the engine's own cost per hit and the suffix to prefill come on top.

    Examples
    --------
    The reference tier and 130,000 tokens of gpt-oss-120b at 73,728 B each:

    >>> from types import SimpleNamespace
    >>> context = SimpleNamespace(context_stored_bytes=130_000 * 73_728, context_loaded_bytes=130_000 * 73_728)
    >>> result = buys(context, gpus=128, usable_bytes=744_500_000_000_000, planned_read_bytes_per_s=220.5e9,
    ...               engine_read_bytes_per_s=57.2e9)
    >>> round(result.hits_per_s, 1), result.contexts_held, round(result.load_s, 3)
    (23.0, 77676, 0.168)

    References
    ----------
    IBM Redbook MD260021: 315 GB/s over 8 nodes.
    """
    hits = planned_read_bytes_per_s / kv.context_loaded_bytes if kv.context_loaded_bytes else 0.0
    return Buys(
        planned_read_bytes_per_s=planned_read_bytes_per_s,
        hits_per_s=hits,
        hits_per_s_per_gpu=hits / gpus,
        read_bytes_per_s_per_gpu=planned_read_bytes_per_s / gpus,
        contexts_held=usable_bytes // kv.context_stored_bytes if kv.context_stored_bytes else 0,
        engine_read_bytes_per_s=engine_read_bytes_per_s,
        load_s=kv.context_loaded_bytes / engine_read_bytes_per_s,
    )


def planned_read(tier_bytes_per_s: float, path_bytes_per_s: float, planned_share: float) -> float:
    r"""Return the read rate that hits may count on.

    .. math:: R = \min(s T, P)

    Parameters
    ----------
    tier_bytes_per_s
        Read bandwidth T of the tier [B/s].
    path_bytes_per_s
        What the whole path from drive to GPU lets through, P [B/s]; small fleets take less than a tier gives.
    planned_share
        Share s of the tier's bandwidth that hits may use [1]; the rest is for writes, bursts and rebuild.

    Returns
    -------
    float
        Rate [B/s].

    References
    ----------
    Planning rule of this project; IBM Redbook MD260021 for 315 GB/s a tier and 80 GB/s a client.

    Examples
    --------
    >>> planned_read(315e9, 315e9, 0.7), planned_read(315e9, 80e9, 0.7)
    (220500000000.0, 80000000000.0)
    """
    return min(planned_share * tier_bytes_per_s, path_bytes_per_s)


def engine_read(tp: int, gpu_bytes_per_s: float, gpus_per_server: int, client_bytes_per_s: float) -> float:
    r"""Return the planned rate into one engine: its GPUs' PCIe links, or the NICs of the servers that it spans.

    .. math:: e = \min(TP g, \lceil TP / m \rceil c)

    Parameters
    ----------
    tp
        GPUs TP of the engine [GPUs].
    gpu_bytes_per_s
        Planned rate g of one GPU's PCIe link [B/s].
    gpus_per_server
        GPUs m of a client server [GPUs].
    client_bytes_per_s
        Planned network rate c of a client server [B/s].

    Returns
    -------
    float
        Rate [B/s].

    References
    ----------
    IBM Redbook MD260021: one client server reads up to 80 GB/s; PCIe Gen5 x16 carries 57.2 GB/s of payload.

    Examples
    --------
    >>> engine_read(1, 57.2e9, 4, 80e9), engine_read(8, 57.2e9, 4, 80e9)
    (57200000000.0, 160000000000.0)
    """
    return min(tp * gpu_bytes_per_s, ceil_div(tp, gpus_per_server) * client_bytes_per_s)
