"""What must hold of vLLM's accounting and log prediction for every model."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kvplan.core.kv.vllm import VllmSetup, vllm_accounting
from kvplan.core.kv.vllm_groups import vllm_pool
from kvplan.core.kv.vllm_log import estimated_max_length, needed_bytes, predict_log
from kvplan.schema.model import FullAttention, LatentAttention, LayerGroup, Recurrent, SlidingAttention

Groups = tuple[LayerGroup, ...]

layers = st.integers(1, 100)
tokens = st.integers(1, 2_000_000)
free_bytes = st.integers(0, 2**40)
versions = st.sampled_from(["0.10.0", "0.14.1", "0.20.0", "0.33.0"])
full = st.builds(
    FullAttention,
    layers=layers,
    kv_heads=st.sampled_from([1, 2, 8, 16]),
    key_dim=st.sampled_from([64, 128, 256]),
    value_dim=st.sampled_from([64, 128]),
)
latent = st.builds(LatentAttention, layers=layers, latent_dim=st.just(512), rope_dim=st.just(64))
recurrent = st.builds(
    Recurrent,
    layers=layers,
    conv_elements=st.integers(0, 10_000).map(lambda column: 3 * column),
    conv_columns=st.just(3),
    state_elements=st.integers(1, 1_000_000),
)
setups = st.builds(
    VllmSetup,
    version=versions,
    tp=st.sampled_from([1, 2, 4, 8, 16]),
    block_tokens=st.sampled_from([16, 32, 64]),
    max_batched_tokens=st.integers(1, 65_536),
    prefix_caching=st.booleans(),
    speculative_tokens=st.integers(0, 5),
)


@st.composite
def models(draw: st.DrawFn) -> Groups:
    """Full or latent layers, alone, with windows of the same heads, or with states."""
    main = draw(full | latent)
    beside = draw(st.sampled_from(["nothing", "windows", "states"]))
    if beside == "states":
        return (main, draw(recurrent))
    if beside == "nothing" or not isinstance(main, FullAttention):
        return (main,)
    dims = main.model_dump(exclude={"kind", "layers"})
    return (main, SlidingAttention(layers=draw(layers), window_tokens=draw(st.integers(1, 8192)), **dims))


@given(models(), setups, tokens, tokens)
def test_more_context_never_takes_less(groups: Groups, setup: VllmSetup, some: int, more: int) -> None:
    shorter, longer = (vllm_accounting(groups, "bf16", n, setup).context_bytes for n in sorted((some, more)))
    assert shorter <= longer


@given(models(), setups, tokens)
def test_long_contexts_are_slope_and_fixed_part(groups: Groups, setup: VllmSetup, length: int) -> None:
    """Once windows are full, whole blocks take exactly the slope and the fixed part."""
    blocks = [share.spec.block_tokens for share in vllm_pool(groups, "bf16", setup).shares]
    n = (length + 100_000) * max(blocks)
    accounting = vllm_accounting(groups, "bf16", n, setup)
    assert accounting.context_bytes == accounting.bytes_per_token * n + accounting.fixed_bytes


@given(models(), setups, tokens)
def test_more_ranks_never_take_more_each_of_attention(groups: Groups, setup: VllmSetup, length: int) -> None:
    attention = tuple(group for group in groups if not isinstance(group, Recurrent))
    alone = VllmSetup(setup.version, block_tokens=setup.block_tokens, max_batched_tokens=setup.max_batched_tokens)
    shared = VllmSetup(
        setup.version, setup.tp, block_tokens=setup.block_tokens, max_batched_tokens=setup.max_batched_tokens
    )
    sizes = [vllm_accounting(attention, "bf16", length, each).context_bytes for each in (shared, alone)]
    assert sizes[0] <= sizes[1] <= sizes[0] * setup.tp


@given(models(), setups, free_bytes, tokens)
def test_the_pool_fills_the_memory(groups: Groups, setup: VllmSetup, available: int, length: int) -> None:
    log = predict_log(groups, "bf16", available, length, setup)
    block_bytes = vllm_pool(groups, "bf16", setup).block_bytes
    assert log.blocks * block_bytes <= available < (log.blocks + 1) * block_bytes
    assert log == predict_log(groups, "bf16", available, length, setup)


@given(models(), setups, free_bytes, free_bytes, tokens)
def test_more_memory_never_prints_less(groups: Groups, setup: VllmSetup, some: int, more: int, length: int) -> None:
    small, large = (predict_log(groups, "bf16", available, length, setup) for available in sorted((some, more)))
    assert small.tokens <= large.tokens
    assert small.max_concurrency <= large.max_concurrency


@given(models(), setups, tokens)
def test_needed_memory_holds_one_request(groups: Groups, setup: VllmSetup, length: int) -> None:
    """The memory needed gives a concurrency of one, the length fits in it, and not in a byte less."""
    needed = needed_bytes(groups, "bf16", length, setup)
    assert needed == vllm_accounting(groups, "bf16", length, setup).context_bytes
    assert predict_log(groups, "bf16", needed, length, setup).max_concurrency == 1
    assert estimated_max_length(groups, "bf16", needed, length, setup) == length
    assert estimated_max_length(groups, "bf16", needed - 1, length, setup) < length
