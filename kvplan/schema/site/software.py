"""What is installed at a Site: images, packages, versions, the storage cluster, and the engines."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kvplan.schema.base import Record
from kvplan.schema.hardware import PositiveInt
from kvplan.schema.site.forms import Address, ImageRef, LocalPath, Name, Sha256, Url, Version
from kvplan.schema.software import BackendId


class Download(Record):
    """A file to install from: where it is, and the hash that it must have."""

    url: Url
    sha256: Sha256
    version: Version


class ImagesSite(Record):
    """Installer images: RHEL for storage nodes, Ubuntu for GPU servers, Cumulus where switches are installed anew.

    `rhel_repo` is a repository in the management network; without it the whole image is the medium.
    """

    rhel: Download
    ubuntu: Download
    cumulus: Download | None = None
    rhel_repo: Url | None = None


class PackagesSite(Record):
    """Package locations that no distribution has: absent ones are a finding when they are needed.

    `storage_scale` is the Erasure Code Edition; `storage_scale_client` the Data Management Edition, which GPU servers
    install where they form a cluster of their own.
    """

    storage_scale: Download
    storage_scale_client: Download | None = None
    doca: Download
    doca_ubuntu: Download | None = None
    gpu_driver: Download | None = None
    rpm_repo: Url | None = None
    deb_repo: Url | None = None


class VersionsSite(Record):
    """Versions that run; which of them go together is a table of the catalogue."""

    dynamo: Version
    vllm: Version
    cuda: Version
    gpu_driver: Version
    doca: Version
    storage_scale: Version
    rhel: Version = "9.6"
    rhel_kernel: Version
    ubuntu: Version = "24.04"
    ubuntu_kernel: Version


class Watermarks(Record):
    """Fill of the cache, in percent of its quota, at which eviction starts and stops."""

    high_percent: Annotated[int, Field(ge=20, le=95)] = 85
    low_percent: Annotated[int, Field(ge=10, le=90)] = 75


class StorageSite(Record):
    """The storage cluster: names, how clients join, and the cache fileset.

    `pagepool_gib` and `memory_gib` are those of a storage node; `set_size_percent` is the share of the declustered
    array that the vdisk set takes.
    """

    cluster: Name = "kvstore"
    file_system: Annotated[str, Field(pattern=r"^[a-z][a-z0-9]{0,30}$")] = "kvfs"
    mount: LocalPath = "/kvfs"
    fileset: Name = "kvcache"
    clients: Literal["same-cluster", "remote-mount"] = "remote-mount"
    client_cluster: Name = "kvclients"
    memory_gib: PositiveInt = 512
    pagepool_gib: PositiveInt = 128
    client_pagepool_gib: PositiveInt = 32
    set_size_percent: Annotated[int, Field(ge=10, le=100)] = 95
    quota_percent: Annotated[int, Field(ge=10, le=100)] = 95
    watermarks: Watermarks = Watermarks()
    access_times: bool = False


class EnginesSite(Record):
    """How engines are laid out on a GPU server, and what clients see.

    `model_path` is where the weights lie on every GPU server; `image` the container with engine and back end. A cache
    of 0 GB is sized as the back end needs it: processor memory as large as the GPUs' cache, disk the engine's share.
    """

    image: ImageRef
    model_path: LocalPath
    served_name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._/-]+$")]
    gpus_per_server: PositiveInt
    numa_nodes: PositiveInt = 2
    uid: Annotated[int, Field(ge=1, le=65_533)] = 2000
    gid: Annotated[int, Field(ge=1, le=65_533)] = 2000
    cpu_cache_gb: Annotated[int, Field(ge=0)] = 0
    disk_cache_gb: Annotated[int, Field(ge=0)] = 0
    frontend_port: Annotated[int, Field(ge=1024, le=49_151)] = 8000
    router: Literal["round-robin", "random", "kv"] = "round-robin"
    hash_seed: Annotated[int, Field(ge=0, le=4_294_967_295)] = 0


class InferenceSite(Record):
    """The cache back end, the engines, and the containers of their services."""

    cache_backend: BackendId
    engines: EnginesSite
    etcd_image: ImageRef = "etcd:3.6.1"
    nats_image: ImageRef = "nats:2.11.4"
    prometheus_image: ImageRef = "prometheus:3.7.0"
    grafana_image: ImageRef = "grafana:12.3.0"
    services_address: Address | None = None
