"""Time the files of a deployment, part by part and as a whole, for the reference system and for 256 storage nodes.

::

    python benchmarks/render.py
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from sites import deployment_of

from kvplan.cli.tree_out import write_tree
from kvplan.site.render import PARTS, render_tree


def main() -> None:
    """Render each deployment."""
    for nodes in (8, 256):
        start = perf_counter()
        deployment = deployment_of(nodes)
        print(f"{nodes} storage nodes, {len(deployment.servers)} servers, {len(deployment.switches)} switches")
        print(f"  {'together':10} {perf_counter() - start:7.3f} s")
        for name, part in PARTS.items():
            start = perf_counter()
            count = Counter(file.path.partition("/")[0] for file in part(deployment)).total()
            print(f"  {name:10} {perf_counter() - start:7.3f} s {count:6,} files")
        start = perf_counter()
        tree = render_tree(deployment)
        print(f"  {'tree':10} {perf_counter() - start:7.3f} s {len(tree):6,} files")
        with TemporaryDirectory() as directory:
            start = perf_counter()
            write_tree(tree, Path(directory))
            print(f"  {'on disk':10} {perf_counter() - start:7.3f} s")


if __name__ == "__main__":
    main()
