"""Mamba models, alone or between attention layers: Jamba, NemotronH, Granite 4, Bamba, Falcon-H1, Zamba2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.hf.heads import HeadDims, head_dims
from kvplan.core.hf.keys import HEADS, HIDDEN, KV_HEADS, MAX_KERNEL, MAX_LAYERS
from kvplan.core.hf.patterns import LETTERS, absent_pattern, build_groups, fitted, full_where, layer_count, listed_kinds
from kvplan.core.hf.states import mamba1_state, mamba2_state, state_bytes_per_element
from kvplan.schema.model import NoCache

if TYPE_CHECKING:
    from kvplan.core.hf.keys import Fields
    from kvplan.core.hf.patterns import LayerKind
    from kvplan.schema.model import LayerGroup

_ZAMBA2_WIDTH = 2
"""Zamba2's attention works on the hidden state and the embedding side by side."""


def read_mamba1(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read a pure Mamba-1 model.

    elements a layer = d_in x (k - 1) + d_in x N, with d_in = expand x hidden

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Recurrent layers. Dimensions in [elements].

    Notes
    -----
    `intermediate_size`, where given, is d_in.

    References
    ----------
    transformers 5.24.0 MambaConfig and FalconMambaConfig.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 64, "hidden_size": 4096, "expand": 2, "state_size": 16, "conv_kernel": 4}
    >>> read_mamba1(Fields(config))[0].state_elements
    131072
    """
    inner_dim = fields.optional_count("intermediate_size", "d_inner")
    return mamba1_state(
        layer_count(fields),
        inner_dim=fields.count("expand") * fields.count(*HIDDEN) if inner_dim is None else inner_dim,
        state_dim=fields.count("state_size"),
        kernel=fields.count("conv_kernel", maximum=MAX_KERNEL),
        state_bytes=state_bytes_per_element(fields),
    )


def read_mamba2(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read a pure Mamba-2 model.

    elements a layer = (d_in + 2 x G x N) x (k - 1) + d_in x N, with d_in = heads x head_dim

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Recurrent layers. Dimensions in [elements].

    Notes
    -----
    `num_heads` and `head_dim` are those of the state here, not of an attention.

    References
    ----------
    transformers 5.24.0 Mamba2Config.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 64, "num_heads": 128, "head_dim": 64, "n_groups": 8, "state_size": 128,
    ...           "conv_kernel": 4}
    >>> read_mamba2(Fields(config))[0].conv_elements
    30720
    """
    heads = fields.count("num_heads")
    return mamba2_state(
        layer_count(fields),
        heads=heads,
        inner_dim=heads * fields.count("head_dim"),
        groups=fields.count("n_groups"),
        state_dim=fields.count("state_size"),
        kernel=fields.count("conv_kernel", maximum=MAX_KERNEL),
        state_bytes=state_bytes_per_element(fields),
    )


