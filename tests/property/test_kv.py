"""Invariants of KV-cache bytes over random models."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from kvplan.core.kv.external import ExternalSetup, external_accounting
from kvplan.core.kv.minimal import minimal_accounting
from kvplan.core.kv.rules import RULES
from kvplan.core.kv.terms import context_bytes, fixed_bytes, slope_bytes_per_token
from kvplan.core.kv.widths import engine_dtype, state_bytes
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
from kvplan.schema.request import KvDtype
from kvplan.schema.software import CacheBackend, VersionRange

if TYPE_CHECKING:
    from kvplan.core.kv.rules import RuleName

_LAYERS = st.integers(1, 100)
_HEADS = st.sampled_from([1, 2, 4, 8, 16])
_DIMS = st.integers(1, 512)
_WINDOWS = st.integers(2, 8192)
_TOKENS = st.integers(1, 200_000)
_DTYPES: st.SearchStrategy[KvDtype] = st.sampled_from(get_args(KvDtype))
_RULES: st.SearchStrategy[RuleName] = st.sampled_from(sorted(RULES))

_FULL = st.builds(FullAttention, layers=_LAYERS, kv_heads=_HEADS, key_dim=_DIMS, value_dim=_DIMS)
_SLIDING = st.builds(
    SlidingAttention, layers=_LAYERS, kv_heads=_HEADS, key_dim=_DIMS, value_dim=_DIMS, window_tokens=_WINDOWS
)
_CHUNKED = st.builds(
    ChunkedAttention, layers=_LAYERS, kv_heads=_HEADS, key_dim=_DIMS, value_dim=_DIMS, chunk_tokens=_WINDOWS
)
_LATENT = st.builds(LatentAttention, layers=_LAYERS, latent_dim=_DIMS, rope_dim=st.sampled_from([0, 64]))
_SHARED_KEY = st.builds(SharedKeyWindow, layers=_LAYERS, key_dim=_DIMS, window_tokens=_WINDOWS)
_ATTENTION = st.one_of(_FULL, _SLIDING, _CHUNKED, _LATENT, _SHARED_KEY)
_RECURRENT = st.builds(
    Recurrent,
    layers=_LAYERS,
    conv_elements=st.integers(0, 10_000).map(lambda channels: 3 * channels),
    conv_columns=st.just(3),
    state_elements=st.integers(0, 10**6),
    state_bytes_per_element=st.sampled_from([2, 4]),
)
_ANY = st.one_of(
    _ATTENTION,
    _RECURRENT,
    st.builds(Indexer, layers=_LAYERS, key_dim=_DIMS),
    st.builds(
        CompressedAttention,
        layers=_LAYERS,
        ratio=st.sampled_from([4, 128]),
        entry_dim=_DIMS,
        index_dim=st.sampled_from([0, 128]),
    ),
    st.builds(
        CrossAttention,
        layers=_LAYERS,
        kv_heads=_HEADS,
        key_dim=_DIMS,
        value_dim=_DIMS,
        source_tokens=st.integers(0, 2000),
    ),
    st.builds(SharedCache, layers=_LAYERS),
    st.builds(NoCache, layers=_LAYERS),
)
_MODELS: st.SearchStrategy[list[LayerGroup]] = st.lists(_ANY, min_size=1, max_size=4)
_ATTENTION_MODELS: st.SearchStrategy[list[LayerGroup]] = st.lists(_ATTENTION, min_size=1, max_size=4)

_BACKENDS = st.builds(
    CacheBackend,
    id=st.just("vllm-fs"),
    source=st.just("test"),
    confidence=st.just("assumed"),
    dynamo=st.just(VersionRange()),
    vllm=st.just(VersionRange()),
    released=st.just(value=True),
    shared_between_engines=st.just(value=True),
    survives_restart=st.just(value=True),
    eviction=st.just("none"),
    needs_cpu_tier=st.just(value=False),
    gpudirect=st.just("no"),
    hybrid_manager=st.booleans(),
    stores_recurrent_state=st.booleans(),
    latent_copies=st.sampled_from(["one", "every-rank"]),
    window_storage=st.sampled_from(["all-layers", "prompt-end"]),
    default_chunk_tokens=st.just(256),
)
_CHUNKS = st.sampled_from([16, 256, 1024])
_SETUPS = st.builds(
    ExternalSetup,
    backend=_BACKENDS,
    tp=st.sampled_from([1, 2, 4, 8, 16, 32]),
    chunk_tokens=_CHUNKS,
    checkpoint_tokens=st.sampled_from([256, 1024, 4096]),
    hybrid_manager=st.booleans(),
)


def _doubled(groups: list[LayerGroup]) -> list[LayerGroup]:
    return [group.model_copy(update={"layers": 2 * group.layers}) for group in groups]


@settings(max_examples=60)
@given(_MODELS, _DTYPES, _TOKENS, _TOKENS)
def test_more_tokens_never_need_fewer_bytes(groups: list[LayerGroup], dtype: KvDtype, first: int, second: int) -> None:
    fewer, more = sorted((first, second))
    assert context_bytes(groups, dtype, fewer) <= context_bytes(groups, dtype, more)


@settings(max_examples=60)
@given(_MODELS, _DTYPES, _TOKENS, _RULES)
def test_doubling_the_layers_doubles_the_bytes(
    groups: list[LayerGroup], dtype: KvDtype, tokens: int, rule: RuleName
) -> None:
    assert context_bytes(_doubled(groups), dtype, tokens, rule) == 2 * context_bytes(groups, dtype, tokens, rule)
    assert fixed_bytes(_doubled(groups), dtype, rule) == 2 * fixed_bytes(groups, dtype, rule)
    assert slope_bytes_per_token(_doubled(groups), dtype) == 2 * slope_bytes_per_token(groups, dtype)


@settings(max_examples=60)
@given(_MODELS, _DTYPES, st.integers(64, 1500))
def test_long_contexts_are_slope_and_fixed_part(groups: list[LayerGroup], dtype: KvDtype, entries: int) -> None:
    tokens = 128 * entries
    expected = slope_bytes_per_token(groups, dtype) * tokens + fixed_bytes(groups, dtype)
    assert context_bytes(groups, dtype, tokens) == expected


@settings(max_examples=60)
@given(_ATTENTION_MODELS, _TOKENS, _RULES)
def test_fp8_halves_attention_exactly(groups: list[LayerGroup], tokens: int, rule: RuleName) -> None:
    assert 2 * context_bytes(groups, "fp8", tokens, rule) == context_bytes(groups, "bf16", tokens, rule)


@settings(max_examples=60)
@given(_RECURRENT, _DTYPES, _TOKENS)
def test_state_knows_neither_dtype_nor_length(group: Recurrent, dtype: KvDtype, tokens: int) -> None:
    assert context_bytes([group], dtype, tokens) == group.layers * state_bytes(group)


@settings(max_examples=60)
@given(_MODELS, _DTYPES, _TOKENS, _SETUPS)
def test_tier_never_holds_less_than_the_engine_keeps(
    groups: list[LayerGroup], dtype: KvDtype, tokens: int, setup: ExternalSetup
) -> None:
    external = external_accounting(groups, dtype, tokens, setup)
    # The engine's width, not the architecture's: an indexer beside latents is kept in fp8 at any KV dtype.
    kept = [minimal_accounting([group], engine_dtype(group, groups, dtype), tokens) for group in groups]
    needed_bytes = sum(part.context_bytes for part in kept)
    assert external.accounting.context_bytes >= needed_bytes
    assert external.context_loaded_bytes >= needed_bytes
    assert external.accounting.bytes_per_token >= sum(part.bytes_per_token for part in kept) * (1 - 1e-12)
    assert external.loaded_bytes_per_token <= external.accounting.bytes_per_token


@settings(max_examples=60)
@given(_MODELS, _DTYPES, _TOKENS, _SETUPS)
def test_tensor_parallelism_never_stores_less(
    groups: list[LayerGroup], dtype: KvDtype, tokens: int, setup: ExternalSetup
) -> None:
    single = ExternalSetup(setup.backend, 1, setup.chunk_tokens, setup.checkpoint_tokens, setup.hybrid_manager)
    alone = external_accounting(groups, dtype, tokens, single).accounting
    ranks = external_accounting(groups, dtype, tokens, setup).accounting
    assert ranks.bytes_per_token >= alone.bytes_per_token
    assert ranks.fixed_bytes >= alone.fixed_bytes


@settings(max_examples=60)
@given(_MODELS, _DTYPES, _TOKENS, _TOKENS, _SETUPS)
def test_longer_contexts_never_store_or_load_less(
    groups: list[LayerGroup], dtype: KvDtype, first: int, second: int, setup: ExternalSetup
) -> None:
    fewer, more = (external_accounting(groups, dtype, tokens, setup) for tokens in sorted((first, second)))
    assert fewer.accounting.context_bytes <= more.accounting.context_bytes
    assert fewer.context_loaded_bytes <= more.context_loaded_bytes
