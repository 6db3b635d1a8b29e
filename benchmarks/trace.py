"""Time the exact hit curve of request traces, beside other programs where they are installed.

::

    python benchmarks/trace.py [--trace FILE.jsonl.xz] [--requests 1000000] [--peers 0.1]

Every row is one process of its own, so that memory is that row's alone: the prompts and what the pass adds to them.
Without a trace, generated prompts are timed. libcachesim counts one size of the cache; kvplan counts all.
"""

from __future__ import annotations

import argparse
import json
import lzma
import resource
import subprocess
import sys
from array import array
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

from kvplan.core.reuse.curve import capacity_for
from kvplan.core.reuse.distances import stack_distances
from kvplan.core.reuse.prompt import Prompt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BLOCK_TOKENS = 512
FINE_TOKENS = 16
DAY_S = 86_400
SESSION_TURNS = 8
"""Turns of a session of the synthetic day."""
FIRST_BLOCKS, TURN_BLOCKS = 10, 4
"""Blocks of a first turn, and blocks that each later one adds: 24 on average, as in the conversation trace."""
SESSIONS_AT_ONCE = 512
"""Sessions whose turns come in between each other."""
SIMULATOR_MODEL = "llama-3.1-70b"
"""Its bytes for a token turn the simulator's budget into blocks; the time does not depend on it."""


