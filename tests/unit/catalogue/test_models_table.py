"""The model table: published KV sizes of well-known models, and what holds for every row.

The published figures are slope and fixed part at 16 bit, from the models' configurations as the rows' sources give
them. gpt-oss-120b, DeepSeek-V3 and Kimi-K2 agree with AI-Hypercomputer/maxtext@e591f30, GLM-5.2 with
kvcache-ai/kvcache-blog@9753288, Mistral-Small-4 with kaito-project/kaito#2132, Kimi-Linear with
vllm-project/vllm#28228.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from functools import cache
from importlib.resources import files

import pytest
import yaml

from kvplan.catalogue.loader import load_catalogue
from kvplan.core.hf.params import params_from_name
from kvplan.core.hf.weights import bytes_per_weight, weights_bytes
from kvplan.core.kv.terms import context_bytes, fixed_bytes, slope_bytes_per_token
from kvplan.schema.model import ModelSpec

CONTEXT_TOKENS = 131_072

PUBLISHED = {
    "meta-llama/Meta-Llama-3.1-8B": (131_072, 0.0, 16.0),
    "meta-llama/Llama-3.3-70B-Instruct": (327_680, 0.0, 40.0),
    "meta-llama/Meta-Llama-3.1-405B": (516_096, 0.0, 63.0),
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": (49_152, 1152.0, 7.125),
    "mistralai/Mistral-Large-Instruct-2411": (360_448, 0.0, 44.0),
    "mistralai/Mistral-Small-4-119B-2603": (23_040, 0.0, 2.812),
    "Qwen/Qwen3-32B": (262_144, 0.0, 32.0),
    "Qwen/Qwen3-235B-A22B": (192_512, 0.0, 23.5),
    "Qwen/Qwen3-Next-80B-A3B-Instruct": (24_576, 73.7, 3.072),
    "Qwen/Qwen3.5-27B": (65_536, 146.8, 8.143),
    "Qwen/Qwen3.5-397B-A17B": (30_720, 183.2, 3.929),
    "openai/gpt-oss-20b": (24_576, 3.0, 3.003),
    "openai/gpt-oss-120b": (36_864, 4.5, 4.504),
    "deepseek-ai/DeepSeek-V3": (70_272, 0.0, 8.578),
    "deepseek-ai/DeepSeek-V3.2": (85_888, 0.0, 10.484),
    "deepseek-ai/DeepSeek-V4-Flash": (6_880, 5.4, 0.845),
    "deepseek-ai/DeepSeek-V4-Pro": (9_848, 7.6, 1.21),
    "moonshotai/Kimi-K2-Instruct": (70_272, 0.0, 8.578),
    "moonshotai/Kimi-Linear-48B-A3B-Instruct": (8_064, 41.4, 1.025),
    "moonshotai/Kimi-K3": (27_648, 428.6, 3.794),
    "zai-org/GLM-4.6": (376_832, 0.0, 46.0),
    "zai-org/GLM-5.2": (95_232, 0.0, 11.625),
    "MiniMaxAI/MiniMax-M2.7": (253_952, 0.0, 31.0),
    "MiniMaxAI/MiniMax-M3": (137_472, 0.0, 16.781),
    "google/gemma-3-27b-it": (81_920, 416.0, 10.406),
    "google/gemma-4-31B": (81_920, 800.0, 10.781),
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": (6_144, 46.8, 0.796),
    "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8": (8_192, 162.3, 1.159),
    "CohereLabs/c4ai-command-a-03-2025": (65_536, 768.0, 8.75),
    "ibm-granite/granite-3.3-8b-instruct": (163_840, 0.0, 20.0),
}
"""Slope [B/token], fixed part [MiB], and bytes at 131,072 tokens [GiB]."""

SHORT_NAMES = {
    "gpt-oss-120b": "openai/gpt-oss-120b",
    "llama-3.3-70b": "meta-llama/Llama-3.3-70B-Instruct",
    "llama-3.1-8b": "meta-llama/Meta-Llama-3.1-8B",
    "deepseek-v3": "deepseek-ai/DeepSeek-V3",
    "deepseek-r1": "deepseek-ai/DeepSeek-R1",
    "qwen3-32b": "Qwen/Qwen3-32B",
    "kimi-k2": "moonshotai/Kimi-K2-Instruct",
    "mixtral-8x7b": "mistralai/Mixtral-8x7B-v0.1",
    "gemma-3-27b": "google/gemma-3-27b-it",
    "llama-4-scout": "meta-llama/Llama-4-Scout-17B-16E-Instruct",
}


LOGGED_NAMES = {
    "Qwen3-235B-A22B-FP8": ("Qwen/Qwen3-235B-A22B-FP8", 192_512, "fp8"),
    "Qwen/Qwen3-30B-A3B-FP8": ("Qwen/Qwen3-30B-A3B-FP8", 98_304, "fp8"),
    "gemma-4-31B-it": ("google/gemma-4-31B", 81_920, ""),
    "google/gemma-4-31B-it": ("google/gemma-4-31B", 81_920, ""),
    "google/gemma-4-26B-A4B-it": ("google/gemma-4-26B-A4B", 20_480, "bf16"),
    "MiniMax-M2.7-AWQ": ("cyankiwi/MiniMax-M2.7-AWQ-4bit", 253_952, "awq"),
    "MiniMax-M2.7-NVFP4": ("nvidia/MiniMax-M2.7-NVFP4", 253_952, "nvfp4"),
    "MiniMax-M2.7": ("MiniMaxAI/MiniMax-M2.7", 253_952, "fp8"),
    "DeepSeek-R1-Distill-Qwen-14B": ("deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", 196_608, "bf16"),
    "DeepSeek-V3.2-Exp": ("deepseek-ai/DeepSeek-V3.2", 85_888, "fp8"),
    "Mistral-Small-4-119B-2603": ("mistralai/Mistral-Small-4-119B-2603", 23_040, ""),
    "mistralai/Mistral-Small-4-119B-2603": ("mistralai/Mistral-Small-4-119B-2603", 23_040, ""),
    "moonshotai/Kimi-Linear-48B-A3B-Instruct": ("moonshotai/Kimi-Linear-48B-A3B-Instruct", 8_064, ""),
    "Qwen3.6-35B-A3B-NVFP4": ("nvidia/Qwen3.6-35B-A3B-NVFP4", 20_480, "nvfp4"),
}
"""Names as the logs in `tests/unit/kv/vllm_log_rows.yaml` and their issues give them: row, slope [B/token], weights."""


@cache
def _tables() -> dict[str, str]:
    folder = files("kvplan.catalogue") / "models"
    return {path.name: path.read_text("utf-8") for path in folder.iterdir() if path.name.endswith(".yaml")}


@cache
def _models() -> dict[str, ModelSpec]:
    rows = [row for text in _tables().values() for row in yaml.load(text, yaml.CSafeLoader)]
    return {row["id"]: ModelSpec.model_validate(row) for row in rows}


MODELS = sorted(_models())


@pytest.mark.parametrize("model_id", PUBLISHED)
def test_published_kv_sizes(model_id: str) -> None:
    slope, fixed_mib, context_gib = PUBLISHED[model_id]
    groups = _models()[model_id].groups
    assert slope_bytes_per_token(groups, "bf16") == slope
    assert fixed_bytes(groups, "bf16", "minimal") / 2**20 == pytest.approx(fixed_mib, abs=0.05)
    assert context_bytes(groups, "bf16", CONTEXT_TOKENS) / 2**30 == pytest.approx(context_gib, abs=6e-4)


def test_gpt_oss_120b_weights_are_as_published() -> None:
    """openai/gpt-oss-120b: 65,190,340,224 B, its experts in MXFP4 and the rest in bf16."""
    model = _models()["openai/gpt-oss-120b"]
    assert model.weights_bytes == 65_190_340_224
    assert (model.params_total, model.params_active) == (116_829_156_672, 5_711_982_912)


@pytest.mark.parametrize(
    ("model_id", "total_billion", "active_billion"),
    [
        ("deepseek-ai/DeepSeek-V3", 671.0, 37.55),
        ("moonshotai/Kimi-K2-Instruct", 1026.4, 32.86),
        ("Qwen/Qwen3-235B-A22B", 235.1, 22.19),
        ("MiniMaxAI/MiniMax-M2.7", 228.7, 11.03),
    ],
)
def test_published_parameter_counts(model_id: str, total_billion: float, active_billion: float) -> None:
    """Counts from instantiating the configurations with transformers 5.24.0."""
    model = _models()[model_id]
    assert model.params_total is not None
    assert model.params_active is not None
    assert model.params_total / 1e9 == pytest.approx(total_billion, abs=0.05)
    assert model.params_active / 1e9 == pytest.approx(active_billion, abs=0.005)


def test_at_least_150_models() -> None:
    assert len(MODELS) >= 150


def test_ids_are_unique_and_ordered_within_each_file() -> None:
    ids = {name: [row["id"] for row in yaml.load(text, yaml.CSafeLoader)] for name, text in _tables().items()}
    assert sum(map(len, ids.values())) == len(MODELS)
    for name, listed in ids.items():
        assert listed == sorted(listed, key=str.lower), name


def test_aliases_are_unique_and_no_other_rows_id() -> None:
    aliases = Counter(alias for model in _models().values() for alias in model.aliases)
    assert [alias for alias, times in aliases.items() if times > 1] == []
    assert not set(aliases) & {model_id.lower() for model_id in MODELS}


@pytest.mark.parametrize("short", SHORT_NAMES)
def test_well_known_short_names(short: str) -> None:
    assert [model.id for model in _models().values() if short in model.aliases] == [SHORT_NAMES[short]]


@pytest.mark.parametrize("name", LOGGED_NAMES)
def test_names_of_published_logs_are_found(name: str) -> None:
    model_id, slope, weights_dtype = LOGGED_NAMES[name]
    for spelling in (name, name.lower()):
        model = load_catalogue().model(spelling)
        assert model.id == model_id
    assert slope_bytes_per_token(model.groups, "bf16") == slope
    assert model.weights_dtype == weights_dtype


def test_distilled_qwen_14b() -> None:
    """vllm-project/vllm#13061: 196,608 B/token (98,304 on each of two GPUs), 131,072 tokens; 14.77 B parameters."""
    model = load_catalogue().model("DeepSeek-R1-Distill-Qwen-14B")
    assert (model.max_position_tokens, model.attention_heads, model.confidence) == (131_072, 40, "derived")
    assert round((model.params_total or 0) / 1e9, 2) == 14.77
    assert model.groups == load_catalogue().model("Qwen/Qwen2.5-14B").groups


