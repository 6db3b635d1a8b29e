"""What attention and recurrent layers compute while a prompt is taken in, group of layers by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from kvplan.schema.model import (
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    Indexer,
    LatentAttention,
    NoCache,
    Recurrent,
    SharedCache,
    SharedKeyWindow,
    SlidingAttention,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.schema.base import Constant
    from kvplan.schema.model import LayerGroup, ModelSpec

_Attending = (
    FullAttention
    | SlidingAttention
    | ChunkedAttention
    | CrossAttention
    | LatentAttention
    | CompressedAttention
    | SharedKeyWindow
)


@dataclass(frozen=True, slots=True)
class AttentionWork:
    """Work of all layers on a prompt of n tokens: `per_square` n^2 + `per_token` n [FLOP]."""

    per_square: float
    per_token: float


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the sums need beside a group: query heads, and the constants that the groups do not tell."""

    heads: int
    softmax_width: float
    latent_head_dim: float
    index_heads: float
    top_tokens: float


def attention_work(spec: ModelSpec, constants: Mapping[str, Constant]) -> AttentionWork | None:
    r"""Return what the layers of a model compute on a prompt, beside the products with its weights.

    .. math:: W(n) = \sum_g 2 H l_g (d_k + d_v + x) \, p_g(n)

    Parameters
    ----------
    spec
        The model: H query heads [1], groups of l layers [1] with keys and values of d_k and d_v elements [1].
    constants
        The catalogue's constants; x [1] is `prefill.softmax_width`.

    Returns
    -------
    AttentionWork or None
        Floating-point operations [FLOP/token^2] and [FLOP/token]; None where the number of query heads is not known.

    Notes
    -----
    The pairs p(n) of a query and a key are n^2/2 in full layers, n W in a sliding window of W, n C/2 in chunks of C,
    n S towards S source tokens, n^2/2r where r tokens are compressed to one entry. Prompts shorter than a window are
    overcounted by less than the window's own small share.

    - Latent attention takes a prompt in with whole heads: d_k = 128 + rotary part, d_v = 128.
    - An indexer scores every pair with its own heads and leaves 2,048 tokens to attend to: n^2/2 cheap pairs, and n K.
      All latent layers of such a model are sparse, of full layers as many as have an indexer. Sparse latent layers work
      on the compressed vectors: d_k = latent + rotary part, d_v = latent.
    - Recurrent layers cost a constant number of operations for each element of their state and token.
    - Layers that share another layer's cache attend all the same, each like the mean of the others.

    References
    ----------
    Two operations for each multiply-add of Q K^T and P V, the causal half of them, as FlashAttention counts too
    (arXiv:2205.14135).

    Examples
    --------
    gpt-oss-120b with the softmax not counted: 147,456 FLOP/token^2 in its 18 full layers.

    >>> import kvplan
    >>> tables = kvplan.load_catalogue()
    >>> plain = tables.constants()
    >>> plain["prefill.softmax_width"] = plain["prefill.softmax_width"].model_copy(update={"value": 0.0})
    >>> attention_work(tables.model("gpt-oss-120b"), plain)
    AttentionWork(per_square=147456.0, per_token=37748736.0)
    """
    shape = _Shape(
        heads=spec.attention_heads,
        softmax_width=constants["prefill.softmax_width"].value,
        latent_head_dim=constants["prefill.latent_head_dim"].value,
        index_heads=constants["prefill.index_heads"].value,
        top_tokens=constants["prefill.index_top_tokens"].value,
    )
    parts = list(_attending_layers(spec))
    if parts and not spec.attention_heads:
        return None
    per_square = per_token = 0.0
    for group, layers, sparse in parts:
        square, token = _pairs(group, shape, sparse=sparse)
        cost = 2 * layers * shape.heads * (_columns(group, shape, sparse=sparse) + shape.softmax_width)
        per_square, per_token = per_square + cost * square, per_token + cost * token
    repeated = _repeats(spec, sum(layers for _, layers, _ in parts))
    return AttentionWork(
        repeated * per_square + sum(_index_flops(group, shape) for group in spec.groups),
        repeated * per_token + _state_elements(spec) * constants["prefill.recurrent_flops_per_element"].value,
    )


