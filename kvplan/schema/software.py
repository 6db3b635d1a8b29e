"""Rows of the software tables: cache back ends, validated software sets, storage software releases."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kvplan.schema.base import Record, Sourced
from kvplan.schema.hardware import PositiveFloat, PositiveInt, Row

BackendId = Literal["vllm-fs", "llmd-fs", "lmcache-fs", "lmcache-gds", "kvbm-disk", "kvbm-g4"]
"""The cache back ends that kvplan knows how to count."""


class VersionRange(Record):
    """First and last version that work, inclusive; empty means no limit known on that side.

    A version with fewer parts stands for all its patch releases: `0.22` as the last one includes `0.22.3`.
    """

    first: str = ""
    last: str = ""


DataPath = Literal["gpudirect", "bounce"]
"""From the tier straight into GPU memory, or through a buffer in host memory."""


class Stream(Sourced):
    """The rate that one engine was seen to read with a back end on one path, and on which `setup`."""

    path: DataPath
    bytes_per_s: PositiveFloat
    setup: str


class LoadSteps(Sourced):
    """How many steps of the scheduler a request waits for its load beside the load itself."""

    steps: Annotated[int, Field(ge=0)]


class CacheBackend(Row):
    """What writes KV blocks to the tier and reads them back, and what it is worth.

    `eviction` says who deletes old blocks: nobody, the worker in its own pool, or the registry that indexes its
    files. `external_delete` says whether somebody else may delete files under it. `streams` caps what one engine
    reads, where somebody measured it; `load_steps` is absent where nobody counted them.
    """

    dynamo: VersionRange
    vllm: VersionRange
    released: bool
    shared_between_engines: bool
    survives_restart: bool
    eviction: Literal["none", "private-pool", "registry"]
    external_delete: Literal["safe", "with-grace", "unsafe"] = "unsafe"
    needs_cpu_tier: bool
    gpudirect: Literal["no", "yes", "reads-and-writes-optional"]
    hybrid_manager: bool
    hybrid_manager_since_vllm: str = ""
    stores_recurrent_state: bool
    latent_copies: Literal["one", "every-rank"]
    window_storage: Literal["all-layers", "prompt-end"] = "all-layers"
    default_chunk_tokens: PositiveInt
    file_unit_bytes: PositiveInt = 4096
    streams: tuple[Stream, ...] = ()
    load_steps: LoadSteps | None = None


class SoftwareSet(Row):
    """Versions that were seen to work together, and the defaults that follow from them."""

    dynamo: str
    vllm: str
    storage_scale: str
    storage_os: str
    client_os: str
    cache_backend: BackendId
    hybrid_manager: bool
    block_tokens: PositiveInt
    chunk_tokens: PositiveInt
    validated: bool
    date: str = ""


class StorageRelease(Row):
    """A Storage Scale ECE release with the limits that sizing must respect."""

    version: str
    released: str = ""
    min_servers_per_recovery_group: PositiveInt
    max_servers_per_recovery_group: PositiveInt
    max_pdisks_per_recovery_group: PositiveInt
    max_drives_per_server: PositiveInt
    max_servers: PositiveInt
    warn_servers: PositiveInt
    rack_failure_domains: bool
    erasure_codes: tuple[str, ...] = Field(min_length=1)
