"""Sizes at which reuse is reported, and the points of curves there, in tokens and in bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kvplan.schema.tracing import Capacity, CurvePoint

if TYPE_CHECKING:
    from kvplan.schema.tracing import KvBytes

CURVE_POINTS: Final = 31
CURVE_DECADES: Final = 3
POLICY_SHARES: Final = (0.01, 0.03, 0.1, 0.2, 0.5, 1.0)
"""Sizes at which policies are compared, as shares of the working set."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What a block is: so many tokens [tokens], and bytes of each where a model says them."""

    block_tokens: int
    kv: KvBytes | None

    def bytes(self, tokens: float) -> int | None:
        """Return the bytes of tokens in the tier [B]."""
        return round(tokens * self.kv.stored_bytes_per_token) if self.kv else None

    def point(self, blocks: int, hit_ratio: float, token_hit_ratio: float) -> CurvePoint:
        """Make a point of a curve at a cache of so many blocks."""
        tokens = blocks * self.block_tokens
        return CurvePoint(tokens=tokens, bytes=self.bytes(tokens), hit_ratio=hit_ratio, token_hit_ratio=token_hit_ratio)

    def capacity(self, blocks: float, target: float) -> Capacity:
        """Make the smallest cache that meets a target."""
        tokens = round(blocks * self.block_tokens)
        return Capacity(target=target, tokens=tokens, bytes=self.bytes(tokens))


def compared_sizes(unique_blocks: int) -> list[int]:
    """Return the sizes at which policies are compared [blocks].

    >>> compared_sizes(2_000)
    [20, 60, 200, 400, 1000, 2000]
    """
    return [max(1, round(share * unique_blocks)) for share in POLICY_SHARES]


def curve_sizes(unique_blocks: int) -> list[int]:
    """Return the sizes of a curve, from a thousandth of the working set to all of it [blocks].

    >>> sizes = curve_sizes(2_000)
    >>> sizes[0], sizes[-1], len(sizes)
    (2, 2000, 33)
    """
    steps = (CURVE_DECADES * (step / (CURVE_POINTS - 1) - 1) for step in range(CURVE_POINTS))
    return sorted({max(1, round(unique_blocks * 10**step)) for step in steps} | set(compared_sizes(unique_blocks)))


def ratio(part: float, whole: float) -> float:
    """Divide, nothing by nothing being nothing.

    >>> ratio(1, 4), ratio(0, 0)
    (0.25, 0.0)
    """
    return part / whole if whole else 0.0
