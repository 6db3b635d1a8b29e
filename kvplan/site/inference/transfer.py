"""What a transfer configuration may say: the keys that each connector knows, and no others."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from kvplan.schema.base import Record
from kvplan.schema.hardware import PositiveInt


class FsTier(Record):
    """A file-system tier of vLLM's tiering specification."""

    type: Literal["fs"]
    root_dir: str
    n_read_threads: PositiveInt = 16
    n_write_threads: PositiveInt = 16
    enable_kv_events: bool = False
    locality: Literal["LOCAL", "REMOTE"] = "LOCAL"


class Tiering(Record):
    """Keys of vLLM's tiering specification."""

    spec_name: Literal["TieringOffloadingSpec"]
    cpu_bytes_to_use: PositiveInt
    block_size: PositiveInt
    eviction_policy: Literal["lru", "arc"] = "lru"
    offload_prompt_only: bool = True
    secondary_tiers: Annotated[tuple[FsTier, ...], Field(min_length=1)]


class SharedStorage(Record):
    """Keys of the llm-d connector."""

    spec_name: Literal["SharedStorageOffloadingSpec"]
    spec_module_path: Literal["llmd_fs_backend.spec"]
    shared_storage_path: str
    block_size: PositiveInt
    threads_per_gpu: PositiveInt = 64
    max_staging_memory_gb: PositiveInt | None = None
    max_write_queued_seconds: PositiveInt = 30


class LmcacheServer(Record):
    """Where the LMCache server answers."""

    host: Annotated[str, Field(alias="lmcache.mp.host")]
    port: Annotated[int, Field(alias="lmcache.mp.port", ge=1, le=65_535)]


class Transfer(Record):
    """The value of `--kv-transfer-config`; `kv_connector_extra_config` is judged by its connector's own record."""

    kv_connector: str
    kv_connector_module_path: str = ""
    kv_role: Literal["kv_both"]
    kv_load_failure_policy: Literal["recompute", "fail"] | None = None
    kv_connector_extra_config: dict[str, Any] = Field(default_factory=dict)


EXTRA: Final[dict[tuple[str, str], type[Record]]] = {
    ("vllm-fs", "OffloadingConnector"): Tiering,
    ("llmd-fs", "OffloadingConnector"): SharedStorage,
    ("lmcache-fs", "LMCacheMPConnector"): LmcacheServer,
    ("lmcache-fs", "LMCacheConnectorV1"): Record,
    ("lmcache-gds", "LMCacheConnectorV1"): Record,
    ("kvbm-disk", "DynamoConnector"): Record,
    ("kvbm-g4", "DynamoConnector"): Record,
}
"""Connectors by back end, and the record of the connector's own keys; the plain record has none."""
