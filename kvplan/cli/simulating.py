"""What is said of a simulation on the command line: what comes, what is cached, and what happens meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def _option(name: str, help_: str, metavar: str, *, shown: bool = False) -> Any:
    """Make an option."""
    return typer.Option(name, help=help_, show_default=shown, metavar=metavar)


TraceFile = Annotated[
    Path | None, _option("--trace", "Requests to replay, in any form that `kvplan trace` reads.", "FILE")
]
BlockTokens = Annotated[str | None, _option("--block-tokens", "Tokens of a block in the trace.", "TOKENS")]
Workload = Annotated[
    str | None,
    _option(
        "--workload",
        "What the fleet serves: chat, rag, agent, docqa, batch, or a YAML file. Default: the Plan's, if it has one.",
        "NAME|FILE",
    ),
]
Rate = Annotated[str | None, _option("--rate", "Requests a second of the whole fleet, at random.", "NUMBER")]
PromptTokens = Annotated[
    str | None,
    _option("--prompt-tokens", "Mean length of a prompt. Default: the workload's, or the Plan's context.", "TOKENS"),
]
PromptSpread = Annotated[
    str | None,
    _option("--spread", "Standard deviation of the logarithm of the length. Default: the workload's, or 0.", "SIGMA"),
]
HitShare = Annotated[
    str | None,
    _option("--hit-share", "Share of each prompt that is cached. Default: the workload's, or the guidance's.", "SHARE"),
]
TierShare = Annotated[
    str | None,
    _option("--tier-share", "Share of hits that only the shared tier has. Default: the workload's, or 1.", "SHARE"),
]
Start = Annotated[
    str | None,
    _option("--start", "cold: nothing is cached at first; warm: all is. Default: cold with a trace of blocks.", "HOW"),
]
ReuseGap = Annotated[
    str | None,
    _option(
        "--reuse-gap",
        "Seconds until a prefix comes again, for a cold start. Default: the workload's, or 300.",
        "SECONDS",
    ),
]
Duration = Annotated[
    str | None, _option("--duration", "Seconds of requests. Default: 600, or the whole trace.", "SECONDS")
]
Speed = Annotated[str, _option("--speed", "Times as fast as traced that requests come.", "K", shown=True)]
Routing = Annotated[
    str | None,
    _option("--routing", "sticky, random or round-robin. Default: the workload's, or sticky.", "ROUTING"),
]
Placement = Annotated[
    str,
    _option("--placement", "striped over storage nodes, or each prompt on one node.", "WHERE", shown=True),
]
Engines = Annotated[str | None, _option("--engines", "Engines. Default: those of the Plan.", "N")]
LocalTokens = Annotated[
    str | None, _option("--local-tokens", "Tokens cached in each engine. Default: its GPU memory.", "TOKENS")
]
StreamRate = Annotated[
    str | None, _option("--stream-gb-per-s", "GB/s that one engine reads at most. Default: its back end.", "GB")
]
Prefill = Annotated[
    str | None, _option("--prefill", "c0 in ms, a in us/token, b in ns/token^2, such as 36,17.3,0.313.", "C0,A,B")
]
Derate = Annotated[
    str | None,
    _option("--derate", "Times as long as tabled that prefills take. Default: the catalogue's.", "NUMBER"),
]
Fail = Annotated[
    list[str] | None,
    _option("--fail", "drive, node or leaf lost at a second; nothing@T repairs. Repeatable.", "WHAT@T"),
]
Burst = Annotated[str | None, _option("--burst", "Requests that come all at once at a second.", "N@T")]
Seed = Annotated[str, _option("--seed", "Equal seeds give equal runs.", "N", shown=True)]
