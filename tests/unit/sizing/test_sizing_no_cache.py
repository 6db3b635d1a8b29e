"""A model without a KV cache has nothing to store, and a small fleet is bound by its own side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvplan import InputError, Request, load_catalogue, size
from kvplan.render.plan_view import plan_view

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT_CACHE = """\
- id: acme/feed-forward
  groups:
    - {kind: none, layers: 2}
  params_total: 8000000000
  source: made up for this test
  confidence: assumed
"""


def test_a_model_without_kv_cache_is_refused(tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text(WITHOUT_CACHE, encoding="utf-8")
    asked = Request(model="acme/feed-forward", context_tokens=130_000, gpus=8)
    with pytest.raises(InputError, match="keeps no KV cache"):
        size(asked, catalogue=load_catalogue((tmp_path,)))


@pytest.mark.parametrize(
    ("gpus", "bound"),
    [
        (128, "70 % of read bandwidth"),
        # One client server takes 80 GB/s (IBM Redbook MD260021), less than 70 % of the 315 GB/s of eight nodes.
        (3, "the 80 GB/s that the client server nic stage lets through"),
    ],
)
def test_the_screen_says_what_bounds_the_hits(gpus: int, bound: str) -> None:
    plan = size(Request(model="gpt-oss-120b", context_tokens=130_000, gpus=gpus))
    text = "\n".join(line for section in plan_view(plan) for line in section.lines)
    assert f"whole-context hits/s at {bound};" in text
