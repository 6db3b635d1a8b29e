"""How many bytes one layer keeps of one cached token, by KV dtype; and the state of recurrent layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.core.arithmetic import ceil_div
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
    from collections.abc import Iterable

    from kvplan.schema.model import LayerGroup
    from kvplan.schema.request import KvDtype

HeadedAttention = FullAttention | SlidingAttention | ChunkedAttention | CrossAttention
"""The kinds that keep a key and a value vector for every KV head, and so divide by head over the ranks."""


@dataclass(frozen=True, slots=True)
class VectorFormat:
    """How a KV dtype lays out one cached vector: element width, and the scales stored with it.

    `scale_bytes` is the scale of a whole vector, `scale_block` the elements that share a 1-byte scale (0 for none).
    """

    element_bits: int
    scale_bytes: int = 0
    scale_block: int = 0

    @property
    def plain(self) -> bool:
        """Whether the vector is nothing but whole-byte elements."""
        return not self.scale_bytes and not self.scale_block


_FP8 = VectorFormat(element_bits=8)
VECTOR_FORMATS: dict[KvDtype, VectorFormat] = {
    "bf16": VectorFormat(element_bits=16),
    "fp16": VectorFormat(element_bits=16),
    "fp8": _FP8,
    "int8": VectorFormat(element_bits=8, scale_bytes=4),
    "int4": VectorFormat(element_bits=4, scale_bytes=4),
    "nvfp4": VectorFormat(element_bits=4, scale_block=16),
    "fp8_ds_mla": _FP8,
}
"""One row a KV dtype; `fp8_ds_mla` names a layout of DeepSeek's latent layers and is fp8 everywhere else."""

_DS_MLA = "fp8_ds_mla"
_DS_MLA_LATENT_DIMS, _DS_MLA_LATENT_BYTES = (512, 64), 656
_DS_MLA_ENTRY_DIM, _DS_MLA_ENTRY_BYTES = 512, 584
_SIXTEEN_BIT: tuple[KvDtype, ...] = ("bf16", "fp16")
_INDEX_SCALE_BYTES = 4
CONV_BYTES_PER_ELEMENT = 2


def vector_bytes(dim: int, dtype: KvDtype) -> int:
    """Return the bytes of one cached vector: elements and scales.

    bytes = ceil(dim x element_bits / 8) + scale_bytes + ceil(dim / scale_block)

    Parameters
    ----------
    dim
        Length of the vector [1].
    dtype
        KV dtype.

    Returns
    -------
    int
        Bytes of the vector [B].

    Notes
    -----
    fp8 is the per-tensor form without a scale per token; int8 and int4 are the per-token-head forms with one float32
    scale a vector. The layouts of `fp8_ds_mla` are whole entries, not vectors: see `token_bytes`.

    References
    ----------
    vLLM 0.33.0 `torch_utils.py` (fp8), `triton_attn.py` (per token-head scales), `v1/kv_cache_interface.py` (nvfp4:
    hd/2 + hd/16).

    Examples
    --------
    >>> [vector_bytes(128, dtype) for dtype in ("bf16", "fp8", "int8", "int4", "nvfp4")]
    [256, 128, 132, 68, 72]
    """
    layout = VECTOR_FORMATS[dtype]
    blocks = ceil_div(dim, layout.scale_block) if layout.scale_block else 0
    return ceil_div(dim * layout.element_bits, 8) + layout.scale_bytes + blocks


def index_bytes(dim: int, dtype: KvDtype) -> int:
    """Return the bytes of one sparse-attention indexer key.

    bytes = 2 x dim with a 16-bit KV dtype, otherwise dim + 4 (fp8 with one float32 scale); 0 where there is no key.

    Parameters
    ----------
    dim
        Length of the indexer key [1].
    dtype
        KV dtype.

    Returns
    -------
    int
        Bytes of the key [B].

    Notes
    -----
    With a 16-bit dtype this is the width of the reference implementation. vLLM and SGLang keep the key at dim + 4
    whatever the KV dtype is: see `engine_dtype`.

    References
    ----------
    vLLM 0.33.0 and SGLang 0.5.23 (`srt/model_executor/pool_configurator.py`): 132 B/token/layer for 128 dimensions;
    transformers 5.24.0 keeps 16 bits.

    Examples
    --------
    >>> index_bytes(128, "bf16"), index_bytes(128, "fp8"), index_bytes(0, "fp8")
    (256, 132, 0)
    """
    if not dim:
        return 0
    return vector_bytes(dim, dtype) if dtype in _SIXTEEN_BIT else dim + _INDEX_SCALE_BYTES


