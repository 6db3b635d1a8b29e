"""Weights of a layer's parts, as products of the model's dimensions. Biases are left out: far below a percent."""

from __future__ import annotations


def gqa_params(hidden: int, heads: int, kv_heads: int, key_dim: int, value_dim: int, *, gated: bool = False) -> int:
    """Count the projections of an attention layer with grouped queries.

    `h (g H d_k + K d_k + K d_v) + H d_v h`, g = 2 with an output gate, else 1

    Parameters
    ----------
    hidden
        Width h of the residual stream [1].
    heads
        Query heads H [1].
    kv_heads
        Key and value heads K [1].
    key_dim
        Width of a query and key head [1].
    value_dim
        Width of a value head [1].
    gated
        Whether the query projection also yields an output gate (Qwen3-Next, Qwen3.5).

    Returns
    -------
    int
        Parameters of the layer [1].

    Notes
    -----
    Without biases, sinks and head norms.

    Examples
    --------
    Llama-3.1-8B, one layer:

    >>> gqa_params(4096, 32, 8, 128, 128)
    41943040

    References
    ----------
    transformers 5.24.0, models/llama/modeling_llama.py and models/qwen3_next/modeling_qwen3_next.py;
    GQA: Ainslie et al., 2023 (arXiv:2305.13245).
    """
    query = (2 if gated else 1) * heads * key_dim
    return hidden * (query + kv_heads * (key_dim + value_dim)) + heads * value_dim * hidden


def mla_params(
    hidden: int, heads: int, *, q_rank: int, kv_rank: int, nope_dim: int, rope_dim: int, value_dim: int
) -> int:
    """Count the projections of multi-head latent attention.

    `Q + h (r_kv + d_r) + r_kv H (d_n + d_v) + H d_v h`, where `Q = h r_q + r_q H (d_n + d_r)`, or
    `h H (d_n + d_r)` with an uncompressed query.

    Parameters
    ----------
    hidden
        Width h of the residual stream [1].
    heads
        Heads H [1].
    q_rank
        Rank of the query's compression, 0 where the query is not compressed [1].
    kv_rank
        Rank of the latent [1].
    nope_dim
        Part of a query and key head without rotary position [1].
    rope_dim
        Part of a query and key head with rotary position [1].
    value_dim
        Width of a value head [1].

    Returns
    -------
    int
        Parameters of the layer [1].

    Notes
    -----
    Without the two norms of the latents.

    Examples
    --------
    DeepSeek-V3, one layer:

    >>> mla_params(7168, 128, q_rank=1536, kv_rank=512, nope_dim=128, rope_dim=64, value_dim=128)
    187105280

    References
    ----------
    DeepSeek-V2 (arXiv:2405.04434), section 2.1; transformers 5.24.0, models/deepseek_v3/modeling_deepseek_v3.py.
    """
    query_width = heads * (nope_dim + rope_dim)
    query = hidden * q_rank + q_rank * query_width if q_rank else hidden * query_width
    latent = hidden * (kv_rank + rope_dim) + kv_rank * heads * (nope_dim + value_dim)
    return query + latent + heads * value_dim * hidden


def indexer_params(hidden: int, query_width: int, heads: int, key_dim: int) -> int:
    """Count the sparse-attention indexer of DeepSeek-V3.2 and GLM-5.

    `w_q H_i d_i + h d_i + h H_i`

    Parameters
    ----------
    hidden
        Width h of the residual stream [1].
    query_width
        Width of what the indexer's queries are made from: the query's rank, or `hidden` [1].
    heads
        Indexer heads [1].
    key_dim
        Width of the indexer key [1].

    Returns
    -------
    int
        Parameters of one indexer [1].

    Notes
    -----
    Only layers that own an indexer count one.

    Examples
    --------
    DeepSeek-V3.2, one layer:

    >>> indexer_params(7168, 1536, 64, 128)
    13959168

    References
    ----------
    transformers 5.24.0, models/glm_moe_dsa/modeling_glm_moe_dsa.py, class GlmMoeDsaIndexer.
    """
    return query_width * heads * key_dim + hidden * key_dim + hidden * heads


