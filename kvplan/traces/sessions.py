"""AIPerf's JSONL of sessions: the rows of a session are its turns, and a turn's length counts only what is new in it.

A prompt is what the conversation has come to: every turn and answer before it, then the new tokens. The ids of a first
turn stand for blocks that other sessions may have too; those of later turns stand for blocks of this session alone, as
AIPerf's own generator writes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kvplan.errors import shown
from kvplan.traces.blocks import shared_head
from kvplan.traces.malformed import RowError, time_of, tokens_of
from kvplan.traces.records import TraceRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvplan.traces.blocks import Blocks

NOTES = (
    (
        "turns after the first count new tokens only, so that a prompt is the whole conversation before it with them; "
        "their blocks are taken for the session's own"
    ),
    "a turn's delay counts from the turn before it; the time that the answer took is not in the trace",
)


@dataclass(slots=True)
class _Conversation:
    """What a session has come to: when its last turn was sent, its prompt's tokens and blocks, and the answer's tokens.

    `turns` counts them.
    """

    time_ms: float
    tokens: int
    output: int
    blocks: tuple[int, ...]
    turns: int = 1


class SessionRows:
    """Reads rows of `session_id`, `input_length`, `output_length`, `hash_ids`, and `timestamp` or `delay` [ms]."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._sessions: dict[str, _Conversation] = {}

    def requests(self, row: dict[str, Any]) -> Iterable[TraceRequest]:
        """Read a row, the next turn of its session.

        Parameters
        ----------
        row
            The row.

        Returns
        -------
        iterable of TraceRequest
            Its one request, with the whole prompt.

        Raises
        ------
        RowError
            When something is missing or wrong.
        """
        session = session_of(row)
        tokens = tokens_of(row, "input_length", least=1)
        output = tokens_of(row, "output_length", least=0, default=0)
        before = self._sessions.get(session)
        time_ms = turn_time_ms(row, before.time_ms if before else None)
        ids = self._blocks.taken(row["hash_ids"], tokens) if row.get("hash_ids") is not None else None
        if before is None:
            blocks = ids if ids is not None else self._grown(session, (), 0, tokens, turn=0)
            now = _Conversation(time_ms, tokens, output, blocks)
        elif ids is not None and shared_head(ids, before.blocks):
            # The row repeats the conversation, as Mooncake's own rows do.
            now = _Conversation(time_ms, tokens, output, ids, before.turns + 1)
        else:
            whole = before.tokens + before.output + tokens
            blocks = self._grown(session, before.blocks, before.tokens, whole, turn=before.turns)
            now = _Conversation(time_ms, whole, output, blocks, before.turns + 1)
        self._sessions[session] = now
        return (TraceRequest(time_ms / 1000, now.tokens, output, now.blocks, session),)

    def _grown(self, session: str, blocks: tuple[int, ...], tokens: int, whole: int, *, turn: int) -> tuple[int, ...]:
        """Return the blocks of a prompt that has grown; a partial block is another block once it is full."""
        size = self._blocks.block_tokens
        kept = tokens // size
        full = whole // size
        own = (self._blocks.known((session, position)) for position in range(kept, full))
        tail = (self._blocks.known((session, turn, full)),) if whole % size else ()
        return (*blocks[:kept], *own, *tail)


def session_of(row: dict[str, Any]) -> str:
    """Return the session of a row.

    Parameters
    ----------
    row
        The row.

    Returns
    -------
    str
        Its id.

    Raises
    ------
    RowError
        When it has none, or one that is no id.

    Examples
    --------
    >>> session_of({"session_id": "abc-123"})
    'abc-123'
    """
    value = row.get("session_id")
    if value is None:
        raise RowError(what="is missing", key="session_id")
    if not isinstance(value, str | int) or isinstance(value, bool):
        what = f"must be text, not {shown(value)}"
        raise RowError(what=what, key="session_id")
    return str(value)


def turn_time_ms(row: dict[str, Any], before_ms: float | None) -> float:
    """Return when a turn is sent.

    Parameters
    ----------
    row
        The row, with its `timestamp` or its `delay`.
    before_ms
        When the turn before it was sent [ms]; None for a first turn, which may stand at the beginning.

    Returns
    -------
    float
        The time [ms].

    Raises
    ------
    RowError
        When either is no time.

    Examples
    --------
    >>> turn_time_ms({"delay": 500}, 1000.0), turn_time_ms({}, None)
    (1500.0, 0.0)
    """
    time_ms = time_of(row, "timestamp")
    delay_ms = time_of(row, "delay")
    if time_ms is not None:
        return time_ms
    return (before_ms or 0.0) + (delay_ms or 0.0)
