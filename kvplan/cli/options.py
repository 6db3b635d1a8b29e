"""Options that several verbs share, each with its help in one place."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        help="Catalogue id, alias or unique fragment, or the path of a Hugging Face config.json.",
        show_default=False,
    ),
]
Context = Annotated[
    str, typer.Option("--context", "-c", help="Context length in tokens: 131072, 128Ki, 130k.", show_default=False)
]
Tp = Annotated[
    str | None,
    typer.Option("--tp", help="GPUs per engine. Default: the fewest that hold the weights and one context."),
]
KvDtype = Annotated[
    str, typer.Option("--kv-dtype", help="bf16, fp16, fp8, int8, int4, nvfp4 or fp8_ds_mla.", metavar="DTYPE")
]
Utilisation = Annotated[
    str, typer.Option("--gpu-memory-utilisation", help="Share of GPU memory that vLLM may use.", metavar="SHARE")
]
Software = Annotated[
    str, typer.Option("--software", help="Software set: reference (validated) or current (newest).", metavar="SET")
]
CacheBackend = Annotated[
    str | None,
    typer.Option(
        "--cache-backend",
        help="vllm-fs, llmd-fs, lmcache-fs, lmcache-gds, kvbm-disk or kvbm-g4. Default: the software set's.",
        metavar="NAME",
    ),
]
ChunkTokens = Annotated[str | None, typer.Option("--chunk-tokens", help="Tokens per stored chunk.")]
CheckpointTokens = Annotated[
    str | None, typer.Option("--checkpoint-tokens", help="Tokens between checkpoints of recurrent state.")
]
HybridManager = Annotated[
    bool | None,
    typer.Option("--hybrid-manager/--no-hybrid-manager", help="vLLM's hybrid KV cache manager. Default: the set's."),
]
Params = Annotated[
    str | None, typer.Option("--params", help="Parameters of the model, such as 70B, where nothing else tells.")
]
ActiveParams = Annotated[
    str | None, typer.Option("--active-params", help="Parameters used per token, for a mixture of experts.")
]
BeyondMax = Annotated[
    bool, typer.Option("--beyond-max", help="Insist on a context longer than the model's maximum.")
]
CatalogueDirs = Annotated[
    list[Path] | None,
    typer.Option(
        "--catalogue", help="Directory with user tables that extend the catalogue; repeatable. Also KVPLAN_CATALOGUE."
    ),
]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to save to.", show_default=False)]


def format_option(*formats: str) -> str:
    """Return the help of `--format` for a verb."""
    return f"One of {', '.join(formats)}."
