"""What cache back ends write to the tier and read back."""

from __future__ import annotations

from typing import Literal

import pytest

from kvplan.core.kv.external import ExternalSetup, external_accounting
from kvplan.core.kv.terms import slope_bytes_per_token
from kvplan.errors import InputError
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
    SharedKeyWindow,
    SlidingAttention,
)
from kvplan.schema.software import BackendId, CacheBackend, VersionRange
from kvplan.units import GB, GIB

Groups = tuple[LayerGroup, ...]

GPT_OSS_120B: Groups = (
    FullAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64),
    SlidingAttention(layers=18, kv_heads=8, key_dim=64, value_dim=64, window_tokens=128),
)
GEMMA_3_27B: Groups = (
    FullAttention(layers=10, kv_heads=16, key_dim=128, value_dim=128),
    SlidingAttention(layers=52, kv_heads=16, key_dim=128, value_dim=128, window_tokens=1024),
)
LLAMA_4_SCOUT: Groups = (
    FullAttention(layers=12, kv_heads=8, key_dim=128, value_dim=128),
    ChunkedAttention(layers=36, kv_heads=8, key_dim=128, value_dim=128, chunk_tokens=8192),
)
QWEN_35_27B: Groups = (
    FullAttention(layers=16, kv_heads=4, key_dim=256, value_dim=256),
    Recurrent(layers=48, conv_elements=30_720, conv_columns=3, state_elements=786_432),
)
DEEPSEEK_V32: Groups = (LatentAttention(layers=61, latent_dim=512, rope_dim=64), Indexer(layers=61, key_dim=128))
GLM_52: Groups = (LatentAttention(layers=78, latent_dim=512, rope_dim=64), Indexer(layers=21, key_dim=128))
MINIMAX_M3: Groups = (
    FullAttention(layers=60, kv_heads=4, key_dim=128, value_dim=128),
    Indexer(layers=57, key_dim=128),
)
DEEPSEEK_V4_FLASH: Groups = (
    SharedKeyWindow(layers=43, key_dim=512, window_tokens=128),
    CompressedAttention(layers=21, ratio=4, entry_dim=512, index_dim=128),
    CompressedAttention(layers=20, ratio=128, entry_dim=512),
)
WINDOW_BYTES = 4_718_592


def _backend(
    name: BackendId = "vllm-fs",
    *,
    hybrid_manager: bool = True,
    stores_state: bool = True,
    latents: Literal["one", "every-rank"] = "every-rank",
    windows: Literal["all-layers", "prompt-end"] = "prompt-end",
) -> CacheBackend:
    return CacheBackend(
        id=name,
        source="test",
        confidence="assumed",
        dynamo=VersionRange(),
        vllm=VersionRange(),
        released=True,
        shared_between_engines=True,
        survives_restart=True,
        eviction="none",
        needs_cpu_tier=False,
        gpudirect="no",
        hybrid_manager=hybrid_manager,
        stores_recurrent_state=stores_state,
        latent_copies=latents,
        window_storage=windows,
        default_chunk_tokens=256,
    )


def _setup(
    backend: CacheBackend | None = None, *, tp: int = 1, chunk: int = 256, checkpoint: int = 256, hybrid: bool = True
) -> ExternalSetup:
    return ExternalSetup(
        backend=backend or _backend(),
        tp=tp,
        chunk_tokens=chunk,
        checkpoint_tokens=checkpoint,
        hybrid_manager=hybrid,
    )


@pytest.mark.parametrize(
    ("groups", "slope"),
    [(GPT_OSS_120B, 73_728), (GEMMA_3_27B, 507_904), (LLAMA_4_SCOUT, 196_608)],
    ids=["gpt-oss-120b", "gemma-3-27b", "llama-4-scout"],
)
@pytest.mark.parametrize("reason", ["setting", "back end"])
def test_windows_in_full_without_the_hybrid_manager(groups: Groups, slope: int, reason: str) -> None:
    """vLLM 0.33.0 config/vllm.py: with the hybrid manager off, window and chunked layers are promoted to full ones."""
    setup = _setup(_backend(hybrid_manager=reason == "setting"), hybrid=reason != "setting")
    external = external_accounting(groups, "bf16", 131_072, setup)
    assert external.accounting.bytes_per_token == external.loaded_bytes_per_token == slope
    assert external.accounting.fixed_bytes == 0
    assert external.accounting.context_bytes == external.context_loaded_bytes == 131_072 * slope
    assert "in full" in external.notes[0]


