"""The parameters of the daemons, each with the commands that read what is stored and what runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from kvplan.site.scale.cluster import CLIENT_CLASS, SERVER_CLASS, daemons
from kvplan.site.scale.fabrics import by_verbs_ports
from kvplan.site.scale.memory import pagepool_bytes
from kvplan.units import MB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.deployment import Server
    from kvplan.site.scale.cluster import Cluster
    from kvplan.site.scale.memory import Side

SetBy = Literal["mmchconfig", "mmvdisk server configure"]
_WHOLE: Final = "all"
_NO_DAEMON: Final = frozenset({"adminMode", "autoload"})
"""Parameters of the commands; no daemon runs them."""
_BITS: Final = 8
_BY_RDMA: Final = (
    ("verbsRdma", "verbs_rdma"),
    ("verbsRdmaCm", "verbs_rdma_cm"),
    ("verbsRdmaSend", "verbs_rdma_send"),
    ("verbsRdmaRoCEToS", "verbs_roce_tos"),
)
_CACHES: Final = (
    ("workerThreads", "worker_threads"),
    ("maxFilesToCache", "max_files"),
    ("maxStatCache", "max_stat"),
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter, its value, the nodes that it is for, what sets it, and whether daemons restart for it."""

    name: str
    value: str
    target: str
    restart: bool
    set_by: SetBy = "mmchconfig"
    why: str = ""

    @property
    def command(self) -> list[str]:
        """The command that stores it; a value of the whole cluster names no nodes."""
        nodes = [] if self.target == _WHOLE else ["-N", self.target]
        return ["mmchconfig", f"{self.name}={self.value}", *nodes]

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        stored = ["mmlsconfig", self.name, "-Y"]
        return {
            "parameter": self.name,
            "value": self.value,
            "target": self.target,
            "set_by": self.set_by,
            "stored": stored,
            "running": stored if self.name in _NO_DAEMON else ["mmdiag", "--config"],
            "restart": self.restart,
            **({"why": self.why} if self.why else {}),
        }


def server_parameters(cluster: Cluster) -> tuple[Parameter, ...]:
    """List the parameters of the storage nodes, in the order in which they are set.

    Parameters
    ----------
    cluster
        The cluster.

    Returns
    -------
    tuple of Parameter
        Those that mmvdisk sets come last, for checking only.
    """
    largest = str(int(cluster.number("max_block_bytes")))
    return (
        Parameter("adminMode", cluster.text("admin_mode"), _WHOLE, restart=False),
        Parameter("enforceFilesetQuotaOnRoot", cluster.text("quota_on_root"), _WHOLE, restart=False),
        *_common(cluster, "server", SERVER_CLASS, cluster.deployment.storage),
        *(
            Parameter(
                "pagepool",
                str(pagepool_bytes(cluster, "server")),
                group.node_class,
                restart=True,
                set_by="mmvdisk server configure",
                why="in bytes: other forms were refused",
            )
            for group in cluster.groups
        ),
        Parameter("maxblocksize", largest, _WHOLE, restart=True, set_by="mmvdisk server configure"),
    )


def client_parameters(cluster: Cluster) -> tuple[Parameter, ...]:
    """List the parameters of the clients; a cluster of their own needs the block size of the storage cluster too."""
    largest = str(int(cluster.number("max_block_bytes")))
    pagepool = str(pagepool_bytes(cluster, "client"))
    whole = (
        Parameter("adminMode", cluster.text("admin_mode"), _WHOLE, restart=False),
        Parameter("maxblocksize", largest, _WHOLE, restart=True, why="as large as that of the storage cluster"),
    )
    return (
        *(whole if cluster.is_remote else ()),
        *_common(cluster, "client", CLIENT_CLASS, cluster.deployment.clients),
        Parameter("pagepool", pagepool, CLIENT_CLASS, restart=True),
    )


def _common(cluster: Cluster, side: Side, node_class: str, servers: tuple[Server, ...]) -> Iterator[Parameter]:
    """Yield what both sides have."""
    yield Parameter("autoload", cluster.text("autoload"), node_class, restart=False)
    for name, setting in _BY_RDMA:
        yield Parameter(name, cluster.text(setting), node_class, restart=True)
    alike = by_verbs_ports(cluster.deployment, servers)
    for value, members in alike.items():
        yield Parameter("verbsPorts", value, node_class if len(alike) == 1 else daemons(members), restart=True)
    if cluster.deployment.backend.gpudirect != "no":
        yield Parameter("verbsGPUDirectStorage", "enable", node_class, restart=True)
    for name, setting in _CACHES:
        yield Parameter(name, cluster.text(f"{setting}_{side}"), node_class, restart=True)
    yield Parameter("maxMBpS", str(_max_mbps(cluster, servers)), node_class, restart=False)


def _max_mbps(cluster: Cluster, servers: tuple[Server, ...]) -> int:
    """Give twice the network rate of a node, within the parameter's limit [MB/s]."""
    rates = (sum(port.port.bits_per_s for port in server.fabric) / _BITS / MB for server in servers)
    return int(min(max(rates, default=0) * cluster.number("max_mbps_factor"), cluster.number("max_mbps_limit")))