def depth(spec: ModelSpec) -> int:
    """Return how many layers a model has, companions of a layer such as its indexer not counted.

    Parameters
    ----------
    spec
        The model.

    Returns
    -------
    int
        Layers [1].

    Notes
    -----
    Where a model alternates mixers and MLPs as blocks of their own (Nemotron-H), each block counts as a layer.

    References
    ----------
    The groups of the catalogue: an indexer, and the window beside compressed attention, are parts of a layer.

    Examples
    --------
    >>> import kvplan
    >>> [depth(kvplan.load_catalogue().model(name)) for name in ("gpt-oss-120b", "DeepSeek-V3.2", "DeepSeek-V4-Flash")]
    [36, 61, 43]
    """
    windows = sum(group.layers for group in spec.groups if isinstance(group, SharedKeyWindow))
    own = sum(group.layers for group in spec.groups if not isinstance(group, Indexer | SharedKeyWindow))
    return max(own, windows)


def _attending_layers(spec: ModelSpec) -> Iterator[tuple[_Attending, int, bool]]:
    """List the groups that attend, how many of their layers, and whether an indexer picks what they attend to."""
    indexed = sum(group.layers for group in spec.groups if isinstance(group, Indexer))
    latent = any(isinstance(group, LatentAttention) for group in spec.groups)
    for group in spec.groups:
        match group:
            case LatentAttention():
                yield group, group.layers, indexed > 0
            case FullAttention() if indexed and not latent:
                yield group, min(indexed, group.layers), True
                yield group, group.layers - min(indexed, group.layers), False
            case CompressedAttention():
                yield group, group.layers, group.index_dim > 0
            case FullAttention() | SlidingAttention() | ChunkedAttention() | CrossAttention() | SharedKeyWindow():
                yield group, group.layers, False
            case Indexer() | Recurrent() | SharedCache() | NoCache():
                continue
            case _:
                assert_never(group)


def _pairs(group: _Attending, shape: _Shape, *, sparse: bool) -> tuple[float, float]:
    """Return the pairs of a query and a key, as factors of n^2 and of n."""
    if sparse:
        return 0.0, shape.top_tokens
    match group:
        case SlidingAttention() | SharedKeyWindow():
            return 0.0, group.window_tokens
        case ChunkedAttention():
            return 0.0, group.chunk_tokens / 2
        case CrossAttention():
            return 0.0, group.source_tokens
        case CompressedAttention():
            return 1 / (2 * group.ratio), 0.0
        case _:
            return 1 / 2, 0.0


def _columns(group: _Attending, shape: _Shape, *, sparse: bool) -> float:
    """Return how many elements of key and value a pair costs a multiply-add each, for one head."""
    match group:
        case LatentAttention() if sparse:
            return 2 * group.latent_dim + group.rope_dim
        case LatentAttention():
            return 2 * shape.latent_head_dim + group.rope_dim
        case CompressedAttention():
            return 2 * group.entry_dim
        case SharedKeyWindow():
            return 2 * group.key_dim
        case _:
            return group.key_dim + group.value_dim


def _index_flops(group: LayerGroup, shape: _Shape) -> float:
    """Return what the indexers of a group compute [FLOP/token^2]: keys only, and no softmax."""
    match group:
        case Indexer():
            return group.layers * shape.index_heads * group.key_dim
        case CompressedAttention():
            return group.layers * shape.index_heads * group.index_dim / group.ratio
        case _:
            return 0.0


def _state_elements(spec: ModelSpec) -> int:
    """Return the elements of all recurrent states."""
    return sum(group.layers * group.state_elements for group in spec.groups if isinstance(group, Recurrent))


def _repeats(spec: ModelSpec, attending: int) -> float:
    """Return by what the work grows because layers without a cache of their own attend too."""
    sharing = sum(group.layers for group in spec.groups if isinstance(group, SharedCache))
    return 1 + sharing / attending if attending else 1.0