def engine_dtype(group: LayerGroup, groups: Iterable[LayerGroup], dtype: KvDtype) -> KvDtype:
    """Return the dtype in which vLLM keeps a layer group, whose pages a KV connector copies as they are.

    dtype = fp8 for an indexer beside latent layers (dim + 4 bytes a key), otherwise the KV dtype

    Parameters
    ----------
    group
        The layer group.
    groups
        All layer groups of the model.
    dtype
        KV dtype.

    Returns
    -------
    str
        KV dtype of the group's cache [1].

    Notes
    -----
    An indexer beside layers with heads (MiniMax-M3) is left at the KV dtype: how vLLM keeps it is not confirmed.

    References
    ----------
    vLLM 0.33.0 `flashmla_sparse.py` and SGLang 0.5.23 `srt/model_executor/pool_configurator.py`: 132 B a token and
    layer for 128 dimensions.

    Examples
    --------
    DeepSeek-V3.2, one layer's latent and its indexer key:

    >>> groups = (LatentAttention(layers=61, latent_dim=512, rope_dim=64), Indexer(layers=61, key_dim=128))
    >>> [token_bytes(group, engine_dtype(group, groups, "bf16")) for group in groups]
    [1152, 132]
    """
    beside_latent = any(isinstance(other, LatentAttention) for other in groups)
    return "fp8" if isinstance(group, Indexer) and beside_latent else dtype


def token_bytes(group: LayerGroup, dtype: KvDtype, *, kv_heads: int | None = None) -> int:
    """Return the bytes that one layer of a group keeps per cached token.

    bytes = kv_heads x (bytes(K) + bytes(V)) for attention by heads; one vector for a latent, an indexer key, a
    shared-key window; entry and indexer key per entry (not per token) for compressed layers; 0 for layers whose cache
    does not grow with the tokens.

    Parameters
    ----------
    group
        The layer group.
    dtype
        KV dtype.
    kv_heads
        KV heads to count instead of the group's own, for one rank of a tensor-parallel engine [1]; without effect on
        kinds that have no heads to divide.

    Returns
    -------
    int
        Bytes per cached token, or per cached entry of compressed layers [B].

    Notes
    -----
    `fp8_ds_mla` is 656 B on latent layers of 512 + 64 dimensions (DeepSeek-V3.2) and 584 B on entries of 512
    dimensions (DeepSeek-V4); other shapes count as fp8. Alignment that an engine adds to its pages is not included.

    References
    ----------
    vLLM 0.33.0 `v1/kv_cache_interface.py` and `flashmla_sparse.py` (656 and 584 B);
    spark-arena/sparkrun PR#247 gives the same two.

    Examples
    --------
    >>> token_bytes(FullAttention(layers=36, kv_heads=8, key_dim=64, value_dim=64), "bf16")
    2048
    >>> [token_bytes(LatentAttention(layers=61, latent_dim=512, rope_dim=64), d) for d in ("bf16", "fp8_ds_mla")]
    [1152, 656]
    """
    match group:
        case FullAttention() | SlidingAttention() | ChunkedAttention() | CrossAttention():
            heads = group.kv_heads if kv_heads is None else kv_heads
            return heads * (vector_bytes(group.key_dim, dtype) + vector_bytes(group.value_dim, dtype))
        case LatentAttention():
            return _latent_bytes(group, dtype)
        case Indexer():
            return index_bytes(group.key_dim, dtype)
        case CompressedAttention():
            return _entry_bytes(group.entry_dim, dtype) + index_bytes(group.index_dim, dtype)
        case SharedKeyWindow():
            return _entry_bytes(group.key_dim, dtype)
        case Recurrent() | SharedCache() | NoCache():
            return 0


def state_bytes(group: Recurrent) -> int:
    """Return the bytes of the constant state of one recurrent layer.

    bytes = conv_elements x 2 + state_elements x state_bytes_per_element

    Parameters
    ----------
    group
        The recurrent layer group.

    Returns
    -------
    int
        Bytes of one layer's state for one sequence [B].

    Notes
    -----
    The KV dtype never changes it. k - 1 convolution columns are counted, as the engines keep them; speculative
    decoding adds columns that are not counted.

    References
    ----------
    transformers 5.24.0 (recurrent state in float32, measured); vLLM 0.33.0 `v1/kv_cache_interface.py`;
    vllm-project/vllm#55196 (no gain from fp8).

    Examples
    --------
    Qwen3.5-27B, one of 48 gated DeltaNet layers:

    >>> state_bytes(Recurrent(layers=48, conv_elements=30_720, conv_columns=3, state_elements=786_432))
    3207168
    """
    return group.conv_elements * CONV_BYTES_PER_ELEMENT + group.state_elements * group.state_bytes_per_element


def _latent_bytes(group: LatentAttention, dtype: KvDtype) -> int:
    """Latent and rotary key as one vector, or DeepSeek's own 656 B layout."""
    if dtype == _DS_MLA and (group.latent_dim, group.rope_dim) == _DS_MLA_LATENT_DIMS:
        return _DS_MLA_LATENT_BYTES
    return vector_bytes(group.latent_dim + group.rope_dim, dtype)


def _entry_bytes(dim: int, dtype: KvDtype) -> int:
    """One vector that is key and value at once, or DeepSeek-V4's own 584 B layout."""
    if dtype == _DS_MLA and dim == _DS_MLA_ENTRY_DIM:
        return _DS_MLA_ENTRY_BYTES
    return vector_bytes(dim, dtype)