def read_jamba(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Jamba: one attention layer in every period, Mamba-1 in between.

    kind(i) = full where i mod attn_layer_period = attn_layer_offset

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Recurrent layers and full attention. Dimensions in [elements].

    Notes
    -----
    The experts have a period of their own, which does not matter here.

    References
    ----------
    transformers 5.24.0 JambaConfig (docstring checkpoint ai21labs/Jamba-v0.1).

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
    ...           "attn_layer_period": 8, "attn_layer_offset": 4, "mamba_expand": 2, "mamba_d_state": 16,
    ...           "mamba_d_conv": 4}
    >>> [(group.kind, group.layers) for group in read_jamba(Fields(config))]
    [('recurrent', 28), ('full', 4)]
    """
    dims, layers = head_dims(fields), layer_count(fields)
    inner_dim = fields.count("mamba_expand") * fields.count(*HIDDEN)
    state_dim, kernel = fields.count("mamba_d_state"), fields.count("mamba_d_conv", maximum=MAX_KERNEL)
    width = state_bytes_per_element(fields)
    period = fields.count("attn_layer_period", maximum=MAX_LAYERS)
    offset = fields.count("attn_layer_offset", minimum=0, maximum=MAX_LAYERS)
    return build_groups(
        full_where(layers, range(offset, layers, period), "recurrent"),
        {
            "full": dims.full,
            "recurrent": lambda count: mamba1_state(
                count, inner_dim=inner_dim, state_dim=state_dim, kernel=kernel, state_bytes=width
            ),
        },
    )


def read_nemotron_h(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read NemotronH: Mamba-2, attention, and blocks of experts or MLP that keep nothing, as the pattern says.

    elements of a Mamba layer = (d_in + 2 x G x N) x (k - 1) + d_in x N, with d_in = heads x head dimension

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Recurrent layers, full attention and layers without a cache. Dimensions in [elements].

    Notes
    -----
    The pattern is `hybrid_override_pattern` in letters or `layers_block_type` in words; `num_hidden_layers` may be
    missing.

    References
    ----------
    transformers 5.24.0 NemotronHConfig; nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16 `config.json` as kept in
    ai-dynamo/aiconfigurator@095f58a `model_configs`.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"hybrid_override_pattern": "ME*", "num_key_value_heads": 2, "head_dim": 128, "mamba_num_heads": 64,
    ...           "mamba_head_dim": 64, "n_groups": 8, "ssm_state_size": 128, "conv_kernel": 4}
    >>> [(group.kind, group.layers) for group in read_nemotron_h(Fields(config))]
    [('recurrent', 1), ('none', 1), ('full', 1)]
    """
    # The oldest files spell the pattern in letters, newer ones list it under one of two names.
    kinds = _lettered(fields, "hybrid_override_pattern")
    if kinds is None:
        kinds = listed_kinds(fields, "layers_block_type", ("full", "recurrent", "none"))
    if kinds is None:
        kinds = listed_kinds(fields, "layer_types", ("full", "recurrent", "none"))
    if kinds is None:
        names = ("hybrid_override_pattern", "layers_block_type", "layer_types")
        kinds = absent_pattern(fields, ("full", "recurrent"), *names)
    heads = fields.count("mamba_num_heads")
    inner_dim = heads * fields.count("mamba_head_dim")
    return build_groups(
        kinds,
        {
            "full": head_dims(fields).full,
            "none": lambda layers: (NoCache(layers=layers),),
            "recurrent": lambda layers: mamba2_state(
                layers,
                heads=heads,
                inner_dim=inner_dim,
                groups=fields.count("n_groups", "mamba_n_groups"),
                state_dim=fields.count("ssm_state_size"),
                kernel=fields.count("conv_kernel", "mamba_d_conv", maximum=MAX_KERNEL),
                state_bytes=state_bytes_per_element(fields),
            ),
        },
    )


def read_granite_hybrid(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Granite 4 and Bamba: attention in listed layers, Mamba-2 in the others.

    elements of a Mamba layer = (d_in + 2 x G x N) x (k - 1) + d_in x N, with d_in = expand x hidden

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Recurrent layers and full attention. Dimensions in [elements].

    Notes
    -----
    Granite lists every layer in `layer_types`, Bamba only the attention layers in `attn_layer_indices`.

    References
    ----------
    transformers 5.24.0 GraniteMoeHybridConfig and BambaConfig.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 4, "hidden_size": 96, "num_attention_heads": 6, "attn_layer_indices": [2],
    ...           "mamba_n_heads": 12, "mamba_expand": 2, "mamba_n_groups": 1, "mamba_d_state": 8, "mamba_d_conv": 4}
    >>> [(group.kind, group.layers) for group in read_granite_hybrid(Fields(config))]
    [('recurrent', 3), ('full', 1)]
    """
    kinds = listed_kinds(fields, "layer_types", ("full", "recurrent"))
    if kinds is None:
        kinds = listed_kinds(fields, "layers_block_type", ("full", "recurrent"))
    if kinds is None:
        layers, attention = layer_count(fields), fields.numbers("attn_layer_indices")
        kinds = full_where(layers, attention or (), "recurrent")
        if attention is None:
            names = ("layer_types", "layers_block_type", "attn_layer_indices")
            kinds = absent_pattern(fields, ("full", "recurrent"), *names)
    dims = head_dims(fields)
    return build_groups(kinds, {"full": dims.full, "recurrent": lambda layers: _mamba2_of_hidden(fields, layers)})


def read_falcon_h1(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Falcon-H1, whose layers have attention and Mamba-2 side by side.

    elements a layer = kv_heads x 2 x head_dim x n + (d_in + 2 x G x N) x (k - 1) + d_in x N

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full attention and recurrent layers, each as many as the model has. Dimensions in [elements].

    Notes
    -----
    d_in is `mamba_d_ssm` where given.

    References
    ----------
    transformers 5.24.0 FalconH1Config.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 3, "num_key_value_heads": 2, "head_dim": 16, "mamba_d_ssm": 192,
    ...           "mamba_n_heads": 12, "mamba_n_groups": 1, "mamba_d_state": 8, "mamba_d_conv": 4}
    >>> [(group.kind, group.layers) for group in read_falcon_h1(Fields(config))]
    [('full', 3), ('recurrent', 3)]
    """
    layers = layer_count(fields)
    return (*head_dims(fields).full(layers), *_mamba2_of_hidden(fields, layers))


