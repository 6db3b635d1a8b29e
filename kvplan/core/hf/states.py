"""The constant state of recurrent layers: how many elements each kind keeps, whatever the length of the context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from kvplan.schema.model import Recurrent

if TYPE_CHECKING:
    from kvplan.core.hf.keys import Fields

StateBytes = Literal[2, 4]

_STATE_DTYPES: dict[str, StateBytes] = {"float32": 4, "bfloat16": 2, "float16": 2}
_STATE_DTYPE_KEYS = ("mamba_ssm_cache_dtype", "mamba_ssm_dtype")


def state_bytes_per_element(fields: Fields) -> StateBytes:
    """Return the width of the recurrent state that the file names, else float32.

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    int
        4 for float32, 2 for a 16-bit state [B].

    Notes
    -----
    transformers keeps the state in float32 for Mamba, gated DeltaNet and KDA; vLLM does so where the file asks for
    it, and for NemotronH and Qwen3.5, and uses the model's dtype for Jamba and Granite.

    References
    ----------
    transformers 5.24.0, measured on CPU; vLLM 0.33.0 `model_executor/models/config.py`.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> [state_bytes_per_element(Fields({"mamba_ssm_cache_dtype": name})) for name in ("float32", "bfloat16", None)]
    [4, 2, 4]
    """
    for key in _STATE_DTYPE_KEYS:
        name = fields.word(key).removeprefix("torch.")
        if name in _STATE_DTYPES:
            return _STATE_DTYPES[name]
        if name not in ("", "auto"):
            fields.problem(key, f"{name[:40]!r} is not known", allowed=f"auto, {', '.join(_STATE_DTYPES)}")
    return 4


def mamba1_state(
    layers: int, *, inner_dim: int, state_dim: int, kernel: int, state_bytes: StateBytes = 4
) -> tuple[Recurrent]:
    """Return Mamba-1 layers.

    conv = d_in x (k - 1); state = d_in x N

    Parameters
    ----------
    layers
        Number of layers [1].
    inner_dim
        d_in, the width inside the block [1].
    state_dim
        N, state per channel [1].
    kernel
        k, convolution width [1].
    state_bytes
        Width of the state [B].

    Returns
    -------
    tuple of Recurrent
        The layers, with the elements of one [1].

    Notes
    -----
    The engines keep k - 1 columns of convolution input, transformers keeps k.

    References
    ----------
    transformers 5.24.0 `modeling_jamba.py`; Gu and Dao, "Mamba".

    Examples
    --------
    Jamba v0.1:

    >>> state = mamba1_state(28, inner_dim=8192, state_dim=16, kernel=4)[0]
    >>> state.conv_elements, state.state_elements
    (24576, 131072)
    """
    columns = kernel - 1
    return (
        Recurrent(
            layers=layers,
            conv_elements=inner_dim * columns,
            conv_columns=columns,
            state_elements=inner_dim * state_dim,
            state_bytes_per_element=state_bytes,
        ),
    )


def mamba2_state(
    layers: int, *, heads: int, inner_dim: int, groups: int, state_dim: int, kernel: int, state_bytes: StateBytes = 4
) -> tuple[Recurrent]:
    """Return Mamba-2 layers.

    conv = (d_in + 2 x G x N) x (k - 1); state = d_in x N, with d_in = heads x head dimension

    Parameters
    ----------
    layers
        Number of layers [1].
    heads
        Heads of the state [1].
    inner_dim
        d_in, the width inside the block [1].
    groups
        G, groups that share B and C [1].
    state_dim
        N, state per channel [1].
    kernel
        k, convolution width [1].
    state_bytes
        Width of the state [B].

    Returns
    -------
    tuple of Recurrent
        The layers, with the elements of one [1].

    Notes
    -----
    The engines keep k - 1 columns of convolution input, transformers keeps k.

    References
    ----------
    transformers 5.24.0 `modeling_mamba2.py`; Dao and Gu, "Transformers are SSMs".

    Examples
    --------
    Nemotron-3-Nano:

    >>> state = mamba2_state(23, heads=64, inner_dim=4096, groups=8, state_dim=128, kernel=4)[0]
    >>> state.conv_elements, state.state_elements
    (18432, 524288)
    """
    columns = kernel - 1
    return (
        Recurrent(
            layers=layers,
            conv_elements=(inner_dim + 2 * groups * state_dim) * columns,
            conv_columns=columns,
            state_elements=inner_dim * state_dim,
            state_bytes_per_element=state_bytes,
            heads=heads,
        ),
    )


def delta_net_state(
    layers: int,
    *,
    key_heads: int,
    key_dim: int,
    value_heads: int,
    value_dim: int,
    kernel: int,
    state_bytes: StateBytes = 4,
) -> tuple[Recurrent]:
    """Return gated DeltaNet layers.

    conv = (2 x kh x kd + vh x vd) x (k - 1); state = vh x vd x kd

    Parameters
    ----------
    layers
        Number of layers [1].
    key_heads
        kh [1].
    key_dim
        kd [1].
    value_heads
        vh [1].
    value_dim
        vd [1].
    kernel
        k, convolution width [1].
    state_bytes
        Width of the state [B].

    Returns
    -------
    tuple of Recurrent
        The layers, with the elements of one [1].

    Notes
    -----
    The engines keep k - 1 columns of convolution input, transformers keeps k.

    References
    ----------
    transformers 5.24.0 `modeling_qwen3_next.py`; Yang et al., "Gated Delta Networks".

    Examples
    --------
    Qwen3.5-27B:

    >>> state = delta_net_state(48, key_heads=16, key_dim=128, value_heads=48, value_dim=128, kernel=4)[0]
    >>> state.conv_elements, state.state_elements
    (30720, 786432)
    """
    columns = kernel - 1
    return (
        Recurrent(
            layers=layers,
            conv_elements=(2 * key_heads * key_dim + value_heads * value_dim) * columns,
            conv_columns=columns,
            state_elements=value_heads * value_dim * key_dim,
            state_bytes_per_element=state_bytes,
            heads=value_heads,
        ),
    )


def kda_state(layers: int, *, heads: int, head_dim: int, kernel: int) -> tuple[Recurrent]:
    """Return Kimi delta attention layers.

    conv = 3 x H x D x (k - 1); state = H x D^2, in float32

    Parameters
    ----------
    layers
        Number of layers [1].
    heads
        H [1].
    head_dim
        D [1].
    kernel
        k, convolution width [1].

    Returns
    -------
    tuple of Recurrent
        The layers, with the state of one [elements].

    Notes
    -----
    Queries, keys and values have a convolution each.

    References
    ----------
    transformers 5.24.0 `modeling_kimi_linear.py`; vllm-project/vllm#28228.

    Examples
    --------
    Kimi-Linear-48B:

    >>> state = kda_state(20, heads=32, head_dim=128, kernel=4)[0]
    >>> state.conv_elements, state.state_elements
    (36864, 524288)
    """
    return delta_net_state(
        layers, key_heads=heads, key_dim=head_dim, value_heads=heads, value_dim=head_dim, kernel=kernel
    )


def lightning_state(layers: int, *, heads: int, head_dim: int) -> tuple[Recurrent]:
    """Return lightning attention layers.

    state = H x D^2, in the model's dtype

    Parameters
    ----------
    layers
        Number of layers [1].
    heads
        H [1].
    head_dim
        D [1].

    Returns
    -------
    tuple of Recurrent
        The layers, with the state of one [elements].

    Notes
    -----
    There is no convolution; the state follows the model's dtype, counted at 16 bits.

    References
    ----------
    transformers 5.24.0 `modeling_minimax.py`, measured on CPU.

    Examples
    --------
    >>> lightning_state(70, heads=64, head_dim=128)[0].state_elements
    1048576
    """
    elements = heads * head_dim * head_dim
    return (Recurrent(layers=layers, state_elements=elements, state_bytes_per_element=2, heads=heads),)


def short_conv_state(layers: int, *, hidden: int, kernel: int) -> tuple[Recurrent]:
    """Return short convolution layers.

    conv = hidden x (k - 1)

    Parameters
    ----------
    layers
        Number of layers [1].
    hidden
        Width of the residual stream [1].
    kernel
        k, convolution width, `conv_L_cache` [1].

    Returns
    -------
    tuple of Recurrent
        The layers, with the state of one [elements].

    Notes
    -----
    The engines keep k - 1 columns, transformers keeps k.

    References
    ----------
    transformers 5.24.0 `modeling_lfm2.py`.

    Examples
    --------
    >>> short_conv_state(10, hidden=2048, kernel=3)[0].conv_elements
    4096
    """
    columns = kernel - 1
    return (Recurrent(layers=layers, conv_elements=hidden * columns, conv_columns=columns),)