@pytest.mark.parametrize("tp", [1, 2, 4, 8])
def test_redbook_825(tp: int) -> None:
    """IBM Redbook MD260021: 100 prompts of 120,000 tokens are "825 GB", which is 824 GiB at 73,728 B/token."""
    setup = _setup(_backend("kvbm-g4", hybrid_manager=False), tp=tp, chunk=16, checkpoint=16, hybrid=False)
    context_bytes = external_accounting(GPT_OSS_120B, "bf16", 120_000, setup).accounting.context_bytes
    assert 100 * context_bytes / GB == pytest.approx(884.736)
    assert 100 * context_bytes / GIB == pytest.approx(823.97, abs=0.005)


def test_windows_at_prompt_ends() -> None:
    """vLLM 0.33 --prefix-cache-retention-interval 0: 36,864 B/token and one window a stored prompt."""
    external = external_accounting(GPT_OSS_120B, "bf16", 131_072, _setup())
    assert external.accounting.name == "external-tier"
    assert external.accounting.bytes_per_token == external.loaded_bytes_per_token == 36_864
    assert external.accounting.fixed_bytes == WINDOW_BYTES
    assert external.accounting.context_bytes == external.context_loaded_bytes == 131_072 * 36_864 + WINDOW_BYTES
    assert "prompt ends" in external.notes[0]


def test_all_layers_written_but_one_window_read() -> None:
    """llm-d/llm-d-kv-cache#476: the file system connector writes all layers; with the hybrid manager reads halve."""
    external = external_accounting(GPT_OSS_120B, "bf16", 131_072, _setup(_backend("llmd-fs", windows="all-layers")))
    assert external.accounting.bytes_per_token == 73_728
    assert external.accounting.fixed_bytes == 0
    assert external.loaded_bytes_per_token == 36_864
    assert external.context_loaded_bytes == 131_072 * 36_864 + WINDOW_BYTES
    assert external.notes == ("llmd-fs writes window layers in full and reads back one window",)


def test_chunked_attention_keeps_the_hybrid_manager_off() -> None:
    """vllm-project/vllm#16118: Llama 4 reserves all 48 layers in full by default."""
    external = external_accounting(LLAMA_4_SCOUT, "bf16", 10_000, _setup())
    assert external.accounting.bytes_per_token == 196_608
    assert external.notes == (
        "window layers are stored and read back in full: vLLM keeps the hybrid manager off for chunked attention",
    )


@pytest.mark.parametrize(("checkpoint", "kb_per_token"), [(256, 667), (1024, 216), (4096, 103)])
def test_recurrent_checkpoints(checkpoint: int, kb_per_token: int) -> None:
    """Qwen3.5-27B, slope 65,536 B/token and 146.8 MiB of state (config.json in ai-dynamo/aiconfigurator@095f58a)."""
    external = external_accounting(QWEN_35_27B, "bf16", 131_072, _setup(checkpoint=checkpoint))
    assert external.accounting.bytes_per_token / 1000 == pytest.approx(kb_per_token, abs=0.5)
    assert external.loaded_bytes_per_token == 65_536
    assert external.context_loaded_bytes == 131_072 * 65_536 + 153_944_064
    stored = 131_072 * 65_536 + 131_072 // checkpoint * 153_944_064
    assert external.accounting.context_bytes == stored
    assert external.accounting.formula[1] == (
        f"48 recurrent layers x (30,720 x 2 B + 786,432 x 4 B) / {checkpoint:,} tokens = "
        f"{153_944_064 / checkpoint:,.0f} B/token"
    )


