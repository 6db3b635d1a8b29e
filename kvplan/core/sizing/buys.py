"""What a tier buys for one model and one context, whatever rule chose it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.schema.plan import Buys

if TYPE_CHECKING:
    from kvplan.schema.plan import PlanKv


def buys(
    kv: PlanKv,
    *,
    gpus: int,
    usable_bytes: int,
    read_bytes_per_s: float,
    planned_share: float,
    client_bytes_per_s: float,
) -> Buys:
    r"""Return whole-context hits per second, contexts held and the unloaded time of one load.

    .. math:: H = s R / L, \qquad N = \lfloor U / S \rfloor, \qquad t = L / c

    Parameters
    ----------
    kv
        Bytes of one context, stored S [B] and loaded L [B].
    gpus
        GPUs of the fleet [1].
    usable_bytes
        Usable capacity U of the tier [B].
    read_bytes_per_s
        Read bandwidth R of the tier [B/s].
    planned_share
        Share s of it that hits may use [1]; the rest is for writes, bursts and rebuild.
    client_bytes_per_s
        Planned network rate c of one client server [B/s].

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
    >>> result = buys(context, gpus=128, usable_bytes=744_500_000_000_000, read_bytes_per_s=315e9,
    ...               planned_share=0.7, client_bytes_per_s=80e9)
    >>> round(result.hits_per_s, 1), result.contexts_held, round(result.load_s, 3)
    (23.0, 77676, 0.12)

    References
    ----------
    IBM Redbook MD260021: 315 GB/s over 8 nodes, 80 GB/s a client.
    """
    planned = planned_share * read_bytes_per_s
    hits = planned / kv.context_loaded_bytes if kv.context_loaded_bytes else 0.0
    return Buys(
        planned_read_bytes_per_s=planned,
        hits_per_s=hits,
        hits_per_s_per_gpu=hits / gpus,
        read_bytes_per_s_per_gpu=planned / gpus,
        contexts_held=usable_bytes // kv.context_stored_bytes if kv.context_stored_bytes else 0,
        load_s=kv.context_loaded_bytes / client_bytes_per_s,
    )
