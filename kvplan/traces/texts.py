"""Prompts that are there as text: cut into blocks by their characters, for want of the model's own tokenizer."""

from __future__ import annotations

import json
from hashlib import blake2b
from math import ceil
from typing import TYPE_CHECKING, Any

from kvplan.errors import shown
from kvplan.traces.malformed import RowError, tokens_of
from kvplan.traces.records import TraceRequest
from kvplan.traces.sessions import session_of, turn_time_ms

if TYPE_CHECKING:
    from collections.abc import Iterable

_ID_BYTES = 8
TEXT_KEYS = ("text_input", "messages", "payload")
"""Keys by which a row of AIPerf's JSONL holds a text instead of lengths and ids."""


class TextBlocks:
    """Cuts texts into chained blocks.

    Parameters
    ----------
    block_tokens
        Tokens of a block [tokens].
    characters_per_token
        Characters of a token, on average [1].
    """

    def __init__(self, block_tokens: int, characters_per_token: float) -> None:
        self._characters_per_token = characters_per_token
        self._block_characters = max(1, round(block_tokens * characters_per_token))
        self._block_tokens = block_tokens

    def cut(self, text: str) -> tuple[int, tuple[int, ...]]:
        """Cut a text.

        Parameters
        ----------
        text
            The prompt.

        Returns
        -------
        tuple of int and tuple of int
            About how many tokens it has [tokens], and the id of each block, which stands for all before it too.

        Examples
        --------
        >>> cutter = TextBlocks(2, 4.0)
        >>> (one, head), (two, longer) = cutter.cut("abcdefgh"), cutter.cut("abcdefghijkl")
        >>> one, two, head[0] == longer[0], len(longer)
        (2, 3, True, 2)
        """
        step, before, ids = self._block_characters, b"", []
        tokens = max(1, ceil(len(text) / self._characters_per_token))
        for position in range(ceil(tokens / self._block_tokens)):
            chunk = text[position * step : (position + 1) * step]
            before = blake2b(before + chunk.encode("utf-8", "surrogatepass"), digest_size=_ID_BYTES).digest()
            ids.append(int.from_bytes(before, "big"))
        return tokens, tuple(ids)


class TextRows:
    """Reads rows of AIPerf's JSONL that hold a `text_input`, `messages` or a `payload`."""

    def __init__(self, cutter: TextBlocks) -> None:
        self._cutter = cutter
        self._times_ms: dict[str, float] = {}

    def requests(self, row: dict[str, Any]) -> Iterable[TraceRequest]:
        """Read a row.

        Parameters
        ----------
        row
            The row.

        Returns
        -------
        iterable of TraceRequest
            Its one request; a delay counts from the turn before.

        Raises
        ------
        RowError
            When there is no text in it, or something else is wrong.
        """
        session = session_of(row) if row.get("session_id") is not None else None
        time_ms = turn_time_ms(row, self._times_ms.get(session) if session else None)
        tokens, blocks = self._cutter.cut(text_of(row))
        output = tokens_of(row, "output_length", least=0, default=_most_output(row.get("payload")))
        if session:
            self._times_ms[session] = time_ms
        return (TraceRequest(time_ms / 1000, tokens, output, blocks, session),)


class PayloadSessions:
    """Reads sessions of AIPerf's `inputs.json`: `session_id`, and `payloads` that are sent as they are, in turn."""

    def __init__(self, cutter: TextBlocks) -> None:
        self._cutter = cutter

    def requests(self, row: dict[str, Any]) -> Iterable[TraceRequest]:
        """Read a session.

        Parameters
        ----------
        row
            The session.

        Returns
        -------
        iterable of TraceRequest
            Its requests, at no time in particular.

        Raises
        ------
        RowError
            When it has no payloads, or one without a text.
        """
        session = session_of(row) if row.get("session_id") is not None else None
        payloads = row.get("payloads")
        if not isinstance(payloads, list) or not payloads:
            what = "is missing" if payloads is None else "must be a list with entries"
            raise RowError(what=what, key="payloads")
        cut = [(self._cutter.cut(text_of({"payload": payload})), _most_output(payload)) for payload in payloads]
        return [TraceRequest(0.0, tokens, output, blocks, session) for (tokens, blocks), output in cut]


def text_of(row: dict[str, Any]) -> str:
    """Return the text of a prompt: what comes before the answer, in the order in which engines put it.

    Parameters
    ----------
    row
        A row with `text_input`, `messages` (and `tools`) or `payload`.

    Returns
    -------
    str
        Tools first, then each message with its role.

    Raises
    ------
    RowError
        When there is none.

    Examples
    --------
    >>> text_of({"messages": [{"role": "user", "content": "Hello"}]}), text_of({"payload": {"prompt": "Hi"}})
    ('<user>Hello', 'Hi')
    """
    key = next((key for key in TEXT_KEYS if row.get(key) is not None), "")
    value = row.get(key)
    if isinstance(value, str) and key == "text_input":
        return value
    if key == "messages":
        return _tools(row) + _messages(value, key)
    if isinstance(value, dict) and isinstance(value.get("prompt"), str):
        return str(value["prompt"])
    if isinstance(value, dict) and value.get("messages") is not None:
        return _tools(value) + _messages(value["messages"], f"{key}.messages")
    what = "is missing" if value is None else f"holds no prompt and no messages: {shown(value)}"
    raise RowError(what=what, key=key or "text_input")


def _messages(messages: Any, key: str) -> str:
    """Join messages, each behind its role."""
    if not isinstance(messages, list) or not messages:
        raise RowError(what="must be a list of messages", key=key)
    parts = []
    for index, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise RowError(what="must have a role", key=f"{key}[{index}]")
        called = message.get("tool_calls")
        parts.append(f"<{message['role']}>{_content(message.get('content'))}{_plain(called) if called else ''}")
    return "".join(parts)


def _content(content: Any) -> str:
    """Return the text of a message; pictures and sounds have none."""
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def _tools(row: dict[str, Any]) -> str:
    """Return the tools of a request as text; chat templates put them before the messages."""
    return _plain(row["tools"]) if row.get("tools") else ""


def _plain(value: Any) -> str:
    """Write a value in one way, however it was spaced."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _most_output(payload: Any) -> int:
    """Return the most tokens that a payload asks for; 0 where it does not say [tokens]."""
    asked = payload if isinstance(payload, dict) else {}
    limits = (asked.get(key) for key in ("max_completion_tokens", "max_tokens"))
    return next((limit for limit in limits if type(limit) is int and limit > 0), 0)
