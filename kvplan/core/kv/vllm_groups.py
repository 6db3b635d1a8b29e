"""How vLLM shares one pool of equal blocks between layers of several kinds: unified pages, equal groups, padding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kvplan.core.arithmetic import ceil_div
from kvplan.core.kv.vllm_layers import layer_specs
from kvplan.core.kv.vllm_setup import hybrid_manager_on
from kvplan.schema.model import CompressedAttention, SharedKeyWindow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.kv.vllm_layers import LayerSpec
    from kvplan.core.kv.vllm_setup import VllmSetup
    from kvplan.schema.model import LayerGroup
    from kvplan.schema.request import KvDtype

_LARGEST_WITHIN = 1.5
"""Groups take the size of the largest kind when that is less than this times the smallest, else of the smallest."""

_PACKED = "vLLM packs pages of several sizes into one block for compressed layers (DeepSeek-V4)"
_NO_ATTENTION = "the pool of a model without attention layers holds states, not tokens"
_STATES_BEFORE_GROUPS = "vLLM before 0.10.0 keeps recurrent states outside the pool"
_STATES_WITHOUT_MANAGER = "vLLM does not start a recurrent hybrid with the hybrid manager off"
_UNEVEN_PAGES = "the pages of the layer kinds are not multiples of each other"
_NO_CACHE = "the model caches nothing"


@dataclass(frozen=True, slots=True)
class Share:
    """The groups of layers of one kind: each takes `spec.blocks(n)` blocks of `block_bytes` for a request."""

    spec: LayerSpec
    label: str
    groups: int
    block_bytes: int

    def bytes_of(self, tokens: int) -> int:
        """Bytes that a request of so many tokens takes in these groups [B]."""
        return self.groups * self.block_bytes * self.spec.blocks(tokens)

    @property
    def bytes_per_token(self) -> float:
        """Bytes that every further token adds in the long run [B/token]."""
        return self.groups * self.block_bytes / self.spec.block_tokens if self.spec.kind == "full" else 0.0

    @property
    def fixed_bytes(self) -> int:
        """Bytes of windows and states once they are full [B]."""
        return self.groups * self.block_bytes * self.spec.saturated_blocks


@dataclass(frozen=True, slots=True)
class Pool:
    """The KV cache of one GPU. Where `not_modelled` gives a reason, the shares are the plain sum of the layers."""

    shares: tuple[Share, ...]
    hybrid: bool
    promoted: bool = False
    not_modelled: str = ""

    @property
    def groups(self) -> int:
        """Groups of layers that have a block table of their own [1]."""
        return sum(share.groups for share in self.shares)

    @property
    def block_bytes(self) -> int:
        """Bytes of one block over all layers of a group [B]."""
        return self.shares[0].block_bytes

    @property
    def block_tokens(self) -> int:
        """Tokens of the smallest block [tokens]."""
        return min(share.spec.block_tokens for share in self.shares)

    def blocks_of(self, tokens: int) -> int:
        """Blocks that a request of so many tokens takes [1]."""
        return sum(share.groups * share.spec.blocks(tokens) for share in self.shares)


def vllm_pool(groups: Sequence[LayerGroup], dtype: KvDtype, setup: VllmSetup) -> Pool:
    """Return how one GPU's KV cache is divided into blocks and groups.

    block = layers of a group x page; groups of a kind = ceil(layers / group size); group size = the smallest kind, or
    the largest when it is less than 1.5 times the smallest; smaller pages take more tokens a block until all are equal

    Parameters
    ----------
    groups
        The model's layer groups.
    dtype
        KV dtype.
    setup
        The engine.

    Returns
    -------
    Pool
        Shares of the pool in blocks [1] and bytes [B].

    Notes
    -----
    One pipeline stage, no context parallelism, prefix caching of states in the "align" mode. The first versions with
    groups always took the smallest kind (vllm-project/vllm@bbf906a); the two differ only where kinds have nearly equal
    numbers of layers.

    References
    ----------
    vLLM 0.33.0 `v1/core/kv_cache_planning.py` (`get_kv_cache_groups`, `unify_kv_cache_spec_page_size`,
    `_get_kv_cache_groups_uniform_page_size`).

    Examples
    --------
    Gemma-4-31B (alvarobartt/hf-mem#61): 50 window and 10 global layers make 6 groups of 10; global blocks hold 32.

    >>> from kvplan.core.kv.vllm_setup import VllmSetup
    >>> from kvplan.schema.model import FullAttention, SlidingAttention
    >>> window = SlidingAttention(layers=50, kv_heads=16, key_dim=256, value_dim=256, window_tokens=1024)
    >>> full = FullAttention(layers=10, kv_heads=4, key_dim=512, value_dim=512)
    >>> pool = vllm_pool((window, full), "bf16", VllmSetup("0.19.1"))
    >>> pool.groups, pool.block_bytes, [share.spec.block_tokens for share in pool.shares]
    (6, 2621440, [16, 32])
    """
    specs = layer_specs(groups, dtype, setup)
    hybrid = hybrid_manager_on(groups, setup)
    reason = _reason(groups, specs, setup, hybrid=hybrid)
    kept = specs if hybrid else _promote(specs, always=not setup.can_group)
    if not reason and _uniform(kept):
        return Pool((_one_group(kept),), hybrid, promoted=kept != specs)
    paged = () if reason else _unify_pages(kept)
    if not paged:
        return Pool(tuple(map(_plain, kept)), hybrid, promoted=kept != specs, not_modelled=reason or _UNEVEN_PAGES)
    return Pool(_equal_groups(paged), hybrid)


def _reason(groups: Sequence[LayerGroup], specs: tuple[LayerSpec, ...], setup: VllmSetup, *, hybrid: bool) -> str:
    """Say why the pool of such a model is not modelled, or nothing."""
    kinds = {spec.kind for spec in specs}
    cases = (
        (_NO_CACHE, not specs),
        (_PACKED, any(isinstance(group, CompressedAttention | SharedKeyWindow) for group in groups)),
        (_NO_ATTENTION, kinds == {"state"}),
        (_STATES_BEFORE_GROUPS, "state" in kinds and not setup.can_group),
        (_STATES_WITHOUT_MANAGER, "state" in kinds and not hybrid),
    )
    return next((reason for reason, applies in cases if applies), "")


def _promote(specs: tuple[LayerSpec, ...], *, always: bool) -> tuple[LayerSpec, ...]:
    """Keep window and chunk layers in full: beside full layers, or always before there was a manager."""
    if not always and all(spec.kind != "full" for spec in specs):
        return specs
    local = {"window", "chunk"}
    return tuple(
        replace(spec, kind="full", limit_tokens=None, extra_blocks=0) if spec.kind in local else spec for spec in specs
    )


def _uniform(specs: tuple[LayerSpec, ...]) -> bool:
    """Whether all layers need the same token slots, so that one group holds them whatever their pages are."""
    return len({(spec.kind, spec.block_tokens, spec.limit_tokens, spec.constant_blocks) for spec in specs}) == 1


def _one_group(specs: tuple[LayerSpec, ...]) -> Share:
    """Put all layers into one group."""
    label = " + ".join(f"{spec.layers} {spec.label}" for spec in specs)
    return Share(specs[0], f"{label} layers", 1, sum(spec.layers * spec.page_bytes for spec in specs))


def _plain(spec: LayerSpec) -> Share:
    """Count layers on their own, as if each kind had a pool to itself."""
    return Share(spec, f"{spec.layers} {spec.label} layers", 1, spec.layers * spec.page_bytes)


def _unify_pages(specs: tuple[LayerSpec, ...]) -> tuple[LayerSpec, ...]:
    """Give all layers the largest page: more tokens a block, or padding for states; nothing where that is impossible.

    vllm-project/vllm@4253bd4 also pads attention pages that do not divide the largest; since which release is unknown.
    """
    largest = max(spec.page_bytes for spec in specs)
    attention = [spec for spec in specs if spec.kind != "state"]
    if any(largest % spec.page_bytes for spec in attention):
        return ()
    return tuple(
        replace(spec, page_bytes=largest)
        if spec.kind == "state"
        else replace(spec, page_bytes=largest, block_tokens=spec.block_tokens * (largest // spec.page_bytes))
        for spec in specs
    )


def _equal_groups(specs: tuple[LayerSpec, ...]) -> tuple[Share, ...]:
    """Split each kind into groups of one size; the last group of a kind is padded."""
    layers = [spec.layers for spec in specs]
    size = max(layers) if max(layers) < _LARGEST_WITHIN * min(layers) else min(layers)
    return tuple(
        Share(spec, f"{spec.layers} {spec.label} layers", ceil_div(spec.layers, size), size * spec.page_bytes)
        for spec in specs
    )
