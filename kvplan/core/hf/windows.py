"""Model types in which some or all layers look through a window, with the same heads everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.hf.heads import attention_makers, head_dims, window_tokens
from kvplan.core.hf.keys import WINDOW
from kvplan.core.hf.patterns import build_groups, every_nth_full, full_where, layer_count, listed_kinds

if TYPE_CHECKING:
    from kvplan.core.hf.keys import Fields
    from kvplan.core.hf.patterns import LayerKind
    from kvplan.schema.model import LayerGroup

INTERVALS = ("sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers")
_LETTERS: dict[str, LayerKind] = {"L": "sliding", "G": "full"}


def read_windowed(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read a model whose layers all slide where a window is set, unless `layer_types` tells them apart.

    elements a layer = kv_heads x (key_dim + value_dim) x min(n, W)

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Sliding attention, or full where the window is null or beyond the longest context.

    Notes
    -----
    Mistral-7B v0.1 stops growing at 4,096 tokens; v0.2 and later have `sliding_window: null`.

    References
    ----------
    transformers 5.24.0 MistralConfig, MixtralConfig, Phi3Config, Starcoder2Config.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8}
    >>> [group.kind for group in read_windowed(Fields({**config, "sliding_window": 4096}))]
    ['sliding']
    >>> [group.kind for group in read_windowed(Fields({**config, "sliding_window": None}))]
    ['full']
    """
    dims = head_dims(fields)
    kinds = listed_kinds(fields, "layer_types", ("full", "sliding"))
    if kinds is None:
        return dims.sliding(layer_count(fields), window_tokens(fields))
    return build_groups(kinds, attention_makers(fields, dims))


