"""Systems of the published tables with their prefill rows, and presets with single numbers changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan import load_catalogue
from kvplan.core.prediction.prefill import PrefillModel
from kvplan.core.sizing.workload import Served, with_overrides
from kvplan.core.sizing.workload_demand import Burst
from kvplan.workloads import load_workload

if TYPE_CHECKING:
    from kvplan.schema.workload import Workload

GPT_OSS = 73_728
LLAMA_70B = 327_680
DEEPSEEK_V3 = 70_272
BURST = Burst(2.7, 3.4)


def served(a_us: float, b_ns: float, c0_ms: float, gpus: int, token_bytes: float) -> Served:
    """Build a served model from a row of measured prefill coefficients."""
    model = PrefillModel(c0_ms / 1e3, a_us * 1e-6, b_ns * 1e-9, 1.15, "derived", "aiconfigurator 0.12.0")
    return Served(model, gpus, token_bytes, token_bytes)


RTX_PRO = served(34.5, 0.555, 43, 1, GPT_OSS)
H200 = served(17.3, 0.313, 36, 1, GPT_OSS)
B200 = served(14.9, 0.200, 13, 1, GPT_OSS)
LLAMA_H100 = served(63.1, 0.483, 0, 4, LLAMA_70B)
LLAMA_B200 = served(23.5, 0.256, 13, 4, LLAMA_70B)
LLAMA_A100 = served(148.6, 1.871, 25, 4, LLAMA_70B)
DEEPSEEK = served(27.9, 0.614, 38, 8, DEEPSEEK_V3)


def preset(name: str, **changes: object) -> Workload:
    """Return a preset with single numbers changed."""
    return with_overrides(load_workload(name, load_catalogue()), changes)
