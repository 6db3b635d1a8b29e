"""The settings of a vLLM engine that decide how it lays out its KV cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.core.kv.vllm_version import HYBRID_MANAGER_SINCE, SECOND_STATE_SINCE, parse_version
from kvplan.errors import require_at_least
from kvplan.schema.model import ChunkedAttention

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.kv.vllm_version import EngineVersion
    from kvplan.schema.model import LayerGroup

_AT_LEAST = {"tp": 1, "block_tokens": 1, "max_batched_tokens": 1, "speculative_tokens": 0}


@dataclass(frozen=True, slots=True)
class VllmSetup:
    """One engine, in vLLM's terms.

    `hybrid_manager` None takes the version's default for the model, without a KV connector; whether a connector turns
    it off is the caller's to decide. `prefix_caching` matters to recurrent layers only, see `states`.
    `speculative_tokens` adds state blocks and convolution columns; the layers of a draft model or an MTP block are
    layer groups like any other and are the caller's to add.
    """

    version: str
    tp: int = 1
    hybrid_manager: bool | None = None
    block_tokens: int = 16
    max_batched_tokens: int = 8192
    prefix_caching: bool = True
    speculative_tokens: int = 0

    def __post_init__(self) -> None:
        """Refuse numbers that no engine can have, all of them at once."""
        require_at_least("vLLM", *((key, getattr(self, key), least) for key, least in _AT_LEAST.items()))

    @property
    def engine(self) -> EngineVersion:
        """The version, parsed."""
        return parse_version(self.version)

    @property
    def can_group(self) -> bool:
        """Whether this version has a hybrid KV cache manager at all."""
        return self.engine >= HYBRID_MANAGER_SINCE

    @property
    def states(self) -> int:
        """State blocks a request and recurrent group [1]: from `SECOND_STATE_SINCE` on two with prefix caching."""
        second = self.prefix_caching and self.engine >= SECOND_STATE_SINCE
        return 1 + second + self.speculative_tokens


def hybrid_manager_on(groups: Sequence[LayerGroup], setup: VllmSetup) -> bool:
    """Say whether the engine manages layers of several kinds apart, or keeps every attention layer in full.

    on = version has a manager, and the setting if there is one, else no layer attends in chunks

    Parameters
    ----------
    groups
        The model's layer groups.
    setup
        The engine; a setting is without effect on a version that has no manager.

    Returns
    -------
    bool
        True when window layers give back what they no longer need [1].

    Notes
    -----
    Without a KV connector. With one, vLLM 0.10 to 0.12 forces the manager off, 0.15.1 to 0.21.0 turns it off unless
    told otherwise, and from 0.24.0 it is off only for connectors that do not support it.

    References
    ----------
    vLLM 0.33.0 `config/vllm.py` (chunked attention turns it off).

    Examples
    --------
    >>> scout = [ChunkedAttention(layers=36, kv_heads=8, key_dim=128, value_dim=128, chunk_tokens=8192)]
    >>> hybrid_manager_on(scout, VllmSetup("0.33.0")), hybrid_manager_on((), VllmSetup("0.14.1"))
    (False, True)
    """
    if not setup.can_group:
        return False
    if setup.hybrid_manager is not None:
        return setup.hybrid_manager
    return not any(isinstance(group, ChunkedAttention) for group in groups)