@pytest.mark.parametrize("model_id", MODELS)
def test_every_row(model_id: str) -> None:
    model = _models()[model_id]
    assert model_id.rpartition("/")[2].lower() in model.aliases
    assert all(alias == alias.lower() and " " not in alias for alias in model.aliases)
    assert model.family
    assert model.source
    assert model.confidence in {"vendor", "derived", "assumed"}
    assert context_bytes(model.groups, "bf16", 4096) > 0
    assert (model.params_total is None) == (model.params_active is None)
    assert (model.params_active or 0) <= (model.params_total or 0)
    if model.weights_dtype:
        assert bytes_per_weight(model.weights_dtype) > 0


@pytest.mark.parametrize("model_id", MODELS)
def test_parameters_and_weights_of_a_row_agree(model_id: str) -> None:
    """Names round and leave vision towers in or embeddings out, hence a quarter; mixed formats cost up to a fifth."""
    model = _models()[model_id]
    named = params_from_name(model_id)
    if named is not None and model.params_total is not None:
        assert model.params_total == pytest.approx(named.total, rel=0.25)
    if model.weights_bytes is not None:
        assert model.params_total is not None
        estimate = weights_bytes(model.params_total, model.weights_dtype or "bf16")
        assert model.weights_bytes == pytest.approx(estimate, rel=0.25)


@pytest.mark.parametrize("model_id", MODELS)
def test_key_heads_divide_the_query_heads(model_id: str) -> None:
    model = _models()[model_id]
    kv_heads = {group.kv_heads for group in model.groups if hasattr(group, "kv_heads")}
    assert all(model.attention_heads % heads == 0 for heads in kv_heads)


def test_no_row_names_a_machine_path() -> None:
    for name, text in _tables().items():
        assert not re.search(r"/(work|tmp|root|home)/", text), name


def test_the_table_parses_fast() -> None:
    """Best of three, so that a busy machine does not decide; the limit is 40 ms on the reference machine."""
    texts = tuple(_tables().values())
    spans = []
    for _ in range(3):
        start = time.perf_counter()
        for text in texts:
            yaml.load(text, yaml.CSafeLoader)
        spans.append(time.perf_counter() - start)
    assert min(spans) < 0.2
