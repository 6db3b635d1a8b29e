"""Rows of the two JSONL forms with block ids: Mooncake's, which AIPerf has extended, and Qwen-Bailian's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kvplan.errors import shown
from kvplan.traces.malformed import RowError, time_of, tokens_of
from kvplan.traces.records import TraceRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.traces.blocks import Blocks

BAILIAN_BLOCK_TOKENS: Final = 16
"""Every Qwen-Bailian trace has blocks of so many tokens; alibaba-edu/qwen-bailian-usagetraces-anon, README."""
MOONCAKE_BLOCK_TOKENS: Final = 512
"""Every published Mooncake trace has blocks of so many tokens; kvcache-ai/Mooncake, FAST25-release."""
_ROOT: Final = -1


class MooncakeRows:
    """Reads rows of `timestamp` [ms], `input_length`, `output_length` and `hash_ids`.

    Parameters
    ----------
    blocks
        Takes the ids; None for a trace that has lengths only.
    """

    def __init__(self, blocks: Blocks | None) -> None:
        self._blocks = blocks
        self._timed: bool | None = None

    def requests(self, row: dict[str, Any]) -> Iterable[TraceRequest]:
        """Read a row.

        Parameters
        ----------
        row
            The row.

        Returns
        -------
        iterable of TraceRequest
            Its one request.

        Raises
        ------
        RowError
            When something is missing or wrong.
        """
        time_ms = time_of(row, "timestamp")
        if time_ms is None and self._timed:
            raise RowError(what="is missing", key="timestamp")
        tokens = tokens_of(row, "input_length", least=1)
        output = tokens_of(row, "output_length", least=0, default=0)
        blocks = self._blocks.taken(row.get("hash_ids"), tokens) if self._blocks else None
        self._timed = time_ms is not None
        return (TraceRequest((time_ms or 0.0) / 1000, tokens, output, blocks),)


class BailianRows:
    """Reads rows that have `chat_id`, `parent_chat_id` and `turn` beside Mooncake's keys; `timestamp` is in seconds."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._roots: dict[int, str] = {}

    def requests(self, row: dict[str, Any]) -> Iterable[TraceRequest]:
        """Read a row; a chat belongs to the session of the chat that it goes on from.

        Parameters
        ----------
        row
            The row.

        Returns
        -------
        iterable of TraceRequest
            Its one request.

        Raises
        ------
        RowError
            When something is missing or wrong.
        """
        time_s = time_of(row, "timestamp")
        if time_s is None:
            raise RowError(what="is missing", key="timestamp")
        tokens = tokens_of(row, "input_length", least=1)
        output = tokens_of(row, "output_length", least=0, default=0)
        chat, parent = _chat(row, "chat_id"), _chat(row, "parent_chat_id")
        blocks = self._blocks.taken(row.get("hash_ids"), tokens)
        # A parent from before the trace began still tells its children apart from others.
        root = str(chat) if parent == _ROOT else self._roots.get(parent, str(parent))
        self._roots[chat] = root
        return (TraceRequest(time_s, tokens, output, blocks, root),)


def _chat(row: dict[str, Any], key: str) -> int:
    """Return the number of a chat."""
    value = row.get(key, _ROOT if key == "parent_chat_id" else None)
    if value is None:
        raise RowError(what="is missing", key=key)
    if type(value) is not int:
        what = f"must be a whole number, not {shown(value)}"
        raise RowError(what=what, key=key)
    return value