def read_mistral(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Mistral, whose class default is a window of 4,096 tokens, so that the key must be there.

    elements a layer = kv_heads x (key_dim + value_dim) x min(n, W)

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        As `read_windowed`. Dimensions in [elements], windows in [tokens].

    Notes
    -----
    A file without the key means 4,096 to transformers and no window to most people: it is refused.

    References
    ----------
    transformers 5.24.0 MistralConfig (`sliding_window` 4096).

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> fields = Fields({"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4})
    >>> groups = read_mistral(fields)
    >>> print(*fields.problems)
    config.json: sliding_window: is missing; a number of tokens, or null; Mistral-7B v0.1 has 4096, v0.2 and later null
    """
    if not fields.named(*WINDOW, "layer_types"):
        fields.problem(
            WINDOW[0],
            "is missing",
            allowed="a number of tokens, or null",
            hint="Mistral-7B v0.1 has 4096, v0.2 and later null",
        )
    return read_windowed(fields)


def read_switched(fields: Fields, *, default: bool = False) -> tuple[LayerGroup, ...]:
    """Read a model whose window `use_sliding_window` switches on, from layer `max_window_layers` upwards.

    kind(i) = sliding where use_sliding_window and i >= max_window_layers

    Parameters
    ----------
    fields
        Configuration of the language model.
    default
        The switch where the file has none; dots.llm1 has no switch and is on.

    Returns
    -------
    tuple of LayerGroup
        Full attention, and sliding layers where they are switched on.

    Notes
    -----
    The switch is off in all public Qwen2 and Qwen3 models, although most name a window.

    References
    ----------
    transformers 5.24.0 Qwen2Config, Qwen3Config and Dots1Config.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 28, "hidden_size": 3584, "num_attention_heads": 28, "num_key_value_heads": 4,
    ...           "sliding_window": 4096, "max_window_layers": 21}
    >>> [(group.kind, group.layers) for group in read_switched(Fields({**config, "use_sliding_window": False}))]
    [('full', 28)]
    >>> [(group.kind, group.layers) for group in read_switched(Fields({**config, "use_sliding_window": True}))]
    [('full', 21), ('sliding', 7)]
    """
    dims, layers = head_dims(fields), layer_count(fields)
    if not fields.flag("use_sliding_window", default=default):
        return dims.full(layers)
    makers = attention_makers(fields, dims)
    kinds = listed_kinds(fields, "layer_types", makers)
    if kinds is None:
        first = fields.count("max_window_layers", minimum=0)
        kinds = full_where(layers, range(first), "sliding")
    return build_groups(kinds, makers)


def read_switched_listed(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read a model whose window is switched on by `use_sliding_window` and whose layers only a list tells apart.

    kind(i) = layer_types[i] with use_sliding_window, else full

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Full attention, and sliding layers where they are switched on. Dimensions in [elements], windows in
        [tokens].

    Notes
    -----
    Versions of transformers disagree on which layers of these types slide when there is no list; it is refused.

    References
    ----------
    transformers 5.24.0 Qwen2MoeConfig, Qwen3MoeConfig and SmolLM3Config.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "use_sliding_window": True}
    >>> fields = Fields(config)
    >>> groups = read_switched_listed(fields)
    >>> fields.problems[0].key
    'layer_types'
    """
    if fields.flag("use_sliding_window", default=False) and not fields.has("layer_types"):
        fields.missing("layer_types", hint="with use_sliding_window only a list says which layers slide")
        return head_dims(fields).full(layer_count(fields))
    return read_switched(fields)


def read_interleaved(fields: Fields, *, interval: int) -> tuple[LayerGroup, ...]:
    """Read a model in which every n-th layer keeps every token and the others slide.

    kind(i) = full where (i + 1) mod n = 0, unless `layer_types` lists the kinds

    Parameters
    ----------
    fields
        Configuration of the language model.
    interval
        The model type's n, for files that do not name it [1].

    Returns
    -------
    tuple of LayerGroup
        Sliding and full attention. Dimensions in [elements], windows in [tokens].

    Notes
    -----
    n is `sliding_window_pattern` where it is a number; EXAONE-4 writes it as letters, `LLLG`. A window of null makes
    every layer full.

    References
    ----------
    transformers 5.24.0: n = 2 in Gemma2Config and GptOssConfig, 6 in Gemma3TextConfig, 4 in Cohere2Config,
    Olmo3Config, Exaone4Config and AfmoeConfig.

    Examples
    --------
    gpt-oss-120b:

    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 36, "num_key_value_heads": 8, "head_dim": 64, "sliding_window": 128}
    >>> [(group.kind, group.layers) for group in read_interleaved(Fields(config), interval=2)]
    [('sliding', 18), ('full', 18)]
    """
    makers = attention_makers(fields, head_dims(fields))
    kinds = listed_kinds(fields, "layer_types", makers)
    return build_groups(_interleaved(fields, interval, layer_count(fields)) if kinds is None else kinds, makers)


def read_cohere2_moe(fields: Fields) -> tuple[LayerGroup, ...]:
    """Read Command A Plus: a dense prefix with a pattern of its own, then every fourth layer full.

    kind(i) = full where (i + 1) mod p = 0 in the prefix, (i + 1 - prefix) mod n = 0 after it

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    tuple of LayerGroup
        Sliding and full attention. Dimensions in [elements], windows in [tokens].

    Notes
    -----
    The prefix is `first_k_dense_replace` layers, none by default.

    References
    ----------
    transformers 5.24.0 Cohere2MoeConfig.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> config = {"num_hidden_layers": 9, "num_key_value_heads": 8, "head_dim": 128, "sliding_window": 4096,
    ...           "first_k_dense_replace": 1}
    >>> [(group.kind, group.layers) for group in read_cohere2_moe(Fields(config))]
    [('full', 3), ('sliding', 6)]
    """
    makers = attention_makers(fields, head_dims(fields))
    kinds = listed_kinds(fields, "layer_types", makers)
    if kinds is None:
        layers = layer_count(fields)
        prefix = min(fields.count("first_k_dense_replace", default=0, minimum=0), layers)
        head = every_nth_full(prefix, fields.count("prefix_dense_sliding_window_pattern", default=1), "sliding")
        kinds = head + _interleaved(fields, 4, layers - prefix)
    return build_groups(kinds, makers)


def _interleaved(fields: Fields, interval: int, layers: int) -> tuple[LayerKind, ...]:
    """Lay out layers by an interval or by letters; no window at all is no pattern."""
    name, value = fields.first(INTERVALS)
    if not fields.has(*WINDOW) and fields.named(*WINDOW):
        return every_nth_full(layers, 1, "sliding")
    if isinstance(value, str) and value:
        if set(value) <= set(_LETTERS):
            return tuple(_LETTERS[value[layer % len(value)]] for layer in range(layers))
        fields.problem(name, f"{value[:40]!r} is not allowed", allowed="a number, or letters L (window) and G (full)")
        return every_nth_full(layers, 1, "sliding")
    return every_nth_full(layers, fields.count(*INTERVALS, default=interval), "sliding")
