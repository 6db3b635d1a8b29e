"""Another number of GPUs in a server than the Plan has.

Engines are laid out GPU by GPU. A GPU too many in the layout is one that is not there, and one too few stays idle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context

ENGINES = ("inference", "engines", "gpus_per_server")


def run(context: Context) -> Iterator[Found]:
    """Compare the two."""
    planned, chosen = context.plan.parts.gpu.gpus_per_server, context.site.inference.engines.gpus_per_server
    if planned != chosen:
        yield Found("inference.engines.gpus_per_server", f"is {chosen}, the Plan has {planned}", ENGINES)


CHECK = Check(
    id="KV-CAP-008",
    severity="error",
    title="GPU servers have the Plan's GPUs",
    expected="`inference.engines.gpus_per_server` as the Plan's GPU row has it",
    remedy="correct the number, or size another Plan",
    manual="nvidia-smi -L | wc -l",
    source="the Plan's parts: gpu",
    run=run,
)
