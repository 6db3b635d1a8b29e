"""Slope, fixed part and exact bytes of real models, against their published configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvplan.core.kv.formula import formula_lines, layer_factors
from kvplan.core.kv.terms import context_bytes, fixed_bytes, layer_term, slope_bytes_per_token
from kvplan.schema.model import (
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    Indexer,
    LatentAttention,
    LayerGroup,
    NoCache,
    Recurrent,
    SharedCache,
    SharedKeyWindow,
    SlidingAttention,
)
from kvplan.units import GIB

if TYPE_CHECKING:
    from kvplan.schema.request import KvDtype

Groups = tuple[LayerGroup, ...]


def _full(layers: int, heads: int, dim: int, value_dim: int | None = None) -> FullAttention:
    return FullAttention(layers=layers, kv_heads=heads, key_dim=dim, value_dim=value_dim or dim)


def _sliding(layers: int, heads: int, dims: tuple[int, int], window: int) -> SlidingAttention:
    return SlidingAttention(layers=layers, kv_heads=heads, key_dim=dims[0], value_dim=dims[1], window_tokens=window)


def _mla(layers: int) -> LatentAttention:
    return LatentAttention(layers=layers, latent_dim=512, rope_dim=64)


def _state(layers: int, conv: int, state: int) -> Recurrent:
    return Recurrent(layers=layers, conv_elements=conv, conv_columns=3, state_elements=state)


def _v4(layers: int, csa: int, hca: int) -> Groups:
    return (
        SharedKeyWindow(layers=layers, key_dim=512, window_tokens=128),
        CompressedAttention(layers=csa, ratio=4, entry_dim=512, index_dim=128),
        CompressedAttention(layers=hca, ratio=128, entry_dim=512),
    )


GPT_OSS_120B: Groups = (_full(18, 8, 64), _sliding(18, 8, (64, 64), 128))
LLAMA_4_SCOUT: Groups = (
    _full(12, 8, 128),
    ChunkedAttention(layers=36, kv_heads=8, key_dim=128, value_dim=128, chunk_tokens=8192),
)

# Dimensions: config.json copies in ai-dynamo/aiconfigurator@095f58a model_configs, unless noted.
PUBLISHED: dict[str, tuple[Groups, float, int]] = {
    "openai/gpt-oss-120b": (GPT_OSS_120B, 36_864, 4_718_592),
    "openai/gpt-oss-20b": ((_full(12, 8, 64), _sliding(12, 8, (64, 64), 128)), 24_576, 3_145_728),
    "meta-llama/Meta-Llama-3.1-8B": ((_full(32, 8, 128),), 131_072, 0),
    "meta-llama/Meta-Llama-3.1-70B": ((_full(80, 8, 128),), 327_680, 0),
    "meta-llama/Meta-Llama-3.1-405B": ((_full(126, 8, 128),), 516_096, 0),
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": (LLAMA_4_SCOUT, 49_152, 1_207_959_552),
    "deepseek-ai/DeepSeek-V3": ((_mla(61),), 70_272, 0),
    "deepseek-ai/DeepSeek-V3.2": ((_mla(61), Indexer(layers=61, key_dim=128)), 85_888, 0),
    "zai-org/GLM-5.2": ((_mla(78), Indexer(layers=21, key_dim=128)), 95_232, 0),
    "MiniMaxAI/MiniMax-M3": ((_full(60, 4, 128), Indexer(layers=57, key_dim=128)), 137_472, 0),
    "deepseek-ai/DeepSeek-V4-Flash": (_v4(43, 21, 20), 6_880, 5_636_096),
    "deepseek-ai/DeepSeek-V4-Pro": (_v4(61, 30, 31), 9_848, 7_995_392),
    "Qwen/Qwen3.5-27B": ((_full(16, 4, 256), _state(48, 30_720, 786_432)), 65_536, 153_944_064),
    "moonshotai/Kimi-K3": ((_mla(24), _state(69, 110_592, 1_572_864)), 27_648, 449_372_160),
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": (
        (_full(6, 2, 128), _state(23, 18_432, 524_288), NoCache(layers=23)),
        6_144,
        49_082_368,
    ),
    "XiaomiMiMo/MiMo-V2-Flash": (
        (_full(9, 4, 192, 128), _sliding(39, 8, (192, 128), 128)),
        23_040,
        25_559_040,
    ),
    # 7 MLA and 20 KDA layers: the log in vllm-project/vllm#28228
    "moonshotai/Kimi-Linear-48B-A3B-Instruct": ((_mla(7), _state(20, 36_864, 524_288)), 8_064, 43_417_600),
    # Lightning-AI/litgpt@2685705 litgpt/config.py
    "google/gemma-3-27b-it": ((_full(10, 16, 128), _sliding(52, 16, (128, 128), 1024)), 81_920, 436_207_616),
    # kvcache-ai/kvcache-blog@9753288 data/kv_cache_calculator/models.yaml
    "google/gemma-4-31B": ((_full(10, 4, 512), _sliding(50, 16, (256, 256), 1024)), 81_920, 838_860_800),
}


@pytest.mark.parametrize(("groups", "slope", "fixed"), PUBLISHED.values(), ids=PUBLISHED.keys())
def test_published_slope_and_fixed_part(groups: Groups, slope: float, fixed: int) -> None:
    assert slope_bytes_per_token(groups, "bf16") == slope
    assert fixed_bytes(groups, "bf16") == fixed


@pytest.mark.parametrize(
    ("model", "gib"),
    [
        ("meta-llama/Meta-Llama-3.1-8B", 16.0),
        ("openai/gpt-oss-120b", 4.504),
        ("deepseek-ai/DeepSeek-V4-Flash", 0.845),
        ("google/gemma-3-27b-it", 10.406),
        ("Qwen/Qwen3.5-27B", 8.143),
        ("moonshotai/Kimi-K3", 3.794),
    ],
)
def test_size_at_131072_tokens(model: str, gib: float) -> None:
    assert context_bytes(PUBLISHED[model][0], "bf16", 131_072) / GIB == pytest.approx(gib, abs=5e-4)


@pytest.mark.parametrize(("model", "slope"), [("Flash", 3_850), ("Pro", 5_511)])
def test_deepseek_v4_in_its_own_fp8_layout(model: str, slope: float) -> None:
    """Full-attention file bytes a token from calculator.js of ModelEngine-Group/unified-cache-management @2234175."""
    groups = PUBLISHED[f"deepseek-ai/DeepSeek-V4-{model}"][0]
    assert slope_bytes_per_token(groups, "fp8_ds_mla") == pytest.approx(slope, abs=0.5)


def test_fp8_gains_little_on_a_short_hybrid() -> None:
    """vllm-project/vllm#55196 reports 1.84x at 32K tokens and none at short context for a hybrid of this kind."""
    groups = PUBLISHED["Qwen/Qwen3.5-27B"][0]
    gains = [context_bytes(groups, "bf16", n) / context_bytes(groups, "fp8", n) for n in (64, 32_768)]
    assert gains[0] < 1.02
    assert gains[1] == pytest.approx(1.87, abs=0.04)


