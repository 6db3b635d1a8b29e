"""The storage cluster in numbers and names: the one place where they are worked out, for all that is written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.core.arithmetic import ceil_div
from kvplan.core.ece.codes import parse_code
from kvplan.core.ece.tracks import checksum_granularity_bytes
from kvplan.site.scale.quorum import quorum_of
from kvplan.units import GIB

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.core.ece.codes import ErasureCode
    from kvplan.schema.site.software import StorageSite
    from kvplan.site.deployment import Deployment, Server

SERVER_CLASS: Final = "kvservers"
"""Node class of all storage nodes; those of recovery groups are its parts."""
CLIENT_CLASS: Final = "kvgpus"
DIRECTORY: Final = "/etc/kvplan/scale"
"""Where the rendered files lie on the nodes that run commands."""
POOL: Final = "system"
"""The storage pool that holds data and metadata."""
_PERCENT: Final = 100


class Group(NamedTuple):
    """A recovery group with what is named after its number, and its nodes."""

    number: int
    nodes: tuple[Server, ...]

    @property
    def name(self) -> str:
        """The recovery group."""
        return f"rg{self.number}"

    @property
    def node_class(self) -> str:
        """Its node class."""
        return f"nc{self.number}"

    @property
    def vdisk_set(self) -> str:
        """Its vdisk set."""
        return f"vs{self.number}"


@dataclass(frozen=True)
class Cluster:
    """What the files about Storage Scale are made from."""

    deployment: Deployment

    @property
    def storage(self) -> StorageSite:
        """What the Site says of it."""
        return self.deployment.site.storage

    @property
    def is_remote(self) -> bool:
        """Whether clients form a cluster of their own."""
        return self.storage.clients == "remote-mount"

    @property
    def name(self) -> str:
        """Its name with the domain, which mmcrcluster would append to a name without dots."""
        return f"{self.storage.cluster}.{self.deployment.site.network.domain}"

    @property
    def client_name(self) -> str:
        """The name of the clients' cluster."""
        return f"{self.storage.client_cluster}.{self.deployment.site.network.domain}"

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The recovery groups, as the design numbers them."""
        numbers = sorted({server.device.recovery_group for server in self.deployment.storage})
        return tuple(Group(number, tuple(self._members(number))) for number in numbers)

    @cached_property
    def quorum(self) -> frozenset[str]:
        """The quorum nodes of the storage cluster, by inventory name."""
        return quorum_of(self.deployment.storage)

    @cached_property
    def client_quorum(self) -> frozenset[str]:
        """The quorum nodes of the clients' cluster; none where clients join the storage cluster."""
        return quorum_of(self.deployment.clients) if self.is_remote else frozenset()

    @cached_property
    def code(self) -> ErasureCode:
        """The erasure code."""
        return parse_code(self.deployment.plan.profile.erasure_code)

    @property
    def granularity_bytes(self) -> int:
        """Distance of the checksums on a drive [B]."""
        return checksum_granularity_bytes(self.code, self.deployment.plan.profile.block_bytes)

    @property
    def capacity_bytes(self) -> int:
        """What the vdisk sets hold [B]."""
        return self.deployment.plan.profile.usable_bytes * self.storage.set_size_percent // _PERCENT

    @property
    def quota_gib(self) -> int:
        """The quota of the cache fileset [GiB]."""
        return self.capacity_bytes * self.storage.quota_percent // _PERCENT // GIB

    @property
    def file_bytes(self) -> int:
        """A cache file [B]: each writing rank has one for every chunk of tokens; the whole pool of a private one."""
        request, profile = self.deployment.plan.request, self.deployment.plan.profile
        if self.deployment.backend.eviction == "private-pool":
            return ceil_div(profile.usable_bytes, max(self.deployment.plan.hbm.engines, 1) * request.tp)
        chunks = ceil_div(request.context_tokens, request.chunk_tokens)
        unit = self.deployment.backend.file_unit_bytes
        return ceil_div(self.deployment.plan.kv.context_stored_bytes, chunks * request.tp * unit) * unit

    @property
    def files(self) -> int:
        """How many files fill the tier."""
        return ceil_div(self.deployment.plan.profile.usable_bytes, self.file_bytes)

    @property
    def inode_limit(self) -> int:
        """The inode limit of the cache fileset."""
        return max(ceil(self.files * self.number("inode_headroom")), int(self.number("inode_least")))

    @property
    def metadata_bytes(self) -> int:
        """What inodes and directories of all files take [B]."""
        return int(self.files * self.number("metadata_bytes_per_file"))

    @property
    def cache_path(self) -> str:
        """Where the cache fileset is linked."""
        return f"{self.storage.mount}/{self.storage.fileset}"

    @property
    def allows_eviction(self) -> bool:
        """Whether files may be deleted under the cache back end."""
        return self.deployment.backend.external_delete != "unsafe"

    @property
    def pool_marks(self) -> tuple[int, int]:
        """The watermarks in percent of the pool: ILM knows no fileset quota, so they are scaled by it, down."""
        marks, quota = self.storage.watermarks, self.storage.quota_percent
        high = marks.high_percent * quota // _PERCENT
        return high, min(marks.low_percent * quota // _PERCENT, high - 1)

    def number(self, name: str) -> float:
        """Return a setting of this part that is a number."""
        return float(self.deployment.setting(f"scale.{name}"))

    def text(self, name: str) -> str:
        """Return a setting of this part as it is written on a command line."""
        return str(self.deployment.setting(f"scale.{name}"))

    def _members(self, number: int) -> Iterable[Server]:
        """Yield the nodes of a recovery group."""
        return (server for server in self.deployment.storage if server.device.recovery_group == number)


def daemons(servers: Iterable[Server]) -> str:
    """Join the daemon names of servers as `-N` takes them."""
    return ",".join(server.names.daemon_fqdn for server in servers)
