"""GPUs of a server that no engine takes.

An engine takes as many GPUs as the model is split over, all of one server. What is left over stays idle; where a
server has fewer than one engine takes, no engine starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Divide."""
    gpus, tp = context.site.inference.engines.gpus_per_server, context.plan.request.tp
    if gpus % tp:
        what = f"{gpus} GPUs a server for engines of {tp}: {gpus % tp} left over"
        yield Found("inference.engines.gpus_per_server", what, ("inference", "engines", "gpus_per_server"))


CHECK = Check(
    id="KV-CAP-009",
    severity="error",
    title="Engines take all GPUs of a server",
    expected="`gpus_per_server` a multiple of the Plan's GPUs an engine",
    remedy="size the Plan with another --tp",
    manual="nvidia-smi topo -m",
    source="the Plan's request: tp",
    run=run,
)
