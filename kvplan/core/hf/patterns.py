"""What kind each layer is: the spellings of a layer pattern, and how kinds become layer groups."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from kvplan.core.hf.keys import LAYERS, MAX_LAYERS, Item
from kvplan.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from kvplan.core.hf.keys import Fields
    from kvplan.schema.model import LayerGroup

    Maker = Callable[[int], "tuple[LayerGroup, ...]"]
    """Builds the groups of so many layers of one kind."""

LayerKind = Literal["full", "sliding", "chunked", "indexed", "recurrent", "conv", "hybrid", "none", "csa", "hca"]

SPELLINGS: dict[str, LayerKind] = {
    "full_attention": "full",
    "attention": "full",
    "sliding_attention": "sliding",
    "chunked_attention": "chunked",
    "indexed_attention": "indexed",
    "deepseek_sparse_attention": "indexed",
    "minimax_m3_sparse": "indexed",
    "linear_attention": "recurrent",
    "mamba": "recurrent",
    "conv": "conv",
    "hybrid": "hybrid",
    "hybrid_sliding": "sliding",
    "moe": "none",
    "mlp": "none",
    "compressed_sparse_attention": "csa",
    "heavily_compressed_attention": "hca",
}
"""Names in `layer_types` and `layers_block_type`, old and new (transformers 5.24.0 `configuration_utils.py`)."""

BLOCK_LETTERS = {"M": "mamba", "*": "attention", "E": "moe", "-": "mlp"}
"""Letters of `hybrid_override_pattern` (NemotronH) and the names in `layers_block_type` that they stand for."""
LETTERS: dict[str, LayerKind] = {letter: SPELLINGS[block] for letter, block in BLOCK_LETTERS.items()}


def layer_count(fields: Fields) -> int:
    """Return the number of layers, which must be there.

    Parameters
    ----------
    fields
        Configuration of the language model.

    Returns
    -------
    int
        Layers [1].

    Notes
    -----
    Layers of multi-token prediction are not among them.

    References
    ----------
    transformers 5.24.0 `attribute_map` of GPT2Config, MptConfig and T5Config for the spellings.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> layer_count(Fields({"n_layer": 24}))
    24
    """
    return fields.count(*LAYERS, maximum=MAX_LAYERS)


def fitted(fields: Fields, key: str, entries: Sequence[Item]) -> tuple[Item, ...]:
    """Cut a list with an entry a layer to the number of layers; one that is too short is a problem.

    Parameters
    ----------
    fields
        Configuration of the language model.
    key
        Where the list stands.
    entries
        One entry a layer, such as its kind, perhaps with a tail for multi-token prediction.

    Returns
    -------
    tuple
        One entry for each of the model's layers; the whole list where the number of layers is not given.

    Notes
    -----
    The tail belongs to the draft layers, which keep nothing unless speculative decoding is on.

    References
    ----------
    transformers 5.24.0 Step3p7TextConfig and DeepseekV4Config, which cut; `config.json` of
    deepseek-ai/DeepSeek-V4-Pro (62 entries, 61 layers) and nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16 (no
    `num_hidden_layers`) as kept in ai-dynamo/aiconfigurator@095f58a `model_configs`.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> fitted(Fields({"num_hidden_layers": 2}), "layer_types", ("full", "sliding", "full"))
    ('full', 'sliding')
    """
    layers = fields.optional_count(*LAYERS, maximum=MAX_LAYERS)
    if not entries or (layers is not None and len(entries) < layers):
        need = "at least one" if layers is None else f"at least {layers}, one a layer"
        fields.problem(key, f"has {len(entries)} entries", allowed=need)
    return tuple(entries[:layers])


def listed_kinds(fields: Fields, key: str, allowed: Collection[LayerKind]) -> tuple[LayerKind, ...] | None:
    """Read a list of layer kinds by name, as `layer_types` and `layers_block_type` are.

    Parameters
    ----------
    fields
        Configuration of the language model.
    key
        Where the list stands.
    allowed
        The kinds that the model type has.

    Returns
    -------
    tuple of str or None
        One kind a layer; None where the key is absent or null.

    Notes
    -----
    A name that is unknown, or known but not a kind of this model type, is a problem: its cache would be a guess. The
    result is then one layer of each kind, so that their keys are looked at all the same.

    References
    ----------
    transformers 5.24.0 `configuration_utils.py` (`ALLOWED_ATTN_LAYER_TYPES`, `_LEGACY_LAYER_TYPE_REMAP`).

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> fields = Fields({"layer_types": ["sliding_attention", "full_attention"]})
    >>> listed_kinds(fields, "layer_types", ("full", "sliding"))
    ('sliding', 'full')
    """
    names = fields.words(key)
    if names is None:
        return None
    spelled = {name: kind for name, kind in SPELLINGS.items() if kind in allowed}
    for at, name in enumerate(names):
        if name not in spelled:
            hint = did_you_mean(name, spelled, limit=1)
            fields.problem(f"{key}[{at}]", f"{name[:40]!r} is not known here", allowed=", ".join(spelled), hint=hint)
            return tuple(allowed)
    return fitted(fields, key, [spelled[name] for name in names])


def flagged_kinds(fields: Fields, key: str, kinds: Mapping[int, LayerKind]) -> tuple[LayerKind, ...] | None:
    """Read a list of layer kinds by number, as `hybrid_layer_pattern` and `compress_ratios` are.

    Parameters
    ----------
    fields
        Configuration of the language model.
    key
        Where the list stands.
    kinds
        What each number means.

    Returns
    -------
    tuple of str or None
        One kind a layer; None where the key is absent or null.

    Notes
    -----
    A number without a meaning is a problem, treated as in `listed_kinds`.

    References
    ----------
    `config.json` of XiaomiMiMo/MiMo-V2-Flash and deepseek-ai/DeepSeek-V4-Pro.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> flagged_kinds(Fields({"hybrid_layer_pattern": [0, 1, 1]}), "hybrid_layer_pattern", {0: "full", 1: "sliding"})
    ('full', 'sliding', 'sliding')
    """
    numbers = fields.numbers(key)
    if numbers is None:
        return None
    for at, number in enumerate(numbers):
        if number not in kinds:
            fields.problem(f"{key}[{at}]", f"{number} is not allowed", allowed=" or ".join(map(str, kinds)))
            return tuple(kinds.values())
    return fitted(fields, key, [kinds[number] for number in numbers])


def absent_pattern(fields: Fields, kinds: tuple[LayerKind, ...], *names: str) -> tuple[LayerKind, ...]:
    """Report a layer pattern that the model type cannot do without.

    Parameters
    ----------
    fields
        Configuration of the language model.
    kinds
        The kinds that the model type has.
    *names
        Keys that would give the pattern.

    Returns
    -------
    tuple of str
        One layer of each kind, so that the keys of all of them are looked at.

    Notes
    -----
    The result is good for finding problems only.

    References
    ----------
    The error rules of this package: every problem in one go.

    Examples
    --------
    >>> from kvplan.core.hf.keys import Fields
    >>> fields = Fields({})
    >>> absent_pattern(fields, ("full", "conv"), "layer_types"), len(fields.problems)
    (('full', 'conv'), 1)
    """
    fields.missing(*names)
    return kinds


def full_where(layers: int, chosen: Iterable[int], other: LayerKind) -> tuple[LayerKind, ...]:
    """Lay out layers of which the chosen ones are full attention.

    kind(i) = full where i is chosen, for i from 0

    Parameters
    ----------
    layers
        Number of layers [1].
    chosen
        Numbers of the full layers, from 0 [1].
    other
        Kind of the other layers.

    Returns
    -------
    tuple of str
        One kind a layer.

    Notes
    -----
    Numbers beyond the last layer have no effect.

    References
    ----------
    transformers 5.24.0 BambaConfig (`attn_layer_indices`) and Lfm2Config (`full_attn_idxs`).

    Examples
    --------
    >>> full_where(3, [1], "conv")
    ('conv', 'full', 'conv')
    """
    full = frozenset(chosen)
    return tuple("full" if layer in full else other for layer in range(layers))


def every_nth_full(layers: int, interval: int, other: LayerKind) -> tuple[LayerKind, ...]:
    """Lay out layers of which every n-th is full attention, the n-th being the first of them.

    kind(i) = full where (i + 1) mod n = 0, for i from 0

    Parameters
    ----------
    layers
        Number of layers [1].
    interval
        n [1].
    other
        Kind of the layers between.

    Returns
    -------
    tuple of str
        One kind a layer.

    Notes
    -----
    n = 1 is full attention throughout.

    References
    ----------
    transformers 5.24.0 Gemma3TextConfig, Cohere2Config, Qwen3NextConfig (`__post_init__`).

    Examples
    --------
    >>> every_nth_full(4, 2, "sliding")
    ('sliding', 'full', 'sliding', 'full')
    """
    return full_where(layers, range(interval - 1, layers, interval), other)


def build_groups(kinds: Iterable[LayerKind], makers: Mapping[LayerKind, Maker]) -> tuple[LayerGroup, ...]:
    """Turn one kind a layer into layer groups, in the order in which the kinds first appear.

    Parameters
    ----------
    kinds
        One kind a layer.
    makers
        Builds the groups of so many layers, for each kind that can occur.

    Returns
    -------
    tuple of LayerGroup
        Groups of layers that cache alike, each once.

    Notes
    -----
    A kind that does not occur is not built, so keys that only it needs may be missing.

    References
    ----------
    The data model of this package: `kvplan.schema.model`.

    Examples
    --------
    >>> from kvplan.schema.model import NoCache
    >>> build_groups(["none", "none"], {"none": lambda layers: (NoCache(layers=layers),)})
    (NoCache(kind='none', layers=2),)
    """
    return merged(group for kind, layers in Counter(kinds).items() for group in makers[kind](layers))


def merged(groups: Iterable[LayerGroup]) -> tuple[LayerGroup, ...]:
    """Add up the layers of groups that are equal but for their number.

    Parameters
    ----------
    groups
        Layer groups.

    Returns
    -------
    tuple of LayerGroup
        Each kind of layer once, in the order of first appearance. Dimensions in [elements].

    Notes
    -----
    Bytes do not depend on the order of layers.

    References
    ----------
    The data model of this package: `kvplan.schema.model`.

    Examples
    --------
    >>> from kvplan.schema.model import NoCache
    >>> merged([NoCache(layers=2), NoCache(layers=3)])
    (NoCache(kind='none', layers=5),)
    """
    layers: Counter[LayerGroup] = Counter()
    for group in groups:
        layers[group.model_copy(update={"layers": 1})] += group.layers
    return tuple(group.model_copy(update={"layers": count}) for group, count in layers.items())
