"""What the engine is fed: prompts as runs of cache blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many prompts are done, and of how many; core itself never prints."""

REPORT_EVERY: Final = 4_096
"""Prompts between two reports of progress."""


class Prompt(NamedTuple):
    """One request of a trace.

    Attributes
    ----------
    time_s
        When it arrived [s]; prompts come in this order.
    blocks
        Its cache blocks, first to last; ids of 64 bits. Equal ids mean equal content of the block and of all before it.
    tokens
        Length of the prompt [tokens]; only the last block may hold less than a whole block.
    """

    time_s: float
    blocks: Sequence[int]
    tokens: int


def last_block_missing(blocks: int, tokens: int, block_tokens: int) -> int:
    """Return how many tokens the last block of a prompt falls short of a whole one [tokens].

    Parameters
    ----------
    blocks
        Blocks of the prompt [blocks].
    tokens
        Tokens of the prompt [tokens].
    block_tokens
        Tokens of a whole block [tokens].

    Returns
    -------
    int
        Tokens that are missing [tokens], 0 where the lengths contradict each other.

    Examples
    --------
    >>> last_block_missing(2, 700, 512), last_block_missing(2, 1024, 512)
    (324, 0)
    """
    missing = blocks * block_tokens - tokens
    return missing if 0 < missing < block_tokens else 0


def tokens_of_head(prompt: Prompt, blocks: int, block_tokens: int) -> int:
    """Return how many tokens the first blocks of a prompt hold [tokens].

    Parameters
    ----------
    prompt
        The prompt.
    blocks
        How many of its blocks [blocks].
    block_tokens
        Tokens of a whole block [tokens].

    Returns
    -------
    int
        Tokens [tokens].

    Examples
    --------
    >>> tokens_of_head(Prompt(0.0, (1, 2), 700), 1, 512), tokens_of_head(Prompt(0.0, (1, 2), 700), 2, 512)
    (512, 700)
    """
    size = len(prompt.blocks)
    missing = last_block_missing(size, prompt.tokens, block_tokens) if blocks == size else 0
    return blocks * block_tokens - missing
