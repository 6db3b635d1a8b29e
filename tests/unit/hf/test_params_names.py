from __future__ import annotations

import pytest

from kvplan.core.hf.params import ParamCounts, params_from_name

NAMES = {
    "meta-llama/Llama-3.3-70B-Instruct": (70e9, 70e9),
    "Qwen/Qwen3-235B-A22B-Instruct-2507": (235e9, 22e9),
    "qwen3-30b-a3b": (30e9, 3e9),
    "openai/gpt-oss-120b": (120e9, 120e9),
    "Qwen/Qwen2.5-0.5B": (0.5e9, 0.5e9),
    "Qwen/Qwen3.8-2.4T-A95B": (2.4e12, 95e9),
    "mistralai/Mistral-Large-4-1T-A52B": (1e12, 52e9),
    "deepseek-ai/DeepSeek-R1-Distill-Llama-70B": (70e9, 70e9),
    "meta-llama/Llama-3.2-11B-Vision": (11e9, 11e9),
    "tiiuae/falcon-7b": (7e9, 7e9),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_says_how_many_parameters(name: str) -> None:
    total, active = NAMES[name]
    assert params_from_name(name) == ParamCounts(int(total), int(active))


SILENT = (
    "mistralai/Mixtral-8x7B-v0.1",
    "meta-llama/Llama-4-Maverick-17B-128E-Instruct",
    "google/gemma-3n-E4B",
    "tencent/Hunyuan-A13B-Instruct",
    "allenai/OLMoE-1B-7B-0924",
    "Qwen/Qwen1.5-MoE-A2.7B",
    "deepseek-ai/DeepSeek-V3",
    "some/model-7B-A70B",
    "some/model-0B",
    "some/70B-in-the/owner",
    "some/model-4bit",
    "",
)


@pytest.mark.parametrize("name", SILENT)
def test_a_name_that_needs_interpretation_is_none(name: str) -> None:
    assert params_from_name(name) is None