def traced(path: Path, block_tokens: int) -> Iterator[Prompt]:
    """Yield the prompts of a Mooncake trace, its blocks cut into smaller ones.

    Parameters
    ----------
    path
        JSON lines in xz.
    block_tokens
        Tokens of a block [tokens].
    """
    parts = BLOCK_TOKENS // block_tokens
    with lzma.open(path, "rt") as lines:
        for line in lines:
            row = json.loads(line)
            tokens = row["input_length"]
            blocks = chain.from_iterable(range(block * parts, block * parts + parts) for block in row["hash_ids"])
            yield Prompt(row["timestamp"] / 1_000, array("q", list(blocks)[: -(-tokens // block_tokens)]), tokens)


def synthetic_day(requests: int, block_tokens: int) -> Iterator[Prompt]:
    """Yield the requests of a day: sessions that grow, the turns of many of them mixed.

    Parameters
    ----------
    requests
        How many [requests].
    block_tokens
        Tokens of a block [tokens].
    """
    parts = BLOCK_TOKENS // block_tokens
    number = 0
    sessions: list[list[int]] = [[] for _ in range(SESSIONS_AT_ONCE)]
    for request in range(requests):
        # A step that shares no factor with the number of sessions visits them all, some sooner than others.
        blocks = sessions[request * 331 % SESSIONS_AT_ONCE]
        if len(blocks) >= (FIRST_BLOCKS + (SESSION_TURNS - 1) * TURN_BLOCKS) * parts:
            blocks.clear()
        new = (TURN_BLOCKS if blocks else FIRST_BLOCKS) * parts
        blocks.extend(range(number, number + new))
        number += new
        yield Prompt(request * DAY_S / requests, array("q", blocks), len(blocks) * block_tokens)


def resident_bytes() -> int:
    """Return the most memory that this process ever had [B]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def time_kvplan(prompts: Sequence[Prompt], block_tokens: int) -> dict[str, Any]:
    """Time the pass and the size that 90 % of the hits need.

    Parameters
    ----------
    prompts
        The trace.
    block_tokens
        Tokens of a block [tokens].
    """
    before_bytes = resident_bytes()
    start, start_cpu = perf_counter(), process_time()
    found = stack_distances(prompts, block_tokens)
    capacity_for(found.whole, 0.9)
    return {
        "accesses": found.whole.blocks,
        "unique": found.unique_blocks,
        "wall_s": perf_counter() - start,
        "cpu_s": process_time() - start_cpu,
        "added_bytes": resident_bytes() - before_bytes,
    }


def time_libcachesim(prompts: Sequence[Prompt], share: float) -> dict[str, Any]:
    """Time one LRU cache of a share of the unique blocks, request by request.

    Parameters
    ----------
    prompts
        The trace.
    share
        Size over unique blocks [1].
    """
    import libcachesim  # noqa: PLC0415 - a peer, perhaps not installed

    blocks = [block for prompt in prompts for block in reversed(prompt.blocks)]
    unique = len(set(blocks))
    before_bytes = resident_bytes()
    cache, request = libcachesim.LRU(max(round(share * unique), 1)), libcachesim.Request()
    request.obj_size = 1
    start, start_cpu = perf_counter(), process_time()
    for block in blocks:
        request.obj_id = block
        cache.get(request)
    return {
        "accesses": len(blocks),
        "unique": unique,
        "wall_s": perf_counter() - start,
        "cpu_s": process_time() - start_cpu,
        "added_bytes": resident_bytes() - before_bytes,
    }


def row(name: str, timed: dict[str, Any]) -> str:
    """Return a line of the table.

    Parameters
    ----------
    name
        What was timed.
    timed
        What came out.
    """
    rate = timed["accesses"] / 1e6
    per_million_mb = timed["added_bytes"] / timed["unique"]
    return (
        f"{name:<44} {timed['accesses']:>12,} {timed['unique']:>11,} {timed['wall_s']:>8.2f} {timed['cpu_s']:>8.2f}"
        f" {rate / timed['wall_s']:>9.2f} {rate / timed['cpu_s']:>9.2f} {per_million_mb:>9.0f}"
    )


def work(options: argparse.Namespace) -> None:
    """Time one case and print its line.

    Parameters
    ----------
    options
        The command line.
    """
    tokens = options.block_tokens
    trace = options.trace[0] if options.trace else None
    prompts = list(traced(trace, tokens) if trace else synthetic_day(options.requests, tokens))
    if options.scatter:
        mask, factor = (1 << 64) - 1, 0x9E37_79B9_7F4A_7C15
        prompts = [p._replace(blocks=tuple((b + 1) * factor & mask for b in p.blocks)) for p in prompts]
    label = f"{trace.name.split('.')[0] if trace else 'synthetic day'}, {tokens} tokens"
    if options.case == "libcachesim":
        print(row(f"libcachesim LRU, one size: {label}", time_libcachesim(prompts, options.peers)))
    else:
        print(row(f"kvplan{', hashes' * options.scatter}: {label}", time_kvplan(prompts, tokens)))


def cases(options: argparse.Namespace) -> Iterator[list[str]]:
    """Yield the arguments of each case.

    Parameters
    ----------
    options
        The command line.
    """
    for trace in options.trace or []:
        for tokens in (BLOCK_TOKENS, FINE_TOKENS):
            yield ["kvplan", "--trace", str(trace), "--block-tokens", str(tokens)]
        yield ["kvplan", "--trace", str(trace), "--block-tokens", str(FINE_TOKENS), "--scatter"]
        if find_spec("libcachesim"):
            yield ["libcachesim", "--trace", str(trace), "--block-tokens", str(BLOCK_TOKENS)]
    yield ["kvplan", "--requests", str(options.requests), "--block-tokens", str(BLOCK_TOKENS)]


def time_simulator(trace: Path) -> str:
    """Time KVCache.AI's simulator on one LRU size, the reading of its input included, and return what to print.

    Parameters
    ----------
    trace
        JSON lines in xz.
    """
    command = which("kvcache-simulator")
    label = f"kvcache-simulator LRU, one size: {trace.name.split('.')[0]}"
    if not command:
        return f"{label}: not installed"
    with TemporaryDirectory() as folder:
        plain = Path(folder, "trace.jsonl")
        plain.write_bytes(lzma.decompress(trace.read_bytes()))
        run = [command, "run", "--trace", str(plain), "--model", SIMULATOR_MODEL, "--block-size", str(BLOCK_TOKENS)]
        start = perf_counter()
        subprocess.run(
            [*run, "--budgets-gib", "1000", "--policies", "lru", "--no-progress"], check=True, stdout=subprocess.DEVNULL
        )
        return f"{label}: {perf_counter() - start:.2f} s wall, reading and building included"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run every case in a process of its own and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trace", type=Path, action="append", help="a Mooncake trace in xz; may be given again")
    parser.add_argument("--requests", type=int, default=1_000_000, help="requests of the synthetic day")
    parser.add_argument("--case", choices=("kvplan", "libcachesim"), help=argparse.SUPPRESS)
    parser.add_argument("--block-tokens", type=int, default=BLOCK_TOKENS, help=argparse.SUPPRESS)
    parser.add_argument("--scatter", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--peers", type=float, default=0.1, help="size of the peers' cache over the unique blocks")
    options = parser.parse_args(arguments)
    if options.case:
        work(options)
        return
    print(
        f"{'':<44} {'accesses':>12} {'unique':>11} {'wall s':>8} {'cpu s':>8} {'M/s wall':>9} {'M/s cpu':>9}"
        f" {'MB/M uniq':>9}"
    )
    for case in cases(options):
        subprocess.run([sys.executable, __file__, "--case", *case, "--peers", str(options.peers)], check=True)
    for trace in options.trace or []:
        print(time_simulator(trace))


if __name__ == "__main__":
    main()
