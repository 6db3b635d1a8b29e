"""Time many sizings through the Python API: no two requests alike, the same ones on every run.

::

    python benchmarks/sweep.py [--count 10000] [--profile]
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
from time import perf_counter
from typing import TYPE_CHECKING

import kvplan
from kvplan import NoProfileFitsError, Request

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvplan.schema.request import KvDtype, SoftwareChoice, Survive

MODELS = (
    "openai/gpt-oss-120b",
    "meta-llama/Llama-3.3-70B-Instruct",
    "deepseek-ai/DeepSeek-V3",
    "Qwen/Qwen3.5-397B-A17B",
    "google/gemma-3-27b-it",
    "meta-llama/Meta-Llama-3.1-8B",
    "moonshotai/Kimi-K2-Instruct",
)
"""Windows, plain GQA, MLA, a recurrent hybrid, a small and a very large model."""
SURVIVE: tuple[Survive | None, ...] = (None, "node", None, "node+drive", None, "2-nodes", None, "3-nodes")
"""Half of the requests ask for no tolerance, which is the default."""
FLEETS = (3, 8, 16, 32, 48, 64, 80, 96, 128, 160, 200, 256, 272, 300, 384, 512, 768, 1_000, 2_048)
"""GPUs, every published range and every gap between them included."""
GPU_TYPES = ("rtx-pro-6000", "h200", "b200")
DTYPES: tuple[KvDtype, ...] = ("bf16", "fp8")
SOFTWARE: tuple[SoftwareChoice, ...] = ("reference", "current")
LONGEST_CONTEXT = 126_976
CONTEXT_STEP = 7_919
"""Shares no factor with the longest context, so every length is visited before one comes again."""


def requests(count: int) -> Iterator[Request]:
    """Yield requests over models, contexts, fleets, tolerance, GPU types, KV dtypes and software sets.

    Parameters
    ----------
    count
        How many [1].
    """
    for index in range(count):
        yield Request(
            model=MODELS[index % len(MODELS)],
            context_tokens=1_024 + index * CONTEXT_STEP % LONGEST_CONTEXT,
            gpus=FLEETS[index % len(FLEETS)],
            survive=SURVIVE[index % len(SURVIVE)],
            gpu=GPU_TYPES[index // 2 % len(GPU_TYPES)],
            kv_dtype=DTYPES[index // 3 % len(DTYPES)],
            software=SOFTWARE[index // 5 % len(SOFTWARE)],
        )


def sweep(count: int) -> dict[str, int]:
    """Size every request and count which profile came out; the catalogue is looked up anew each time.

    Parameters
    ----------
    count
        How many requests [1].
    """
    outcomes: dict[str, int] = {}
    for request in requests(count):
        try:
            name = kvplan.size(request).profile.name
        except NoProfileFitsError:
            name = "none fits"
        outcomes[name] = outcomes.get(name, 0) + 1
    return outcomes


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the sweep and print its time."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=10_000, help="sizings to run")
    parser.add_argument("--profile", action="store_true", help="print where the time goes; slower")
    options = parser.parse_args(arguments)
    profiler = cProfile.Profile()
    if options.profile:
        profiler.enable()
    start = perf_counter()
    outcomes = sweep(options.count)
    seconds = perf_counter() - start
    profiler.disable()
    print(f"{options.count:,} sizings in {seconds:.2f} s: {options.count / seconds:,.0f} a second")
    print(", ".join(f"{name} {number:,}" for name, number in sorted(outcomes.items())))
    if options.profile:
        pstats.Stats(profiler).sort_stats("tottime").print_stats(30)


if __name__ == "__main__":
    main()
