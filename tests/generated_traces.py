"""Request traces of the structure that public ones have: sessions that grow, over prefixes that many of them share.

As in the Mooncake traces, an id stands for a block *and* all before it, only the last block of a prompt may be partial,
ids cover the prompt alone, and some prompts are asked again unchanged.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final, NamedTuple

SESSION_GAP_S: Final = 1.0
TURN_GAP_S: Final = 45.0
SYSTEM_PROMPTS: Final = 3
DOCUMENTS: Final = 24
GOES_ON: Final = 0.7
ASKS_AGAIN: Final = 0.1


class _Session(NamedTuple):
    """A conversation: what it shares with others, and how long those parts are [tokens]."""

    number: int
    system: int
    system_tokens: int
    document: int
    document_tokens: int


def generated_trace(requests: int, *, seed: int = 0, block_tokens: int = 512) -> list[dict[str, Any]]:
    """Return requests in Mooncake's form, the same ones for the same arguments.

    Another block size cuts the very same prompts into other blocks.

    Parameters
    ----------
    requests
        How many [requests].
    seed
        Chooses the trace [1].
    block_tokens
        Tokens of a block [tokens].
    """
    rng = Random(seed)  # noqa: S311 - a trace, not a secret
    turns: list[tuple[int, _Session, int, int]] = []
    start_s = 0.0
    for number in range(requests):
        start_s += rng.expovariate(1 / SESSION_GAP_S)
        turns += _turns(_session(number, rng), start_s, rng)
    turns.sort()
    ids: dict[tuple[Any, ...], int] = {}
    return [
        {
            "timestamp": timestamp,
            "input_length": tokens,
            "output_length": output,
            "hash_ids": [ids.setdefault(key, len(ids)) for key in _keys(session, tokens, block_tokens)],
        }
        for timestamp, session, tokens, output in turns[:requests]
    ]


def _session(number: int, rng: Random) -> _Session:
    # Few system prompts and many documents, the first of each far more popular than the last.
    system = min(int(rng.expovariate(1.2)), SYSTEM_PROMPTS - 1)
    document = min(int(rng.paretovariate(0.7)) - 1, DOCUMENTS)
    has_document = rng.random() < 0.6 and document < DOCUMENTS
    return _Session(
        number=number,
        system=system,
        system_tokens=700 + 900 * system,
        document=document,
        document_tokens=3_000 + 1_111 * document if has_document else 0,
    )


def _turns(session: _Session, start_s: float, rng: Random) -> list[tuple[int, _Session, int, int]]:
    """Return the requests of a session: time [ms], session, prompt and answer [tokens]."""
    turns = []
    time_s = start_s
    tokens = session.system_tokens + session.document_tokens
    while True:
        tokens += max(int(rng.lognormvariate(6.0, 1.2)), 1)
        output = max(int(rng.lognormvariate(5.0, 0.8)), 1)
        turns.append((int(time_s * 1_000), session, tokens, output))
        if rng.random() < ASKS_AGAIN:
            turns.append((int((time_s + rng.expovariate(1 / TURN_GAP_S)) * 1_000), session, tokens, output))
        if rng.random() > GOES_ON:
            return turns
        tokens += output
        time_s += rng.expovariate(1 / TURN_GAP_S)


def _keys(session: _Session, tokens: int, block_tokens: int) -> list[tuple[Any, ...]]:
    """Return what tells each block of a prompt, and all before it, from every other."""
    system_end = session.system_tokens
    document_end = system_end + session.document_tokens
    keys: list[tuple[Any, ...]] = []
    for position in range(tokens // block_tokens):
        end = (position + 1) * block_tokens
        if end <= system_end:
            keys.append(("system", session.system, position))
        elif end <= document_end:
            keys.append(("document", session.system, session.document, position))
        else:
            keys.append(("session", session.number, position))
    if tokens % block_tokens:
        keys.append(("tail", session.number, tokens))
    return keys
