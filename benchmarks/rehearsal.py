"""Time a rehearsed deployment phase by phase, for racks of several sizes; as root, on a machine that does nothing else.

::

    sudo .venv/bin/python benchmarks/rehearsal.py
    sudo .venv/bin/python benchmarks/rehearsal.py --nodes 4 --nodes 8
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import kvplan
from kvplan.core.seal import sealed
from kvplan.render.data import record_json

FLEETS = {4: (4, "compact-4"), 8: (8, "standard-8"), 13: (16, "large-16")}
"""GPUs and profile by number of storage nodes."""


def rehearsed(nodes: int) -> dict[str, Any]:
    """Rehearse a deployment of so many storage nodes, twice.

    Parameters
    ----------
    nodes
        Storage nodes.

    Returns
    -------
    dict
        The result.
    """
    gpus, profile = FLEETS[nodes]
    request = kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=gpus, nodes=nodes, profile=profile)
    with tempfile.TemporaryDirectory() as directory:
        plan = Path(directory) / "plan.json"
        plan.write_text(record_json(sealed(kvplan.size(request))), encoding="utf-8")
        command = [sys.executable, "-m", "kvplan", "rehearse", str(plan), "--again", "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    """Rehearse every fleet and print a row for each run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, action="append", choices=FLEETS)
    print("| storage nodes | servers | run | rack s | preflight | switches | provision | base | storage | all |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for nodes in parser.parse_args().nodes or FLEETS:
        result = rehearsed(nodes)
        for run, phases in (("first", result["phases"]), ("second", result["second_run"]["phases"])):
            seconds = [phase["seconds"] for phase in phases]
            cells = [nodes, result["nodes"], run, result["seconds"], *seconds, round(sum(seconds), 1)]
            print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