def test_state_survives_tensor_parallelism_once() -> None:
    stored = [
        external_accounting(QWEN_35_27B, "bf16", 65_536, _setup(tp=tp)).accounting.bytes_per_token for tp in (1, 4)
    ]
    assert stored[0] == stored[1]


def test_notes_on_recurrent_state() -> None:
    """LMCache/LMCache PR#2863: without the state a restored hybrid gives garbled output."""
    backend = _backend("kvbm-disk", hybrid_manager=False, stores_state=False)
    notes = external_accounting(QWEN_35_27B, "bf16", 1000, _setup(backend)).notes
    assert len(notes) == 3
    assert "every 256 tokens" in notes[0]
    assert notes[1].startswith("kvbm-disk is not known to store recurrent state")
    assert "does not start" in notes[2]


def test_layout_of_compressed_layers_is_an_open_point() -> None:
    notes = external_accounting(DEEPSEEK_V4_FLASH, "fp8_ds_mla", 1000, _setup()).notes
    assert "not confirmed" in notes[1]
    assert "compressed" in notes[1]


@pytest.mark.parametrize(("latents", "copies"), [("one", 1), ("every-rank", 8)])
@pytest.mark.parametrize("groups", [DEEPSEEK_V32, DEEPSEEK_V4_FLASH], ids=["v3.2", "v4"])
def test_copies_of_latents(groups: Groups, latents: Literal["one", "every-rank"], copies: int) -> None:
    """LMCache 0.5.6 cache_engine.py saves a latent on rank 0 only; file-per-rank connectors save it on each."""
    backend = _backend(latents=latents)
    single = external_accounting(groups, "bf16", 131_072, _setup(backend))
    external = external_accounting(groups, "bf16", 131_072, _setup(backend, tp=8))
    assert external.accounting.bytes_per_token == copies * single.accounting.bytes_per_token
    assert external.accounting.context_bytes == copies * single.accounting.context_bytes
    assert external.context_loaded_bytes == copies * single.context_loaded_bytes
    assert ("x 8 ranks" in external.accounting.formula[0]) == (copies == 8)
    expected = "one copy is stored" if copies == 1 else "8 copies are stored"
    assert external.notes[-1].endswith(expected)


@pytest.mark.parametrize(
    ("groups", "latents", "indexers"),
    [(DEEPSEEK_V32, 70_272, 61), (GLM_52, 78 * 1_152, 21)],
    ids=["deepseek-v3.2", "glm-5.2"],
)
def test_an_indexer_is_stored_as_the_engine_keeps_it(groups: Groups, latents: int, indexers: int) -> None:
    """vLLM 0.33.0 flashmla_sparse.py: 132 B a token and layer whatever the KV dtype; 78,324 and 92,628 B/token."""
    external = external_accounting(groups, "bf16", 131_072, _setup(_backend(latents="one"), tp=8))
    slope = latents + indexers * 132
    assert slope in {78_324, 92_628}
    assert external.accounting.bytes_per_token == external.loaded_bytes_per_token == slope
    assert external.accounting.context_bytes == external.context_loaded_bytes
    assert external.accounting.context_bytes == pytest.approx(131_072 * slope, rel=2e-4)
    assert external.accounting.formula[1] == f"{indexers} indexer layers x 132 B = {indexers * 132:,} B/token"
    assert slope_bytes_per_token(groups, "bf16") == latents + indexers * 256
    fp8 = external_accounting(groups, "fp8", 131_072, _setup(_backend(latents="one"))).accounting
    assert fp8.bytes_per_token == latents // 2 + indexers * 132


def test_an_indexer_beside_heads_is_left_at_the_kv_dtype_and_noted() -> None:
    """MiniMax-M3: SGLang 0.5.23 counts one K-only head, 14,592 B/token; how vLLM keeps it is not confirmed."""
    external = external_accounting(MINIMAX_M3, "bf16", 131_072, _setup())
    assert external.accounting.bytes_per_token == 122_880 + 14_592
    assert "indexer key beside layers with heads is not confirmed" in external.notes[0]
    assert external_accounting(DEEPSEEK_V32, "bf16", 131_072, _setup()).notes == ()