def mamba2_params(hidden: int, heads: int, head_dim: int, *, groups: int, state: int, kernel: int) -> int:
    """Count a Mamba-2 mixer.

    `h (2 d + 2 G N + H) + k (d + 2 G N) + d h`, `d = H d_h`

    Parameters
    ----------
    hidden
        Width h of the residual stream [1].
    heads
        Mamba heads H [1].
    head_dim
        Width of a head [1].
    groups
        Groups G that share B and C [1].
    state
        State size N [1].
    kernel
        Length k of the convolution [1].

    Returns
    -------
    int
        Parameters of the mixer [1].

    Notes
    -----
    Without the per-head A, D and time-step bias and the gated norm.

    Examples
    --------
    Nemotron-3-Nano-30B-A3B, one mixer:

    >>> mamba2_params(2688, 64, 64, groups=8, state=128, kernel=4)
    38731776

    References
    ----------
    Mamba-2: Dao and Gu, 2024 (arXiv:2405.21060); transformers 5.24.0, models/nemotron_h/modeling_nemotron_h.py.
    """
    inner = heads * head_dim
    mixed = inner + 2 * groups * state
    return hidden * (inner + mixed + heads) + kernel * mixed + inner * hidden


def gated_deltanet_params(
    hidden: int, *, key_heads: int, key_dim: int, value_heads: int, value_dim: int, kernel: int
) -> int:
    """Count a gated DeltaNet mixer.

    `h (2 K + 2 V + 2 H_v) + k (2 K + V) + V h`, `K = H_k d_k`, `V = H_v d_v`

    Parameters
    ----------
    hidden
        Width h of the residual stream [1].
    key_heads
        Key heads [1].
    key_dim
        Width of a key head [1].
    value_heads
        Value heads [1].
    value_dim
        Width of a value head [1].
    kernel
        Length of the convolution [1].

    Returns
    -------
    int
        Parameters of the mixer [1].

    Notes
    -----
    Without the per-head decay and the gated norm.

    Examples
    --------
    Qwen3.5-27B, one mixer:

    >>> gated_deltanet_params(5120, key_heads=16, key_dim=128, value_heads=48, value_dim=128, kernel=4)
    115875840

    References
    ----------
    Gated Delta Networks: Yang et al., 2024 (arXiv:2412.06464); transformers 5.24.0,
    models/qwen3_5_moe/modeling_qwen3_5_moe.py, class Qwen3_5MoeGatedDeltaNet.
    """
    keys, values = key_heads * key_dim, value_heads * value_dim
    return hidden * (2 * keys + 2 * values + 2 * value_heads) + kernel * (2 * keys + values) + values * hidden


def kimi_delta_params(hidden: int, heads: int, head_dim: int, *, kernel: int) -> int:
    """Count a Kimi delta attention (KDA) mixer.

    `4 h W + 2 (h d + d W) + h H + 3 k W`, `W = H d`

    Parameters
    ----------
    hidden
        Width h of the residual stream [1].
    heads
        Heads H [1].
    head_dim
        Width d of a head, also the rank of the two gates [1].
    kernel
        Length of the convolution [1].

    Returns
    -------
    int
        Parameters of the mixer [1].

    Notes
    -----
    Without the decay parameters and the gated norm.

    Examples
    --------
    Kimi-Linear-48B-A3B, one mixer:

    >>> kimi_delta_params(2304, 32, 128, kernel=4)
    39510016

    References
    ----------
    Kimi Linear (arXiv:2510.26692); transformers 5.24.0, models/kimi_linear/modeling_kimi_linear.py.
    """
    width = heads * head_dim
    return 4 * hidden * width + 2 * (hidden * head_dim + head_dim * width) + hidden * heads + 3 * kernel * width


def mlp_params(hidden: int, width: int, *, matrices: int) -> int:
    """Count a feed-forward block, or one expert.

    `m h w`

    Parameters
    ----------
    hidden
        Width h of what goes in and comes out [1].
    width
        Width w inside [1].
    matrices
        3 for a gated block (SwiGLU and kin), 2 for a plain one [1].

    Returns
    -------
    int
        Parameters of the block [1].

    Notes
    -----
    Without biases.

    Examples
    --------
    Llama-3.1-8B, one layer:

    >>> mlp_params(4096, 14336, matrices=3)
    176160768

    References
    ----------
    GLU variants: Shazeer, 2020 (arXiv:2002.05202); transformers 5.24.0, models/llama/modeling_llama.py.
    """
    return matrices * hidden * width
