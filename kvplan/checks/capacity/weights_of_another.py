"""Weights that are perhaps another model's.

The Plan counted for one model. Blocks of another have another size, and the path's last part is often all that tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare the last parts by letters and digits alone."""
    path, model = context.site.inference.engines.model_path, context.plan.model.id
    if plain(model.rpartition("/")[2]) not in plain(path):
        yield Found(
            "inference.engines.model_path", f"{path} is not called like {model}", ("inference", "engines", "model_path")
        )


CHECK = Check(
    id="KV-CAP-012",
    severity="warning",
    title="The weights are of the Plan's model",
    expected="a `model_path` whose last part is called like the model",
    remedy="correct the path, or size the Plan for that model",
    manual="ls MODEL_PATH/config.json",
    source="the Plan's model",
    run=run,
)
