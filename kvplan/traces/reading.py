"""Reads a trace: tells its form by its content, takes what can be used, and keeps what is wrong with the rest.

`.gz`, `.xz` and `.zst` are unpacked, `-` is stdin. Text is not held: a line is gone once its request is made.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import chain, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Protocol

from kvplan.errors import InputError
from kvplan.traces import sessions
from kvplan.traces.blocks import Blocks
from kvplan.traces.json_rows import kind_of, row_of
from kvplan.traces.malformed import Malformed, RowError
from kvplan.traces.opening import open_trace
from kvplan.traces.records import Trace
from kvplan.traces.rows import BAILIAN_BLOCK_TOKENS, MOONCAKE_BLOCK_TOKENS, BailianRows, MooncakeRows
from kvplan.traces.tables import columns_of, table_requests
from kvplan.traces.texts import PayloadSessions, TextBlocks, TextRows
from kvplan.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from kvplan.traces.opening import Progress, TraceFile
    from kvplan.traces.records import TraceKind, TraceRequest

    Lines = Iterator[tuple[int, bytes]]

FORMS: Final = (
    "Mooncake JSONL (timestamp, input_length, output_length, hash_ids), Qwen-Bailian JSONL (chat_id beside those), "
    "AIPerf JSONL or inputs.json, Azure CSV (TIMESTAMP,ContextTokens,GeneratedTokens), "
    "BurstGPT CSV (Timestamp, Request tokens, Response tokens)"
)
_LOOKED_AT: Final = 20
"""Lines among which one must tell the form: the first may be the one that is broken."""
_NO_IDS: Final = (
    "which prompts share a prefix: the trace has lengths and arrivals only, no block ids. Hit ratio, working set, "
    "capacity and reads from the tier need ids"
)
_NO_OUTPUT_REUSE: Final = (
    "reuse of the answers' KV: ids cover prompts only, so that an answer comes back under new ids and reuse is "
    "understated where the KV of answers is kept"
)
_NO_TIMES: Final = "rates and retention: the trace has no arrival times, only an order"
_NO_TOKENIZER: Final = "exact lengths and blocks: the trace holds texts, and tokens are counted by characters"


class Rows(Protocol):
    """What reads the rows of one form."""

    def requests(self, row: dict[str, Any]) -> Iterable[TraceRequest]:
        """Read a row."""


_CHAINED: Final[dict[TraceKind, Callable[[Blocks], Rows]]] = {
    "bailian": BailianRows,
    "mooncake": MooncakeRows,
    "aiperf-sessions": sessions.SessionRows,
}


@dataclass(slots=True)
class _Read:
    """What has been read so far, in the order in which it stood."""

    kind: TraceKind
    requests: list[TraceRequest]
    malformed: Malformed
    blocks: Blocks | None = None
    block_tokens: int | None = None
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_trace(
    path: str | Path,
    *,
    block_tokens: int | None = None,
    characters_per_token: float = 4.0,
    progress: Progress | None = None,
) -> Trace:
    """Read a trace.

    Parameters
    ----------
    path
        The file, packed or not; `-` is stdin.
    block_tokens
        Tokens of a block [tokens]; 512 when absent, 16 for Qwen-Bailian. What the ids say is checked against it.
    characters_per_token
        Characters of a token [1], for traces that hold texts.
    progress
        Called now and then with the bytes read and their total [B].

    Returns
    -------
    Trace
        The requests by arrival, the first at 0 s, and what is wrong with or missing from the trace.

    Raises
    ------
    InputError
        When the file cannot be read, its form is not known, no line of it can be used, or its ids are of blocks of
        another size.
    """
    with open_trace(path) as file:
        read = _read(file, block_tokens, characters_per_token, progress)
    _check(read)
    return _trace(read)


def _read(file: TraceFile, block_tokens: int | None, characters: float, progress: Progress | None) -> _Read:
    """Tell the form, and read in it."""
    lines = file.lines(progress)
    head = list(islice(lines, _LOOKED_AT))
    if not head:
        raise InputError.single(file.name, "is empty", allowed=FORMS)
    header = head[0][1].decode(errors="replace")
    form, malformed = columns_of(header), Malformed(file.name)
    if form is not None:
        requests = list(table_requests(form, header, chain(head[1:], lines), malformed))
        return _Read(form.kind, requests, malformed, unknown=(_NO_IDS,))
    kind = next((kind for _, line in head if (kind := kind_of(line))), None)
    size = block_tokens or (BAILIAN_BLOCK_TOKENS if kind == "bailian" else MOONCAKE_BLOCK_TOKENS)
    if kind == "aiperf-inputs" or (kind is None and header.startswith("{")):
        content = b"\n".join((*(line for _, line in head), file.rest()))
        return _document(content, malformed, TextBlocks(size, characters), size, characters)
    if kind is None:
        raise InputError.single(file.name, "is no trace that kvplan knows", allowed=FORMS)
    return _rows(kind, chain(head, lines), malformed, size, characters)


def _rows(kind: TraceKind, lines: Lines, malformed: Malformed, size: int, characters: float) -> _Read:
    """Read lines of JSON, all in one form."""
    if kind == "aiperf-text":
        rows: Rows = TextRows(TextBlocks(size, characters))
        requests = list(_row_requests(rows, lines, malformed))
        return _Read(kind, requests, malformed, None, size, (_NO_TOKENIZER,), (_characters(characters),))
    if kind == "lengths":
        requests = list(_row_requests(MooncakeRows(None), lines, malformed))
        return _Read(kind, requests, malformed, unknown=(_NO_IDS,))
    blocks = Blocks(size)
    rows = _CHAINED[kind](blocks)
    requests = list(_row_requests(rows, lines, malformed))
    notes = sessions.NOTES if kind == "aiperf-sessions" else ()
    return _Read(kind, requests, malformed, blocks, size, (_NO_OUTPUT_REUSE,), notes)


def _row_requests(rows: Rows, lines: Lines, malformed: Malformed) -> Iterator[TraceRequest]:
    """Read line by line."""
    for number, line in lines:
        try:
            yield from rows.requests(row_of(line))
        except RowError as error:
            malformed.add(number, error)


def _document(content: bytes, malformed: Malformed, cutter: TextBlocks, size: int, characters: float) -> _Read:
    """Read an `inputs.json`, which is one document on however many lines."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    entries = document.get("data") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise InputError.single(malformed.name, "is no trace that kvplan knows", allowed=FORMS)
    rows = PayloadSessions(cutter)
    requests: list[TraceRequest] = []
    for index, entry in enumerate(entries):
        try:
            requests += rows.requests(entry if isinstance(entry, dict) else {})
        except RowError as error:
            malformed.add(index + 1, RowError(what=error.what, key=f"data[{index}].{error.key}", allowed=error.allowed))
    return _Read("aiperf-inputs", requests, malformed, None, size, (_NO_TOKENIZER,), (_characters(characters),))