def test_rules_differ_by_one_token_and_one_column() -> None:
    window = _sliding(1, 1, (16, 16), 20)
    assert [context_bytes([window], "bf16", 64, rule) for rule in ("minimal", "transformers")] == [20 * 64, 19 * 64]
    conv = Recurrent(layers=1, conv_elements=192, conv_columns=2)
    assert [fixed_bytes([conv], "bf16", rule) for rule in ("minimal", "transformers")] == [384, 576]


def test_conv_elements_without_columns_stay() -> None:
    assert fixed_bytes([Recurrent(layers=1, conv_elements=10)], "bf16", "transformers") == 20


def test_overlap_is_part_of_the_fixed_bytes() -> None:
    term = layer_term(CompressedAttention(layers=2, ratio=4, entry_dim=64, index_dim=16), "bf16", "transformers")
    assert term.fixed_bytes == 2 * 8 * 80 * 2
    assert [term.context_bytes(n) for n in (0, 3, 4)] == [0, 3 * 1280, 320 + 2560]


def test_cross_attention_counts_once() -> None:
    """Llama 3.2 Vision: 8 of 40 layers hold image tokens only (MllamaTextConfig of transformers 5.24.0)."""
    cross = CrossAttention(layers=8, kv_heads=8, key_dim=128, value_dim=128, source_tokens=1601)
    groups = (_full(32, 8, 128), cross)
    assert slope_bytes_per_token(groups, "bf16") == 131_072
    assert fixed_bytes(groups, "bf16") == 8 * 4096 * 1601


