"""From how many GPUs on which tier? Sizes three models over growing fleets and prints CSV."""  # noqa: INP001 - a script, no package

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING

from kvplan import NoProfileFitsError, Plan, Request, size

if TYPE_CHECKING:
    from collections.abc import Iterator

MODELS = ("openai/gpt-oss-120b", "deepseek-ai/DeepSeek-V3", "meta-llama/Llama-3.3-70B-Instruct")
FLEETS = (16, 64, 128, 256, 512, 1024)
CONTEXT_TOKENS = 128_000
HEADER = ("model", "gpus", "profile", "nodes", "usable_tb", "read_gb_per_s", "hits_per_s", "warnings")


def plans() -> Iterator[Plan]:
    """Yield a Plan for each model and fleet that some tier covers."""
    for model in MODELS:
        for gpus in FLEETS:
            try:
                yield size(Request(model=model, context_tokens=CONTEXT_TOKENS, gpus=gpus, gpu="h200"))
            except NoProfileFitsError as error:
                sys.stderr.write(f"{model}, {gpus} GPUs: {error.message}\n")


def row(plan: Plan) -> tuple[str | int | float, ...]:
    """Pick what the table shows; `kvplan explain` tells how each came about."""
    grave = sum(warning.severity != "info" for warning in plan.warnings)
    return (
        plan.request.model,
        plan.request.gpus,
        plan.profile.name,
        plan.profile.nodes,
        round(plan.profile.usable_bytes / 1e12, 1),
        round(plan.profile.read_bytes_per_s / 1e9, 1),
        round(plan.buys.hits_per_s, 2),
        grave,
    )


def main() -> None:
    """Print the table."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(row(plan) for plan in plans())


if __name__ == "__main__":
    main()
