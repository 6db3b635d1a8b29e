"""Time whole processes against each other: Python doing nothing, kvplan's verbs, and hf-mem where it is installed.

::

    python benchmarks/startup.py [--rounds 15]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KVPLAN = (sys.executable, "-m", "kvplan")
REFERENCE = ("--model", "openai/gpt-oss-120b", "--context", "130k")
GEOMETRY = ("--nodes", "8", "--drives-per-node", "16", "--drive-tb", "7.68", "--code", "8+2P", "--block-mib", "4")
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "python -c pass": (sys.executable, "-c", "pass"),
    "kvplan --help": (*KVPLAN, "--help"),
    "kvplan size --format json": (*KVPLAN, "size", *REFERENCE, "--gpus", "128", "--format", "json"),
    "kvplan size": (*KVPLAN, "size", *REFERENCE, "--gpus", "128"),
    "kvplan kv": (*KVPLAN, "kv", *REFERENCE),
    "kvplan ece": (*KVPLAN, "ece", *GEOMETRY),
}
HF_MEM = "hf-mem --help"


def commands() -> dict[str, tuple[str, ...]]:
    """Return what is compared; hf-mem only when it is installed beside this interpreter."""
    hf_mem = Path(sys.executable).with_name("hf-mem")
    return {**COMMANDS, HF_MEM: (str(hf_mem), "--help")} if hf_mem.exists() else dict(COMMANDS)


def environment(cache: str) -> dict[str, str]:
    """Let every process keep and find its compiled modules, as an installed tool does."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"} | {
        "PYTHONPYCACHEPREFIX": cache
    }


def run_s(command: tuple[str, ...], variables: Mapping[str, str]) -> float:
    """Return the wall time [s] of one process that must succeed."""
    start = perf_counter()
    subprocess.run(command, env=variables, stdout=subprocess.DEVNULL, check=True)
    return perf_counter() - start


def measure(rounds: int) -> dict[str, list[float]]:
    """Run all commands by turns, so that whatever else the machine does hits them alike.

    Parameters
    ----------
    rounds
        Timed rounds [1]; one more before them fills the caches and does not count.

    Returns
    -------
    dict
        Wall times [s] by command.
    """
    compared = commands()
    times: dict[str, list[float]] = {name: [] for name in compared}
    with tempfile.TemporaryDirectory() as cache:
        variables = environment(cache)
        for command in compared.values():
            run_s(command, variables)
        for _ in range(rounds):
            for name, command in compared.items():
                times[name].append(run_s(command, variables))
    return times


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15, help="timed rounds")
    rounds = parser.parse_args(arguments).rounds
    times = measure(rounds)
    print(f"wall seconds of a whole process, {rounds} rounds by turns, Python {sys.version.split()[0]}\n")
    print(f"{'command':<28}{'median':>9}{'min':>9}{'max':>9}")
    for name, seconds in times.items():
        print(f"{name:<28}{statistics.median(seconds):>9.3f}{min(seconds):>9.3f}{max(seconds):>9.3f}")
    if HF_MEM not in times:
        print("\nhf-mem is not installed beside this interpreter: not compared")


if __name__ == "__main__":
    main()
