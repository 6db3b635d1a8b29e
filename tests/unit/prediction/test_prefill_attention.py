"""What each kind of layer computes on a prompt, worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvplan.catalogue.loader import load_catalogue
from kvplan.core.prediction.prefill_attention import attention_work, depth
from kvplan.schema.model import (
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    Indexer,
    LatentAttention,
    ModelSpec,
    NoCache,
    Recurrent,
    SharedCache,
    SharedKeyWindow,
    SlidingAttention,
)

if TYPE_CHECKING:
    from kvplan.schema.model import LayerGroup

CATALOGUE = load_catalogue()
CONSTANTS = CATALOGUE.constants() | {
    name: CATALOGUE.constant(name).model_copy(update={"value": value})
    for name, value in {
        "prefill.softmax_width": 10.0,
        "prefill.latent_head_dim": 128.0,
        "prefill.index_heads": 64.0,
        "prefill.index_top_tokens": 2048.0,
        "prefill.recurrent_flops_per_element": 4.0,
    }.items()
}
FULL = FullAttention(layers=2, kv_heads=1, key_dim=64, value_dim=32)
LATENT = LatentAttention(layers=3, latent_dim=512, rope_dim=64)
# Eight query heads; a full layer pair costs 2 x 8 x (64 + 32 + 10) = 1,696 FLOP.
PAIR = 1_696


def work(*groups: LayerGroup, heads: int = 8) -> tuple[float, float]:
    spec = ModelSpec(id="m", attention_heads=heads, groups=groups, source="test", confidence="assumed")
    found = attention_work(spec, CONSTANTS)
    assert found is not None
    return found.per_square, found.per_token


@pytest.mark.parametrize(
    ("group", "per_square", "per_token"),
    [
        (FULL, 2 * PAIR / 2, 0),
        (SlidingAttention(layers=2, kv_heads=1, key_dim=64, value_dim=32, window_tokens=128), 0, 2 * PAIR * 128),
        (ChunkedAttention(layers=2, kv_heads=1, key_dim=64, value_dim=32, chunk_tokens=8192), 0, 2 * PAIR * 4096),
        (CrossAttention(layers=2, kv_heads=1, key_dim=64, value_dim=32, source_tokens=100), 0, 2 * PAIR * 100),
        (LATENT, 3 * 8 * (128 + 64 + 128 + 10), 0),
        (SharedKeyWindow(layers=2, key_dim=512, window_tokens=128), 0, 2 * 2 * 8 * (1024 + 10) * 128),
        (CompressedAttention(layers=2, ratio=128, entry_dim=512), 2 * 8 * (1024 + 10) / 128, 0),
        (
            CompressedAttention(layers=2, ratio=4, entry_dim=512, index_dim=128),
            2 * 64 * 128 / 4,
            2 * 2 * 8 * (1024 + 10) * 2048,
        ),
        (Recurrent(layers=2, state_elements=1000), 0, 2 * 1000 * 4),
        (NoCache(layers=2), 0, 0),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_each_kind_of_layer(group: LayerGroup, per_square: float, per_token: float) -> None:
    assert work(group) == pytest.approx((per_square, per_token))


def test_groups_add_up() -> None:
    assert work(FULL, LATENT) == pytest.approx((PAIR + 3 * 8 * 330, 0))


def test_an_indexer_makes_latent_layers_sparse() -> None:
    """Cheap scores of every pair, and attention to 2,048 tokens on the compressed vectors."""
    square, token = work(LATENT, Indexer(layers=1, key_dim=128))
    assert square == 1 * 64 * 128
    assert token == 3 * 2 * 8 * (2 * 512 + 64 + 10) * 2048


def test_an_indexer_makes_as_many_full_layers_sparse() -> None:
    square, token = work(FULL, Indexer(layers=1, key_dim=128))
    assert square == PAIR / 2 + 64 * 128
    assert token == PAIR * 2048


def test_layers_that_share_a_cache_attend_like_the_others() -> None:
    assert work(FULL, SharedCache(layers=2))[0] == 2 * work(FULL)[0]
    assert work(NoCache(layers=1), SharedCache(layers=2)) == (0, 0)


def test_without_query_heads_nothing_is_known_but_of_states() -> None:
    spec = ModelSpec(id="m", groups=(FULL,), source="test", confidence="assumed")
    assert attention_work(spec, CONSTANTS) is None
    assert work(Recurrent(layers=1, state_elements=10), heads=0) == (0, 40)


def test_every_model_of_the_catalogue_has_a_treatment() -> None:
    """Only models whose query heads nobody has published are left out."""
    specs = [CATALOGUE.model(name) for name in CATALOGUE.ids("models")]
    unknown = {spec.id for spec in specs if attention_work(spec, CONSTANTS) is None}
    assert unknown == {spec.id for spec in specs if not spec.attention_heads}
    assert all(depth(spec) > 0 for spec in specs)
