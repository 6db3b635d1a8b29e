"""Results of the calculators that stand on their own: `kvplan kv` and `kvplan ece`."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from kvplan.schema.base import Record
from kvplan.schema.ece import Endurance, Geometry, Rebuild
from kvplan.schema.kv import Accountings, VllmLog
from kvplan.schema.plan import FORMAT_VERSION, PlanHbm
from kvplan.schema.request import KvDtype, SoftwareChoice
from kvplan.schema.software import BackendId

Count = Annotated[int, Field(ge=1, le=10**6)]


class KvRequest(Record):
    """What a person asks of `kvplan kv`; unset fields follow the software set, or are computed."""

    model_config = ConfigDict(strict=True)

    model: str = Field(min_length=1)
    context_tokens: int = Field(ge=1, le=10**9)
    concurrency: Count = 1
    gpu: str | None = None
    tp: int | None = Field(default=None, ge=1, le=1024)
    kv_dtype: KvDtype = "bf16"
    gpu_memory_utilisation: float = Field(default=0.9, gt=0, le=1)
    software: SoftwareChoice = "reference"
    cache_backend: BackendId | None = None
    chunk_tokens: int | None = Field(default=None, ge=1, le=10**6)
    checkpoint_tokens: int | None = Field(default=None, ge=1, le=10**9)
    hybrid_manager: bool | None = None
    vllm_version: str | None = None
    available_bytes: int | None = Field(default=None, ge=1)
    max_model_len: int | None = Field(default=None, ge=1, le=10**9)
    max_batched_tokens: int = Field(default=8192, ge=1, le=10**7)
    params_total: int | None = Field(default=None, ge=1, le=10**15)
    beyond_max: bool = False


class KvReport(Record):
    """What `kvplan kv` finds: KV volume of a model, whether GPU memory holds it, and what vLLM prints."""

    format_version: str = FORMAT_VERSION
    model: str
    model_source: str
    context_tokens: int
    concurrency: int
    tp: int
    kv_dtype: str
    software: str
    cache_backend: str
    chunk_tokens: int
    checkpoint_tokens: int
    vllm_version: str
    accounting: Accountings
    loaded_bytes_per_token: float
    context_loaded_bytes: int
    volume_bytes: int
    gpu: str | None
    hbm: PlanHbm | None
    vllm_log: VllmLog | None
    notes: tuple[str, ...]


class EceRequest(Record):
    """What a person asks of `kvplan ece`."""

    model_config = ConfigDict(strict=True)

    nodes: int = Field(ge=1, le=4096)
    drives_per_node: int = Field(ge=1, le=1024)
    drive_bytes: int = Field(ge=10**9, le=10**15)
    erasure_code: str
    block_mib: int = Field(ge=1, le=16)
    spare_pdisks: int | None = Field(default=None, ge=0, le=4096)
    set_size_percent: int = Field(default=100, ge=10, le=100)
    release: str = "6.0.0.1"
    nic_bits_per_s: float = Field(default=400e9, gt=0, le=1e14)
    rated_drive_writes_per_day: float = Field(default=1.0, gt=0, le=1000)
    write_bytes_per_s: float = Field(default=0.0, ge=0, le=1e15)


class EceReport(Geometry):
    """Geometry of an erasure code with rebuild time and endurance."""

    format_version: str = FORMAT_VERSION
    rebuild: Rebuild
    endurance: Endurance