def test_kv_heads_replicate_beyond_their_number() -> None:
    external = external_accounting(GPT_OSS_120B, "bf16", 65_536, _setup(tp=16, hybrid=False))
    assert external.accounting.bytes_per_token == 2 * 73_728
    assert external.accounting.formula[0] == (
        "18 full layers x 16 heads (8 on 16 ranks) x (64 + 64) x 2 B = 73,728 B/token"
    )
    assert external.notes[-1] == "8 KV heads on 16 ranks: 2 copies are stored"
    assert external.accounting.scope == "everything that the 16 ranks of one engine write"


def test_heads_that_do_not_divide_are_named() -> None:
    external = external_accounting(GPT_OSS_120B, "bf16", 65_536, _setup(tp=3, hybrid=False))
    assert external.accounting.bytes_per_token == 9 * 73_728 / 8
    assert external.notes[-1] == "8 KV heads do not divide over 3 ranks: vLLM refuses this TP"


def test_plain_model_needs_no_note() -> None:
    groups: Groups = (FullAttention(layers=80, kv_heads=8, key_dim=128, value_dim=128), NoCache(layers=1))
    external = external_accounting(groups, "bf16", 1000, _setup(tp=4))
    assert external.notes == ()
    assert external.accounting.formula[0] == "80 full layers x 8 KV heads x (128 + 128) x 2 B = 327,680 B/token"
    assert external.accounting.context_bytes == 1024 * 327_680


def test_cross_attention_is_stored_once() -> None:
    """Llama 3.2 Vision: 8 of 40 layers (MllamaTextConfig of transformers 5.24.0); 1,601 image tokens."""
    groups: Groups = (
        FullAttention(layers=32, kv_heads=8, key_dim=128, value_dim=128),
        CrossAttention(layers=8, kv_heads=8, key_dim=128, value_dim=128, source_tokens=1601),
    )
    external = external_accounting(groups, "bf16", 256, _setup())
    assert external.accounting.bytes_per_token == 131_072
    assert external.accounting.fixed_bytes == 8 * 4096 * 1601
    assert external.accounting.context_bytes == 256 * 131_072 + 8 * 4096 * 1601


def test_contexts_round_up_to_chunks_and_files_to_their_unit() -> None:
    tiny: Groups = (FullAttention(layers=1, kv_heads=2, key_dim=16, value_dim=16),)
    accountings = [external_accounting(tiny, "bf16", n, _setup(tp=2, chunk=16)).accounting for n in (1, 16, 17)]
    assert [accounting.bytes_per_token for accounting in accountings] == [128] * 3
    assert [accounting.context_bytes for accounting in accountings] == [2 * 4096, 2 * 4096, 4 * 4096]
    assert "whole chunks of 16 tokens" in accountings[0].rule
    assert "4,096 B" in accountings[0].rule


def test_short_context_stores_the_window_it_has() -> None:
    external = external_accounting(GPT_OSS_120B, "bf16", 64, _setup(chunk=64))
    assert external.accounting.context_bytes == 64 * 73_728


@pytest.mark.parametrize("tp", [1, 16, 64])
@pytest.mark.parametrize("groups", [GPT_OSS_120B, GEMMA_3_27B, LLAMA_4_SCOUT, QWEN_35_27B, DEEPSEEK_V4_FLASH])
def test_formula_lines_fit_and_are_ascii(groups: Groups, tp: int) -> None:
    for line in external_accounting(groups, "bf16", 1000, _setup(tp=tp, checkpoint=4096)).accounting.formula:
        assert len(line) <= 100
        assert line.isascii()


def test_all_wrong_sizes_are_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        _setup(tp=0, chunk=-1, checkpoint=0)
    assert [problem.key for problem in caught.value.problems] == ["tp", "chunk_tokens", "checkpoint_tokens"]
