"""What a request asks of the tier, and what the chosen one buys for it."""

from __future__ import annotations

from typing import Annotated

from kvplan.schema.base import Explained, Record


class Demand(Record):
    """What the request asks of the tier, on the basis named in the request."""

    read_bytes_per_s: Annotated[
        float,
        Explained(
            "B/s", "gpus x guidance rate per GPU", ("request.gpus", "constants.guidance.read_bytes_per_s_per_gpu")
        ),
    ]
    write_bytes_per_s: Annotated[
        float,
        Explained(
            "B/s",
            "read x (1 - h)/h x stored / loaded, h = assumed hit share",
            (
                "demand.read_bytes_per_s",
                "constants.guidance.hit_share",
                "kv.context_stored_bytes",
                "kv.context_loaded_bytes",
            ),
        ),
    ]
    capacity_bytes: Annotated[
        int,
        Explained(
            "B",
            "engines x concurrency x context_stored_bytes: at least the contexts in flight",
            ("hbm.engines", "request.concurrency", "kv.context_stored_bytes"),
        ),
    ]


class Buys(Record):
    """What the chosen tier buys for this model and this context."""

    planned_read_bytes_per_s: Annotated[
        float,
        Explained(
            "B/s",
            "the smaller of the tier's read rate x planned share, and what the whole path to the GPUs lets through",
            ("profile.read_bytes_per_s", "constants.guidance.planned_read_share", "network.read_bytes_per_s"),
        ),
    ]
    hits_per_s: Annotated[
        float,
        Explained(
            "1/s",
            "planned read / context_loaded_bytes: whole contexts read back a second",
            ("buys.planned_read_bytes_per_s", "kv.context_loaded_bytes"),
        ),
    ]
    hits_per_s_per_gpu: Annotated[float, Explained("1/s", "hits_per_s / gpus", ("buys.hits_per_s", "request.gpus"))]
    read_bytes_per_s_per_gpu: Annotated[
        float, Explained("B/s", "planned read / gpus", ("buys.planned_read_bytes_per_s", "request.gpus"))
    ]
    contexts_held: Annotated[
        int,
        Explained(
            "count",
            "floor(usable_bytes / context_stored_bytes)",
            ("profile.usable_bytes", "kv.context_stored_bytes"),
        ),
    ]
    engine_read_bytes_per_s: Annotated[
        float,
        Explained(
            "B/s",
            "the smaller of tp x planned rate of a GPU's PCIe link, and the planned rate of the servers it spans",
            ("request.tp", "network.client_planned_bytes_per_s", "constants.network.pcie_share"),
        ),
    ]
    load_s: Annotated[
        float,
        Explained(
            "s",
            "context_loaded_bytes / engine_read_bytes_per_s: one context, nobody else reading",
            ("kv.context_loaded_bytes", "buys.engine_read_bytes_per_s"),
        ),
    ]