def read_zamba2(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Zamba2: Mamba-2 in every layer, and in hybrid layers a shared attention block with a cache of its own.

    attention head dimension = 2 x hidden / heads

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Recurrent layers, and full attention on the hybrid ones. Dimensions in [elements].

    Notes
    -----
    The weights of the attention are shared between layers, its cache is not.

    References
    ----------
    transformers 5.24.0 Zamba2Config.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"hidden_size": 96, "num_attention_heads": 6, "layers_block_type": ["mamba", "hybrid", "mamba"],
    ...           "n_mamba_heads": 12, "mamba_expand": 2, "mamba_ngroups": 1, "mamba_d_state": 8, "mamba_d_conv": 4}
    >>> [(group.kind, group.layers) for group in read_zamba2(Fields(config))]
    [('recurrent', 3), ('full', 1)]
    """
    kinds = listed_kinds(fields, "layers_block_type", ("recurrent", "hybrid"))
    if kinds is None:
        kinds = absent_pattern(fields, ("recurrent", "hybrid"), "layers_block_type")
    state = _mamba2_of_hidden(fields, max(1, len(kinds)))
    attention = kinds.count("hybrid")
    return (*state, *_zamba2_dims(fields).full(attention)) if attention else state


def _lettered(fields: Fields, key: str) -> tuple[LayerKind, ...] | None:
    """Read a pattern of letters."""
    letters = fields.word(key)
    if not letters:
        return None
    for at, letter in enumerate(letters):
        if letter not in LETTERS:
            fields.problem(f"{key}[{at}]", f"{letter!r} is not known", allowed=" ".join(LETTERS))
            return ("full", "recurrent")
    return fitted(fields, key, [LETTERS[letter] for letter in letters])


def _mamba2_of_hidden(fields: Fields, layers: int) -> tuple[LayerGroup, ...]:
    """Build Mamba-2 layers whose width follows the hidden size, unless it is named."""
    inner_dim = fields.optional_count("mamba_d_ssm")
    return mamba2_state(
        layers,
        heads=fields.count("mamba_n_heads", "n_mamba_heads"),
        inner_dim=fields.count("mamba_expand") * fields.count(*HIDDEN) if inner_dim is None else inner_dim,
        groups=fields.count("mamba_n_groups", "mamba_ngroups"),
        state_dim=fields.count("mamba_d_state"),
        kernel=fields.count("mamba_d_conv", maximum=MAX_KERNEL),
        state_bytes=state_bytes_per_element(fields),
    )


def _zamba2_dims(fields: Fields) -> HeadDims:
    """Read the heads of Zamba2's attention."""
    heads, hidden = fields.count(*HEADS), fields.count(*HIDDEN)
    dim = max(1, _ZAMBA2_WIDTH * hidden // heads)
    return HeadDims(fields.count(*KV_HEADS, default=heads), dim, dim)
