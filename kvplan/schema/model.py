"""A language model as far as its KV cache is concerned: groups of layers that cache alike."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kvplan.schema.base import Record, Sourced

Count = Annotated[int, Field(ge=0, le=10**9)]
Positive = Annotated[int, Field(ge=1, le=10**9)]


class FullAttention(Record):
    """Layers that keep a key and a value of every token (MHA, GQA, MQA)."""

    kind: Literal["full"] = "full"
    layers: Positive
    kv_heads: Positive
    key_dim: Positive
    value_dim: Positive


class SlidingAttention(Record):
    """Layers that keep the last `window_tokens` tokens only."""

    kind: Literal["sliding"] = "sliding"
    layers: Positive
    kv_heads: Positive
    key_dim: Positive
    value_dim: Positive
    window_tokens: Positive


class ChunkedAttention(Record):
    """Layers that keep the tokens of the current chunk only (Llama 4)."""

    kind: Literal["chunked"] = "chunked"
    layers: Positive
    kv_heads: Positive
    key_dim: Positive
    value_dim: Positive
    chunk_tokens: Positive


class LatentAttention(Record):
    """Multi-head latent attention: one compressed vector and one rotary key a token, shared by all heads."""

    kind: Literal["latent"] = "latent"
    layers: Positive
    latent_dim: Positive
    rope_dim: Count


class Indexer(Record):
    """The key that a sparse-attention indexer keeps of every token, beside the layer's own cache."""

    kind: Literal["indexer"] = "indexer"
    layers: Positive
    key_dim: Positive


class CompressedAttention(Record):
    """Layers that keep one compressed entry per `ratio` tokens (DeepSeek-V4 CSA and HCA), key and value in one.

    `index_dim` is the indexer key beside each entry, 0 where the layers have none. The plain window that these
    layers keep too is a group of its own, a `SharedKeyWindow`.
    """

    kind: Literal["compressed"] = "compressed"
    layers: Positive
    ratio: Positive
    entry_dim: Positive
    index_dim: Count = 0


class SharedKeyWindow(Record):
    """A sliding window whose key is also its value: one vector a token (DeepSeek-V4)."""

    kind: Literal["shared-key-window"] = "shared-key-window"
    layers: Positive
    key_dim: Positive
    window_tokens: Positive


class Recurrent(Record):
    """Layers that keep a state of constant size: Mamba, gated DeltaNet, KDA, lightning attention, short convolution.

    `conv_elements` is the convolution state with k - 1 columns, as the engines keep it; `conv_columns` is k - 1, so
    that a rule which keeps k columns can be counted too. `state_bytes_per_element` is 4 where the recurrent state is
    float32 and 2 where it follows the model's dtype; the KV dtype never changes it.
    """

    kind: Literal["recurrent"] = "recurrent"
    layers: Positive
    conv_elements: Count = 0
    conv_columns: Count = 0
    state_elements: Count = 0
    state_bytes_per_element: Literal[2, 4] = 4
    heads: Count = 0


class CrossAttention(Record):
    """Layers that keep keys and values of a source of fixed length (encoder output, image tokens), once a sequence."""

    kind: Literal["cross"] = "cross"
    layers: Positive
    kv_heads: Positive
    key_dim: Positive
    value_dim: Positive
    source_tokens: Count


class SharedCache(Record):
    """Layers that read another layer's cache and keep nothing of their own."""

    kind: Literal["shared"] = "shared"
    layers: Positive


class NoCache(Record):
    """Layers without attention or state: MLP and expert blocks of interleaved models."""

    kind: Literal["none"] = "none"
    layers: Positive


LayerGroup = Annotated[
    FullAttention
    | SlidingAttention
    | ChunkedAttention
    | LatentAttention
    | Indexer
    | CompressedAttention
    | SharedKeyWindow
    | Recurrent
    | CrossAttention
    | SharedCache
    | NoCache,
    Field(discriminator="kind"),
]


class ModelSpec(Sourced):
    """One model: its layer groups and what else sizing asks about it. Sizes in bytes, lengths in tokens."""

    id: str
    aliases: tuple[str, ...] = ()
    family: str = ""
    model_type: str = ""
    attention_heads: Count = 0
    groups: tuple[LayerGroup, ...] = Field(min_length=1)
    max_position_tokens: Positive | None = None
    params_total: int | None = Field(default=None, ge=1)
    params_active: int | None = Field(default=None, ge=1)
    weights_dtype: str = ""
    weights_bytes: int | None = Field(default=None, ge=1)
    mtp_layers: Count = 0
    note: str = ""