def test_formula_of_gpt_oss() -> None:
    assert formula_lines(GPT_OSS_120B, "bf16") == (
        "18 full layers x 8 KV heads x (64 + 64) x 2 B = 36,864 B/token",
        "18 sliding layers x 8 KV heads x (64 + 64) x 2 B x min(n, 128) = 4,718,592 B",
    )


@pytest.mark.parametrize(
    ("group", "line"),
    [
        (_mla(61), "61 latent layers x (512 + 64) x 1 B = 35,136 B/token"),
        (Indexer(layers=61, key_dim=128), "61 indexer layers x 132 B = 8,052 B/token"),
        (_v4(43, 21, 20)[0], "43 shared-key-window layers x 512 x 1 B x min(n, 128) = 2,818,048 B"),
        (_v4(43, 21, 20)[1], "21 compressed layers x (512 + 132) B / 4 = 3,381 B/token"),
        (_v4(43, 21, 20)[2], "20 compressed layers x 512 x 1 B / 128 = 80 B/token"),
        (
            _state(48, 30_720, 786_432),
            "48 recurrent layers x (30,720 x 2 B + 786,432 x 4 B) = 153,944,064 B",
        ),
        (
            CrossAttention(layers=1, kv_heads=8, key_dim=128, value_dim=128, source_tokens=1601),
            "1 cross layer x 8 KV heads x (128 + 128) x 1 B x 1,601 tokens = 3,278,848 B",
        ),
        (SharedCache(layers=15), "15 shared layers x 0 B = 0 B/token"),
        (NoCache(layers=23), "23 none layers x 0 B = 0 B/token"),
    ],
)
def test_formula_lines_at_fp8(group: LayerGroup, line: str) -> None:
    assert formula_lines([group], "fp8") == (line,)


@pytest.mark.parametrize(
    ("group", "dtype", "line"),
    [
        (_v4(43, 21, 20)[1], "bf16", "21 compressed layers x (512 + 128) x 2 B"),
        (_mla(61), "fp8_ds_mla", "61 latent layers x 656 B"),
        (_full(18, 8, 64), "int4", "18 full layers x 8 KV heads x (36 + 36) B"),
        (_full(18, 8, 64), "nvfp4", "18 full layers x 8 KV heads x (36 + 36) B"),
    ],
)
def test_factors_show_scales_and_layouts(group: LayerGroup, dtype: KvDtype, line: str) -> None:
    assert layer_factors(group, dtype) == line


def test_formula_under_the_transformers_rule_shows_what_it_adds() -> None:
    csa = CompressedAttention(layers=2, ratio=4, entry_dim=64, index_dim=16)
    hca = CompressedAttention(layers=1, ratio=128, entry_dim=64)
    conv = Recurrent(layers=3, conv_elements=192, conv_columns=2)
    assert formula_lines([csa, hca, conv], "bf16", "transformers") == (
        "2 compressed layers x (64 + 16) x 2 B / 4 = 80 B/token + 2,560 B + 1,280 B x (n mod 4)",
        "1 compressed layer x 64 x 2 B / 128 = 1 B/token + 256 B x (n mod 128)",
        "3 recurrent layers x (288 x 2 B + 0 x 4 B) = 1,728 B",
    )


@pytest.mark.parametrize("groups", [groups for groups, _, _ in PUBLISHED.values()], ids=PUBLISHED.keys())
def test_formula_lines_fit_and_are_ascii(groups: Groups) -> None:
    for line in formula_lines(groups, "bf16"):
        assert len(line) <= 100
        assert line.isascii()
