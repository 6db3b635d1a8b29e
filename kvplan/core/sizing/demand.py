"""What a request asks of the tier: read and write rates and the least capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.schema.demand import Demand

if TYPE_CHECKING:
    from kvplan.schema.plan import PlanKv


def redbook_demand(kv: PlanKv, gpus: int, contexts_in_flight: int, *, rate_per_gpu: float, hit_share: float) -> Demand:
    r"""Return the demand on the basis `redbook`: the published read rate per GPU, nothing measured at the customer's.

    .. math:: R = G r, \qquad W = R \frac{1 - h}{h} \frac{S}{L}, \qquad C = E S

    Parameters
    ----------
    kv
        Bytes of one context, stored S [B] and loaded L [B].
    gpus
        GPUs G of the fleet [1].
    contexts_in_flight
        Contexts E that all engines have in flight together [1].
    rate_per_gpu
        Published read rate r per GPU [B/s].
    hit_share
        Share h of prompt tokens that the tier answers [1], above 0 and at most 1.

    Returns
    -------
    Demand
        Read and write rate [B/s] and capacity [B].

    Notes
    -----
    The guidance publishes reads only. Writes follow from an assumed hit share and are reported, not used to choose.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> kv = SimpleNamespace(context_stored_bytes=10, context_loaded_bytes=10)
    >>> demand = redbook_demand(kv, 256, 100, rate_per_gpu=1_171_875_000, hit_share=0.8)
    >>> demand.read_bytes_per_s, demand.write_bytes_per_s, demand.capacity_bytes
    (300000000000.0, 75000000000.0, 1000)

    References
    ----------
    IBM Redbook MD260021, sizing guidance: 300 GB/s for 256 GPUs.
    """
    read = gpus * rate_per_gpu
    stored_per_loaded = kv.context_stored_bytes / kv.context_loaded_bytes if kv.context_loaded_bytes else 0.0
    return Demand(
        read_bytes_per_s=read,
        write_bytes_per_s=read * (1 - hit_share) / hit_share * stored_per_loaded,
        capacity_bytes=contexts_in_flight * kv.context_stored_bytes,
    )