def _characters(characters: float) -> str:
    """Say how tokens were counted."""
    return f"a token is taken for {characters:g} characters (assumed); the model's tokenizer decides"


def _check(read: _Read) -> None:
    """Refuse a trace of which nothing can be used, and one whose blocks are of another size than thought."""
    name, blocks = read.malformed.name, read.blocks
    if blocks is not None and len(blocks.misfits) > blocks.fitting:
        likely = blocks.likely_size()
        what = f"its hash_ids are not of blocks of {blocks.block_tokens} tokens: {read.malformed.problems[0].what}"
        hint = f"they fit blocks of {likely}: --block-tokens {likely}" if likely else "--block-tokens says the size"
        raise InputError.single(name, what, hint=hint)
    if not read.requests:
        raise InputError(read.malformed.problems or InputError.single(name, "holds no request").problems)


def _trace(read: _Read) -> Trace:
    """Order the requests, let time begin with the first, and say what is not known."""
    requests, notes, unknown = read.requests, list(read.notes), list(read.unknown)
    late = sum(one.time_s > other.time_s for one, other in zip(requests, islice(requests, 1, None), strict=False))
    if late:
        requests.sort(key=attrgetter("time_s"))
        notes.append(f"{counted(late, 'request')} stood before an earlier one; all are taken by their arrival")
    start_s = requests[0].time_s
    timed = requests[-1].time_s > start_s
    if not timed:
        requests = [request._replace(time_s=float(index)) for index, request in enumerate(requests)]
        unknown.append(_NO_TIMES)
    elif start_s:
        requests = [request._replace(time_s=request.time_s - start_s) for request in requests]
    if read.blocks is not None and read.blocks.unhashed_tails:
        tails = counted(read.blocks.unhashed_tails, "request")
        notes.append(f"{tails} without an id for the last, partial block: it counts as never seen before")
    return Trace(
        name=read.malformed.name,
        kind=read.kind,
        requests=requests,
        block_tokens=read.block_tokens,
        timed=timed,
        malformed=read.malformed.count,
        problems=tuple(read.malformed.problems),
        unknown=tuple(unknown),
        notes=tuple(notes),
    )
