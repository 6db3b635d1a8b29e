"""What runs where: the engines of each GPU server with their GPUs and ports, and the services that they need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.core.sizing.versions import release_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.site.software import EnginesSite
    from kvplan.site.deployment import Deployment, Server

GB: Final = 10**9
_PERCENT: Final = 100
KVBM: Final = frozenset({"kvbm-disk", "kvbm-g4"})
"""Back ends that are Dynamo's block manager."""


class PortRow(NamedTuple):
    """One row of the table of ports; `engine` is empty for a service that is no engine's own."""

    host: str
    engine: str
    purpose: str
    port: int


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine: its server, its number there, its GPUs, the NUMA nodes that they hang on, and its ports."""

    server: Server
    number: int
    gpus: tuple[int, ...]
    numa: tuple[int, ...]
    ports: Mapping[str, int]

    @property
    def unit(self) -> str:
        """The name of its unit, which is also that of its container."""
        return f"kv-engine-{self.number}"


@dataclass(frozen=True)
class Stack:
    """Everything about the engines that several files say alike."""

    deployment: Deployment

    @property
    def layout(self) -> EnginesSite:
        """How the Site lays engines out."""
        return self.deployment.site.inference.engines

    @property
    def backend(self) -> str:
        """The id of the cache back end."""
        return self.deployment.backend.id

    @property
    def tp(self) -> int:
        """GPUs of an engine."""
        return self.deployment.plan.request.tp

    @cached_property
    def is_old(self) -> bool:
        """Whether this Dynamo still takes `--connector`, and has the names and defaults of that time."""
        return release_key(self.deployment.site.versions.dynamo) < release_key(self.text("connector_flag_removed"))

    @cached_property
    def lmcache_server(self) -> bool:
        """Whether LMCache runs as a server beside the engines."""
        since = release_key(self.text("lmcache_server_since_vllm"))
        return self.backend == "lmcache-fs" and release_key(self.deployment.site.versions.vllm) >= since

    @property
    def is_gpt_oss(self) -> bool:
        """Whether the model is one of gpt-oss, whose chats are read and written by a library of their own."""
        return "gpt-oss" in self.deployment.plan.model.id

    @property
    def vocabulary(self) -> str:
        """Where the vocabulary of gpt-oss lies, which its library would fetch otherwise."""
        return f"{self.layout.model_path}/{self.text('vocabulary')}"

    @property
    def kv_events(self) -> bool:
        """Whether engines tell the router what they hold."""
        return self.layout.router == "kv"

    @property
    def event_plane(self) -> str:
        """What carries the events."""
        return self.text("event_plane_old" if self.is_old else "event_plane_new")

    @property
    def needs_nats(self) -> bool:
        """Whether requests or events go through NATS."""
        return self.text("request_plane") == "nats" or (self.kv_events and self.event_plane == "nats")

    @property
    def needs_etcd(self) -> bool:
        """Whether workers are found through etcd."""
        return self.text("discovery") == "etcd"

    @property
    def uses_gds(self) -> bool:
        """Whether the back end reads files straight into GPU memory."""
        return self.deployment.backend.gpudirect == "yes"

    @cached_property
    def control(self) -> Server | None:
        """The control node on which the services run; None where the Site has none."""
        return next(iter(self.deployment.control), None)

    @cached_property
    def services(self) -> str:
        """The address at which the services answer."""
        if self.deployment.site.inference.services_address:
            return self.deployment.site.inference.services_address
        return self.control.daemon_address if self.control else "localhost"

    @cached_property
    def mount(self) -> str:
        """Where the file system is mounted."""
        return self.deployment.site.storage.mount

    @cached_property
    def cache_dir(self) -> str:
        """Where the cache fileset is linked."""
        return f"{self.mount}/{self.deployment.site.storage.fileset}"

    @cached_property
    def gpu_cache_gb(self) -> int:
        """KV blocks that an engine's GPUs hold together, rounded up [GB]."""
        return ceil(self.deployment.plan.hbm.kv_bytes_per_gpu * self.tp / GB)

    @cached_property
    def cpu_cache_gb(self) -> int:
        """Host memory of an engine's cache [GB]: the Site's, else as much as its GPUs hold where one is needed."""
        if self.layout.cpu_cache_gb or not self.deployment.backend.needs_cpu_tier:
            return self.layout.cpu_cache_gb
        return self.gpu_cache_gb

    @cached_property
    def disk_cache_gb(self) -> int:
        """Private disk cache of an engine [GB]: the Site's, else its share of the tier below the low mark, bounded."""
        if self.backend != "kvbm-disk":
            return 0
        share = self.tier_bytes * self.deployment.site.storage.watermarks.low_percent // _PERCENT
        most = int(self.number("kvbm_disk_most_gb"))
        return self.layout.disk_cache_gb or min(most, share // max(len(self.engines), 1) // GB)

    @cached_property
    def tier_bytes(self) -> int:
        """What the cache may hold by its quota [B]."""
        storage = self.deployment.site.storage
        return self.deployment.plan.profile.usable_bytes * storage.quota_percent // _PERCENT

    @cached_property
    def start_timeout_s(self) -> int:
        """How long an engine may take to start: weights, graphs, and the allocation of its disk cache [s]."""
        allocation = self.disk_cache_gb / self.number("preallocation_gb_per_s")
        return int(self.number("start_timeout_s")) + ceil(allocation)

    @cached_property
    def max_model_len(self) -> int:
        """The longest context [tokens]: the model's own where the GPUs hold one such, else the one asked for."""
        plan = self.deployment.plan
        longest = plan.model.max_position_tokens or 0
        counted = plan.kv.accounting.vllm_gpu
        if longest and counted.bytes_per_token * longest + counted.fixed_bytes <= plan.hbm.kv_bytes_per_gpu:
            return max(longest, plan.request.context_tokens)
        return plan.request.context_tokens

    @cached_property
    def engines(self) -> tuple[Engine, ...]:
        """All engines, by server and number."""
        return tuple(self._engine(server, number) for server in self.deployment.clients for number in range(self.fits))

    @property
    def fits(self) -> int:
        """Engines that fit a GPU server."""
        return self.layout.gpus_per_server // self.tp

    @cached_property
    def port_rows(self) -> tuple[PortRow, ...]:
        """The table of ports: control node first, then engines."""
        return (*self._service_ports(), *self._engine_ports())

    def text(self, name: str) -> str:
        """Return a setting as text."""
        return str(self.deployment.setting(f"inference.{name}"))

    def number(self, name: str) -> float:
        """Return a setting as a number."""
        return float(self.deployment.setting(f"inference.{name}"))

    def port(self, name: str) -> int:
        """Return the first port of a purpose."""
        return int(self.number(f"port_{name}"))

    def _engine(self, server: Server, number: int) -> Engine:
        """Lay one engine out: GPUs in order, shared out evenly to the NUMA nodes."""
        gpus = tuple(range(number * self.tp, (number + 1) * self.tp))
        numa = sorted({gpu * self.layout.numa_nodes // self.layout.gpus_per_server for gpu in gpus})
        return Engine(server, number, gpus, tuple(numa), dict(self._ports(number)))

    def _ports(self, number: int) -> Iterator[tuple[str, int]]:
        """Give the ports of the engine with a number, by purpose."""
        yield "system", self.port("system") + number
        yield "request", self.port("request") + number
        if self.kv_events:
            yield "kv-events", self.port("kv_events") + number
        yield "nixl", self.port("nixl") + number * self.tp
        if self.backend in KVBM:
            leader = self.port("kvbm_pub") + number
            offset = int(self.number("kvbm_consolidator_offset"))
            yield "kvbm-pub", leader
            yield "kvbm-ack", self.port("kvbm_ack") + number
            yield "kvbm-consolidator", leader + offset
            yield "kvbm-metrics", self.port("kvbm_metrics") + number

    def _service_ports(self) -> Iterator[PortRow]:
        """List the ports of the control node."""
        if self.control is None:
            return
        yield PortRow(self.control.name, "", "frontend", self.layout.frontend_port)
        used = ["etcd", "etcd_peer"] * self.needs_etcd + ["nats", "nats_monitor"] * self.needs_nats
        for name in (*used, "prometheus", "grafana"):
            yield PortRow(self.control.name, "", name.replace("_", "-"), self.port(name))

    def _engine_ports(self) -> Iterator[PortRow]:
        """List the ports of the GPU servers; a NIXL side channel is one port a rank."""
        for engine in self.engines:
            if self.lmcache_server and engine.number == 0:
                for name in ("lmcache", "lmcache_http"):
                    yield PortRow(engine.server.name, "", name.replace("_", "-"), self.port(name))
            for purpose, port in engine.ports.items():
                ranks = self.tp if purpose == "nixl" else 1
                for rank in range(ranks):
                    yield PortRow(engine.server.name, str(engine.number), purpose, port + rank)
