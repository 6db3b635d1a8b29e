"""Retention rules: what an implementation keeps of a window, a convolution and a compressed entry in the making."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RuleName = Literal["minimal", "transformers"]
"""The engine-independent rules; vLLM's own is counted in blocks and lives with its accounting."""


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """One named rule.

    `window_slack_tokens` is what it keeps less than the window or chunk, `extra_conv_columns` what it keeps beyond
    k - 1 convolution columns, `compression_buffers` whether it counts the inputs of compressed entries that are not
    finished yet.
    """

    text: str
    window_slack_tokens: int = 0
    extra_conv_columns: int = 0
    compression_buffers: bool = False


RULES: dict[RuleName, RetentionRule] = {
    "minimal": RetentionRule(
        text="what the architecture must keep: min(n, W) tokens a window or chunk, k - 1 convolution columns, "
        "finished compressed entries",
    ),
    "transformers": RetentionRule(
        text="what transformers 5.24.0 keeps: min(n, W - 1) tokens a window or chunk, k convolution columns, "
        "compressed entries with their buffers",
        window_slack_tokens=1,
        extra_conv_columns=1,
        compression_buffers=True,
    ),
}
"""`transformers` was measured on random tiny models of 43 kinds (torch 2.13.0 on CPU, transformers 5.24.0)."""
