"""The Plan: one frozen, versioned document with the request, every result and how each number came about."""

from __future__ import annotations

from typing import Annotated, Literal

from kvplan.schema.base import Confidence, Constant, Explained, Record, Severity
from kvplan.schema.demand import Buys, Demand
from kvplan.schema.ece import Endurance, FaultTolerance, Limit, Rebuild
from kvplan.schema.kv import Accountings
from kvplan.schema.model import LayerGroup
from kvplan.schema.network import NetworkBudget
from kvplan.schema.parts import PlanParts
from kvplan.schema.performance import Performance, PlanEndurance
from kvplan.schema.planned_workload import PlannedWorkload

FORMAT_VERSION = "1.2"
ASKED = "as asked on the command line"


class PlanRequest(Record):
    """The request as understood, with every default filled in."""

    model: str
    context_tokens: Annotated[int, Explained("tokens", ASKED)]
    gpus: Annotated[int, Explained("count", ASKED)]
    gpu: str
    tp: Annotated[int, Explained("count", "as asked, else the fewest GPUs that hold the weights and one context")]
    basis: Literal["redbook", "workload"]
    software: str
    cache_backend: str
    chunk_tokens: Annotated[int, Explained("tokens", "as asked, else the software set's or the back end's default")]
    checkpoint_tokens: Annotated[
        int, Explained("tokens", "as asked, else one recurrent checkpoint a chunk, 256 tokens at least")
    ]
    block_tokens: Annotated[int, Explained("tokens", "block size of the engine, from the software set")]
    hybrid_manager: bool
    vllm_version: str
    kv_dtype: str
    concurrency: Annotated[
        int,
        Explained(
            "count", "contexts in flight per engine, as asked, else assumed", ("constants.hbm.concurrency_per_engine",)
        ),
    ]
    gpu_memory_utilisation: Annotated[float, Explained("ratio", "as asked, else vLLM's default")]
    survive: str
    forced: tuple[str, ...]
    oversubscription: Annotated[float, Explained("ratio", ASKED)]
    beyond_max: bool


class PlanModel(Record):
    """The model as read: its layer groups decide everything that follows."""

    id: str
    model_type: str
    groups: tuple[LayerGroup, ...]
    max_position_tokens: Annotated[int | None, Explained("tokens", "from the model's configuration")]
    params_total: Annotated[int, Explained("count", "see source")]
    params_active: Annotated[int, Explained("count", "see source")]
    params_class: Annotated[
        int,
        Explained(
            "count",
            "the size in the model's name where it is within 5 % of params_total, else params_total",
            ("model.params_total",),
        ),
    ]
    params_source: str
    weights_bytes: Annotated[int, Explained("B", "from the catalogue row, else params_total x bytes per weight")]
    source: str
    confidence: Confidence


class PlanKv(Record):
    """KV bytes of the request; writing (`stored`) is not reading (`loaded`)."""

    accounting: Accountings
    stored_bytes_per_token: Annotated[
        float,
        Explained(
            "B/token",
            "what the cache back end writes a token, all ranks together",
            ("kv.accounting.external_tier.bytes_per_token",),
        ),
    ]
    loaded_bytes_per_token: Annotated[
        float,
        Explained(
            "B/token",
            "what it reads a token on a hit of the whole context: as stored, but windows and states once",
            ("kv.stored_bytes_per_token",),
        ),
    ]
    context_stored_bytes: Annotated[
        int,
        Explained(
            "B",
            "one context written: as external-tier, in whole chunk files",
            ("kv.accounting.external_tier.context_bytes",),
        ),
    ]
    context_loaded_bytes: Annotated[
        int,
        Explained(
            "B",
            "one context read back: loaded_bytes_per_token x context, plus windows and states once, in whole files",
            ("kv.loaded_bytes_per_token", "request.context_tokens"),
        ),
    ]


class PlanHbm(Record):
    """What GPU memory holds before any tier is asked."""

    gpu_memory_bytes: Annotated[int, Explained("B", "from the GPU's catalogue row")]
    weights_bytes_per_gpu: Annotated[
        int, Explained("B", "ceil(weights_bytes / tp)", ("model.weights_bytes", "request.tp"))
    ]
    overhead_bytes_per_gpu: Annotated[
        int,
        Explained(
            "B",
            "activations, graphs and what loading adds to the weights",
            ("constants.hbm.overhead_bytes",),
        ),
    ]
    kv_bytes_per_gpu: Annotated[
        int,
        Explained(
            "B",
            "memory x utilisation - weights - overhead, never below 0",
            (
                "hbm.gpu_memory_bytes",
                "request.gpu_memory_utilisation",
                "hbm.weights_bytes_per_gpu",
                "hbm.overhead_bytes_per_gpu",
            ),
        ),
    ]
    contexts_that_fit: Annotated[
        int,
        Explained(
            "count",
            "floor(kv_bytes_per_gpu / vllm_gpu.context_bytes), whole contexts of one engine",
            ("hbm.kv_bytes_per_gpu", "kv.accounting.vllm_gpu.context_bytes"),
        ),
    ]
    engines: Annotated[int, Explained("count", "floor(gpus / tp)", ("request.gpus", "request.tp"))]
    needs_shared_tier: Annotated[
        bool,
        Explained("yes/no", "fewer contexts fit than are in flight", ("hbm.contexts_that_fit", "request.concurrency")),
    ]


