"""What the daemon takes of a machine's memory, and whether a storage node has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from kvplan.units import GIB

if TYPE_CHECKING:
    from kvplan.site.scale.cluster import Cluster

Side = Literal["server", "client"]


def pagepool_bytes(cluster: Cluster, side: Side) -> int:
    """Return the pagepool of a side [B]."""
    storage = cluster.storage
    return (storage.pagepool_gib if side == "server" else storage.client_pagepool_gib) * GIB


def memory_report(cluster: Cluster) -> dict[str, Any]:
    """Sum up the memory of a storage node and of a client.

    need = pagepool + maxFilesToCache x entry + maxStatCache x entry + heap of the daemon + reserve of the system

    Parameters
    ----------
    cluster
        The cluster.

    Returns
    -------
    dict
        Each share [B], what is there, and whether it fits; a client's memory is not known to the Site.
    """
    server = _shares(cluster, "server") | {"reserve_bytes": int(cluster.number("os_reserve_gib")) * GIB}
    there = cluster.storage.memory_gib * GIB
    need = sum(server.values())
    client = _shares(cluster, "client")
    return {
        "storage": {**server, "needed_bytes": need, "memory_bytes": there, "fits": need <= there},
        "client": {**client, "needed_bytes": sum(client.values())},
    }


def _shares(cluster: Cluster, side: Side) -> dict[str, int]:
    """Count what the daemon takes [B]."""
    return {
        "pagepool_bytes": pagepool_bytes(cluster, side),
        "file_cache_bytes": int(cluster.number(f"max_files_{side}") * cluster.number("file_cache_bytes")),
        "stat_cache_bytes": int(cluster.number(f"max_stat_{side}") * cluster.number("stat_cache_bytes")),
        "heap_bytes": int(cluster.number("daemon_heap_gib")) * GIB,
    }
