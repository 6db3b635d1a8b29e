"""GPUs that do not divide evenly over the memory nodes of a server.

An engine is pinned to the memory node of its GPUs. Where they do not divide evenly, an engine takes GPUs of two
nodes, or memory of the far one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Divide."""
    engines = context.site.inference.engines
    if engines.gpus_per_server % engines.numa_nodes:
        what = f"{engines.gpus_per_server} GPUs over {engines.numa_nodes} memory nodes"
        yield Found("inference.engines.numa_nodes", what, ("inference", "engines", "numa_nodes"))


CHECK = Check(
    id="KV-CAP-010",
    severity="warning",
    title="GPUs divide over memory nodes",
    expected="`gpus_per_server` a multiple of `numa_nodes`",
    remedy="correct `numa_nodes` to what the server reports",
    manual="nvidia-smi topo -m; lscpu | grep NUMA",
    source="numactl(8); NVIDIA GPU topology documentation",
    run=run,
)