class PlanProfile(Record):
    """The chosen tier with everything computed from its recipe."""

    name: Annotated[
        str,
        Explained(
            "name",
            "the smallest recipe whose limits hold, or the one asked for; see reason and candidates",
            ("request.gpus", "model.params_class", "demand.read_bytes_per_s", "demand.capacity_bytes"),
        ),
    ]
    title: str
    nodes: Annotated[int, Explained("count", "the recipe's, grown to what reading and tolerance need")]
    erasure_code: Annotated[
        str, Explained("name", "the recipe's, the one asked for, or the least parity that survives what was asked")
    ]
    server: str
    drive: str
    client_nic: str
    storage_nic: str
    switch: str
    drives_per_node: Annotated[int, Explained("count", "from the recipe")]
    drive_bytes: Annotated[int, Explained("B", "from the drive's catalogue row")]
    block_bytes: Annotated[int, Explained("B", "from the recipe")]
    code_efficiency: Annotated[float, Explained("ratio", "d / (d + p)")]
    usable_fraction: Annotated[
        float, Explained("ratio", "usable_bytes / raw_bytes", ("profile.usable_bytes", "profile.raw_bytes"))
    ]
    raw_bytes: Annotated[
        int,
        Explained(
            "B",
            "nodes x drives_per_node x drive_bytes",
            ("profile.nodes", "profile.drives_per_node", "profile.drive_bytes"),
        ),
    ]
    usable_bytes: Annotated[
        int,
        Explained(
            "B",
            "whole vdisk tracks that fit after spares, log homes, reserves and checksum trailers, x block",
            ("profile.raw_bytes", "profile.spare_pdisks", "profile.block_bytes"),
            source="IBM SpectrumScaleTools ece_capacity_estimator (tsgnrplan logic)",
        ),
    ]
    read_bytes_per_s: Annotated[
        float,
        Explained(
            "B/s",
            "smallest of planned rate / traffic per byte read over the four storage stages; on the reference node the "
            "client NIC: nodes x 2 x 200 Gb/s / 8 x storage_client_factor",
            ("profile.nodes", "constants.network.storage_client_factor", "constants.network.planning_factor"),
        ),
    ]
    write_bytes_per_s: Annotated[
        float,
        Explained(
            "B/s",
            "smallest of planned rate / traffic per byte written over the four storage stages; on the reference node "
            "the storage NIC: nodes x 400 Gb/s / 8 x planning_factor / ((d + p)/d x (n - 1)/n)",
            ("profile.nodes", "profile.code_efficiency", "constants.network.planning_factor"),
        ),
    ]
    recovery_groups: Annotated[
        int, Explained("count", "fewest groups of at most 32 servers and 512 pdisks", ("profile.nodes",))
    ]
    spare_pdisks: Annotated[
        int,
        Explained(
            "count", "sum over recovery groups of the recipe's, else IBM's estimator's default", ("profile.nodes",)
        ),
    ]
    fault_tolerance: FaultTolerance
    rebuild: Rebuild
    endurance: Endurance


class Candidate(Record):
    """A tier that was judged, with every limit's margin."""

    name: str
    nodes: Annotated[int, Explained("count", "the recipe's, grown to what reading and tolerance need")]
    erasure_code: str
    usable_bytes: Annotated[int, Explained("B", "as profile.usable_bytes")]
    usable_fraction: Annotated[float, Explained("ratio", "usable / raw")]
    read_bytes_per_s: Annotated[float, Explained("B/s", "as profile.read_bytes_per_s")]
    accepted: bool
    chosen: bool
    limits: tuple[Limit, ...]
    reason: str


class OtherSoftware(Record):
    """What the other software set would change."""

    software: str
    cache_backend: str
    chunk_tokens: Annotated[int, Explained("tokens", "from the software set")]
    hybrid_manager: bool
    stored_bytes_per_token: Annotated[float, Explained("B/token", "as kv.stored_bytes_per_token")]
    loaded_bytes_per_token: Annotated[float, Explained("B/token", "as kv.loaded_bytes_per_token")]
    context_stored_bytes: Annotated[int, Explained("B", "as kv.context_stored_bytes")]
    context_loaded_bytes: Annotated[int, Explained("B", "as kv.context_loaded_bytes")]
    text: str


class PlanWarning(Record):
    """Something the reader must know: a stable id, how grave it is, the text, and where it comes from."""

    id: str
    severity: Severity
    text: str
    source: str


class OpenPoint(Record):
    """An assumed value that matters to the result, to be confirmed before money is spent."""

    id: str
    text: str
    source: str


class Derivation(Record):
    """How one number came about."""

    formula: str
    unit: str
    inputs: tuple[str, ...] = ()
    source: str = ""
    confidence: Confidence = "derived"


class CatalogueLock(Record):
    """Which tables the Plan was computed from."""

    version: str
    sha256: str
    user_tables: tuple[str, ...] = ()


class Plan(Record):
    """The whole answer to one request."""

    format_version: str = FORMAT_VERSION
    kvplan_version: str
    request: PlanRequest
    model: PlanModel
    kv: PlanKv
    hbm: PlanHbm
    demand: Demand
    workload: PlannedWorkload | None = None
    profile: PlanProfile
    candidates: tuple[Candidate, ...]
    reason: str
    buys: Buys
    performance: Performance
    endurance: PlanEndurance
    network: NetworkBudget
    other_software: OtherSoftware
    warnings: tuple[PlanWarning, ...]
    open_points: tuple[OpenPoint, ...]
    parts: PlanParts
    constants: dict[str, Constant]
    derivation: dict[str, Derivation]
    catalogue: CatalogueLock
    sha256: str = ""
