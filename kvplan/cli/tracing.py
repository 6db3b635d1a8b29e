"""What is said of a trace on the command line: where it is, how it is read, and what is asked of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help="Model whose KV cache it is: catalogue id, alias, fragment or config.json. Without it, no bytes.",
        show_default=False,
        metavar="NAME|FILE",
    ),
]
TraceFile = Annotated[
    Path, typer.Argument(help="The trace, packed or not (.gz, .xz, .zst); - is stdin.", show_default=False)
]
BlockTokens = Annotated[
    str | None,
    typer.Option(
        "--block-tokens",
        help="Tokens of a block in the trace. Default: 512; Qwen-Bailian: 16.",
        show_default=False,
        metavar="TOKENS",
    ),
]
CharactersPerToken = Annotated[
    str, typer.Option("--characters-per-token", help="For traces that hold texts.", metavar="NUMBER")
]
Target = Annotated[
    str, typer.Option("--target", help="Share of the hits of an endless cache that is wanted.", metavar="SHARE")
]
FleetScale = Annotated[
    str, typer.Option("--fleet-scale", help="Times that the fleet has the traced traffic.", metavar="K")
]
TierSizes = Annotated[
    list[str] | None,
    typer.Option(
        "--tier-tb",
        help="Size in TB of a tier above the shared one, all engines together; repeatable, the fastest first.",
        show_default=False,
        metavar="TB",
    ),
]
Instances = Annotated[
    str,
    typer.Option(
        "--instances", help="Engines that serve the traced traffic, over which those tiers are spread.", metavar="N"
    ),
]
Save = Annotated[
    Path | None,
    typer.Option(
        "--save",
        help="File for the curve: .svg (drawing), .csv (points) or .json (everything).",
        show_default=False,
        metavar="FILE",
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Fail where a line cannot be used.")]
