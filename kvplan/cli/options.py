"""Options that several verbs share, each with its help in one place."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")
STDOUT = Path("-")


def stdout_for_dash(output: Path | None) -> Path | None:
    """Take `-o -` for stdout, where a result goes without `-o` too."""
    return None if output == STDOUT else output


Model = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        help="Catalogue id, alias or unique fragment, or the path of a Hugging Face config.json.",
        show_default=False,
        metavar="NAME|FILE",
    ),
]
Context = Annotated[
    str,
    typer.Option(
        "--context", "-c", help="Context length in tokens: 131072, 128Ki, 130k.", show_default=False, metavar="TOKENS"
    ),
]
Tp = Annotated[
    str | None,
    typer.Option(
        "--tp", help="GPUs per engine. Default: the fewest that hold the weights and one context.", metavar="N"
    ),
]
KvDtype = Annotated[
    str,
    typer.Option("--kv-dtype", help="bf16 (also: auto), fp16, fp8, int8, int4, nvfp4 or fp8_ds_mla.", metavar="DTYPE"),
]
CompareBackends = Annotated[
    bool,
    typer.Option("--compare-backends", help="Show the tier beside Ceph, Lustre, DAOS and others instead of the Plan."),
]
Utilisation = Annotated[
    str,
    typer.Option(
        "--gpu-memory-utilisation",
        "--gpu-memory-utilization",
        help="Share of GPU memory that vLLM may use.",
        metavar="SHARE",
    ),
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
ChunkTokens = Annotated[str | None, typer.Option("--chunk-tokens", help="Tokens per stored chunk.", metavar="TOKENS")]
CheckpointTokens = Annotated[
    str | None,
    typer.Option("--checkpoint-tokens", help="Tokens between checkpoints of recurrent state.", metavar="TOKENS"),
]
HybridManager = Annotated[
    bool | None,
    typer.Option("--hybrid-manager/--no-hybrid-manager", help="vLLM's hybrid KV cache manager. Default: the set's."),
]
Params = Annotated[
    str | None,
    typer.Option("--params", help="Parameters of the model, such as 70B, where nothing else tells.", metavar="COUNT"),
]
ActiveParams = Annotated[
    str | None,
    typer.Option("--active-params", help="Parameters used per token, for a mixture of experts.", metavar="COUNT"),
]
BeyondMax = Annotated[bool, typer.Option("--beyond-max", help="Insist on a context longer than the model's maximum.")]
Gpus = Annotated[str, typer.Option("--gpus", "-g", help="GPUs of the whole fleet.", show_default=False, metavar="N")]
Gpu = Annotated[str, typer.Option("--gpu", help="GPU type, from the catalogue.", metavar="NAME")]
GpuToCheck = Annotated[
    str | None,
    typer.Option("--gpu", help="GPU type; checks what its memory holds.", show_default=False, metavar="NAME"),
]
Concurrency = Annotated[str, typer.Option("--concurrency", help="Contexts in flight on one engine.", metavar="N")]
EngineConcurrency = Annotated[
    str | None, typer.Option("--concurrency", help="Contexts in flight per engine. Default: 7, assumed.", metavar="N")
]
Profile = Annotated[str | None, typer.Option("--profile", help="Force a profile, by name.", metavar="NAME")]
Nodes = Annotated[str | None, typer.Option("--nodes", help="Force a node count.", metavar="N")]
Code = Annotated[str | None, typer.Option("--code", help="Use this erasure code, such as 8+3P.", metavar="CODE")]
Survive = Annotated[
    str | None,
    typer.Option("--survive", help="Required tolerance: node, node+drive, 2-nodes or 3-nodes.", metavar="WHAT"),
]
Oversubscription = Annotated[
    str, typer.Option("--oversubscription", help="Leaf bandwidth down to up, 1 to 16.", metavar="RATIO")
]
VllmVersion = Annotated[
    str | None,
    typer.Option("--vllm-version", help="vLLM release, such as 0.14.1, with its own defaults.", metavar="VERSION"),
]
AvailableGib = Annotated[
    str | None,
    typer.Option(
        "--available-gib", help="'Available KV cache memory' of one GPU; predicts vLLM's log lines.", metavar="GIB"
    ),
]
MaxModelLen = Annotated[
    str | None,
    typer.Option("--max-model-len", help="The engine's longest request. Default: the context.", metavar="TOKENS"),
]
MaxBatchedTokens = Annotated[
    str,
    typer.Option(
        "--max-batched-tokens", help="vLLM's max_num_batched_tokens; matters to window layers.", metavar="TOKENS"
    ),
]
CatalogueDirs = Annotated[
    list[Path] | None,
    typer.Option(
        "--catalogue",
        help="Directory with user tables that extend the catalogue; repeatable. Also KVPLAN_CATALOGUE.",
        metavar="DIR",
    ),
]
ProfileDirs = Annotated[
    list[Path] | None,
    typer.Option(
        "--profiles", help="Directory with further profiles; repeatable. Also KVPLAN_PROFILES.", metavar="DIR"
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="File to save to; its ending chooses the format. - is stdout.",
        show_default=False,
        metavar="FILE",
        callback=stdout_for_dash,
    ),
]
SavedPlan = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="File to save the Plan to, as JSON. - prints it instead of the table.",
        show_default=False,
        metavar="FILE",
    ),
]
Format = Annotated[str, typer.Option("--format", "-f", help="table, json, yaml, md or csv.", metavar="FORMAT")]


def dtype_of(name: str) -> str:
    """Return the KV type that a name stands for: `auto`, vLLM's default, is the model's own, 16 bits wide."""
    return {"auto": "bf16", "bfloat16": "bf16", "float16": "fp16"}.get(name, name)


def gathered(flags: type[T], given: Mapping[str, Any]) -> T:
    """Make a record of flags from the parameters of a verb, which are called like its fields.

    Parameters
    ----------
    flags
        A data class.
    given
        The parameters by name; a field that the verb has no option for keeps its default.

    Returns
    -------
    T
        The record.
    """
    # The check for a data class at run time is all that `fields` asks; its type is private to typeshed.
    names = (field.name for field in fields(flags))  # type: ignore[arg-type]
    return flags(**{name: given[name] for name in names if name in given})


def examples(*commands: str) -> str:
    r"""Write the examples that end a help text, each as it is typed; `\b` keeps them from being wrapped."""
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)
