"""What a workload asks of a tier, what node count follows from it, and what local tiers would change."""

from __future__ import annotations

from typing import Annotated, Literal

from kvplan.schema.base import Explained, Record

NodeLimit = Literal["capacity", "read", "write", "retention", "endurance", "tolerance"]


class WorkloadLoad(Record):
    """Rates and sizes that a workload brings to the whole fleet; per request they are means."""

    requests_per_s: Annotated[float, Explained("1/s", "as given, or gpus x busy share / (GPUs of an engine x gpu_s)")]
    busy_share: Annotated[
        float, Explained("ratio", "requests per s x GPUs of an engine x gpu_s / gpus; above 1: too few")
    ]
    gpu_s: Annotated[float, Explained("s", "time of one engine a request: prefill of the new tokens + share of decode")]
    cold_gpu_s: Annotated[float, Explained("s", "the same with nothing cached: prefill of the whole prompt + decode")]
    prompt_tokens: Annotated[float, Explained("tokens", "mean length n of a prompt")]
    new_tokens: Annotated[float, Explained("tokens", "mean tokens m at the end of a prompt that no tier holds")]
    hit_share: Annotated[float, Explained("ratio", "(n - m) / n, of the means")]
    g4_share: Annotated[float, Explained("ratio", "share of the hit tokens that the shared tier must serve")]
    read_bytes_per_s: Annotated[float, Explained("B/s", "requests per s x g4 share x (n - m) x loaded bytes a token")]
    peak_read_bytes_per_s: Annotated[float, Explained("B/s", "read x burst factor: the busiest ten seconds")]
    burst_factor: Annotated[float, Explained("ratio", "as given, or 1 + (peak - 1) x sqrt(traced rate / this rate)")]
    write_bytes_per_s: Annotated[
        float, Explained("B/s", "requests per s x (m + stored output) x write share x stored bytes a token")
    ]
    held_bytes: Annotated[float, Explained("B", "write rate x retention: what the tier holds when it is in balance")]
    kv_production_bytes_per_s_per_gpu: Annotated[
        float,
        Explained("B/s", "n x stored bytes a token / (GPUs of an engine x cold prefill): what recompute is worth"),
    ]


class NodeNeed(Record):
    """What one limit needs, what a tier has of it, and how many nodes like the tier's would have enough.

    `margin` is have / need - 1, absent where nothing is needed; `nodes` is absent where no number of such nodes is
    enough. A limit that does not bind is said, not kept.
    """

    limit: NodeLimit
    nodes: Annotated[int | None, Explained("count", "ceil(need / what one node of the tier gives)")]
    need: Annotated[float, Explained("unit", "what the workload asks of the tier")]
    have: Annotated[float, Explained("unit", "what the tier gives")]
    margin: Annotated[float | None, Explained("ratio", "have / need - 1")]
    unit: str
    binds: bool
    text: str


class Relief(Record):
    """What the shared tier lets a workload read, and what routing and local tiers would have to take off it."""

    planned_read_bytes_per_s: Annotated[float, Explained("B/s", "what hits may read of the tier")]
    read_bytes_per_s: Annotated[float, Explained("B/s", "what the workload reads of it")]
    suffices: bool
    g4_share: Annotated[float, Explained("ratio", "share of hit tokens that the tier serves as things stand")]
    g4_share_needed: Annotated[float, Explained("ratio", "planned read / read of all hits, at most 1")]
    sticky_g4_share: Annotated[float | None, Explained("ratio", "the share with requests going back to their engine")]
    random_g4_share: Annotated[float | None, Explained("ratio", "the share with requests going to any engine")]
    local_bytes_per_gpu_needed: Annotated[
        float | None, Explained("B", "local KV for each GPU that brings the share down to what is needed, sticky")
    ]
    local_s_needed: Annotated[float | None, Explained("s", "how long that keeps a prefix")]
    text: str
