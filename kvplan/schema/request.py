"""What a person asks of `kvplan size`, with every default that decides spelled out."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from kvplan.schema.base import Record
from kvplan.schema.software import BackendId
from kvplan.schema.workload import Workload

KvDtype = Literal["bf16", "fp16", "fp8", "int8", "int4", "nvfp4", "fp8_ds_mla"]
Survive = Literal["node", "node+drive", "2-nodes", "3-nodes"]
SoftwareChoice = Literal["reference", "current"]


class Request(Record):
    """A sizing request.

    `model` is a catalogue id, an alias, a unique fragment, or the path of a Hugging Face `config.json`.
    `concurrency` counts the contexts that one engine has in flight. Unset fields take the default of the chosen
    software set or are computed; the Plan echoes what was used.
    """

    model_config = ConfigDict(strict=True)

    model: str = Field(min_length=1)
    context_tokens: int = Field(ge=1, le=10**9)
    gpus: int = Field(ge=1, le=10**6)
    gpu: str = "rtx-pro-6000"
    tp: int | None = Field(default=None, ge=1, le=1024)
    kv_dtype: KvDtype = "bf16"
    concurrency: int | None = Field(default=None, ge=1, le=10**6)
    gpu_memory_utilisation: float = Field(default=0.9, gt=0, le=1)
    software: SoftwareChoice = "reference"
    cache_backend: BackendId | None = None
    chunk_tokens: int | None = Field(default=None, ge=1, le=10**6)
    checkpoint_tokens: int | None = Field(default=None, ge=1, le=10**9)
    hybrid_manager: bool | None = None
    params_total: int | None = Field(default=None, ge=1, le=10**15)
    params_active: int | None = Field(default=None, ge=1, le=10**15)
    profile: str | None = None
    nodes: int | None = Field(default=None, ge=1, le=4096)
    erasure_code: str | None = None
    survive: Survive | None = None
    oversubscription: float = Field(default=1.0, ge=1, le=16)
    beyond_max: bool = False
    workload: Workload | None = None
    workload_name: str = ""
