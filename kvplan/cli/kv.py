"""`kvplan kv`: KV bytes of a model, counted three ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kvplan.cli import options

if TYPE_CHECKING:
    from pathlib import Path

    from kvplan.cli.parsing import Options

EXAMPLES = (
    "Examples:  kvplan kv --model gpt-oss-120b --context 130k --concurrency 28 --gpu rtx-pro-6000   |   "
    "kvplan kv --model llama-3.1-8b --context 20000 --vllm-version 0.6.4 --available-gib 3.81"
)
_NAMES = {
    "model": "--model",
    "context_tokens": "--context",
    "concurrency": "--concurrency",
    "gpu": "--gpu",
    "tp": "--tp",
    "kv_dtype": "--kv-dtype",
    "gpu_memory_utilisation": "--gpu-memory-utilisation",
    "software": "--software",
    "cache_backend": "--cache-backend",
    "chunk_tokens": "--chunk-tokens",
    "checkpoint_tokens": "--checkpoint-tokens",
    "vllm_version": "--vllm-version",
    "available_bytes": "--available-gib",
    "max_model_len": "--max-model-len",
    "max_batched_tokens": "--max-batched-tokens",
    "params_total": "--params",
}


def kv(  # noqa: PLR0913 - one parameter an option
    *,
    model: options.Model,
    context: options.Context,
    concurrency: Annotated[str, typer.Option("--concurrency", help="Contexts in flight on one engine.")] = "1",
    gpu: Annotated[
        str | None, typer.Option("--gpu", help="GPU type; checks what its memory holds.", show_default=False)
    ] = None,
    tp: options.Tp = None,
    kv_dtype: options.KvDtype = "bf16",
    gpu_memory_utilisation: options.Utilisation = "0.9",
    software: options.Software = "reference",
    cache_backend: options.CacheBackend = None,
    chunk_tokens: options.ChunkTokens = None,
    checkpoint_tokens: options.CheckpointTokens = None,
    hybrid_manager: options.HybridManager = None,
    vllm_version: Annotated[
        str | None, typer.Option("--vllm-version", help="vLLM release, such as 0.14.1. Default: the software set's.")
    ] = None,
    available_gib: Annotated[
        str | None,
        typer.Option("--available-gib", help="'Available KV cache memory' of one GPU; predicts vLLM's log lines."),
    ] = None,
    max_model_len: Annotated[
        str | None, typer.Option("--max-model-len", help="The engine's longest request. Default: the context.")
    ] = None,
    max_batched_tokens: Annotated[
        str, typer.Option("--max-batched-tokens", help="vLLM's max_num_batched_tokens; matters to window layers.")
    ] = "8192",
    params: options.Params = None,
    beyond_max: options.BeyondMax = False,
    catalogue: options.CatalogueDirs = None,
    format_: Annotated[
        str, typer.Option("--format", "-f", help="table, json, yaml, md or csv.", metavar="FORMAT")
    ] = "table",
) -> None:
    """Count the KV cache of a model, three ways.

    minimal: what the architecture must keep; vllm-gpu: what vLLM reserves on one GPU; external-tier: what a cache
    back end writes to shared storage and reads back.
    """
    from kvplan.cli.parsing import Options

    asked = Options(_NAMES)
    asked.set("model", model)
    asked.count("context_tokens", context)
    asked.count("concurrency", concurrency)
    asked.set("gpu", gpu)
    asked.count("tp", tp)
    asked.set("kv_dtype", kv_dtype)
    asked.number("gpu_memory_utilisation", gpu_memory_utilisation, allowed="a share above 0, at most 1")
    asked.set("software", software)
    asked.set("cache_backend", cache_backend)
    asked.count("chunk_tokens", chunk_tokens)
    asked.count("checkpoint_tokens", checkpoint_tokens)
    asked.set("hybrid_manager", hybrid_manager)
    asked.set("vllm_version", vllm_version)
    asked.gibibytes("available_bytes", available_gib)
    asked.count("max_model_len", max_model_len)
    asked.count("max_batched_tokens", max_batched_tokens)
    asked.params("params_total", params)
    asked.set("beyond_max", beyond_max)
    _kv(asked, catalogue, format_)


def _kv(asked: Options, catalogue: list[Path] | None, format_: str) -> None:
    """Build the request, count, and show the report."""
    from kvplan.api import kv_report
    from kvplan.cli.parsing import checked_format
    from kvplan.cli.shared import FORMATS, open_catalogue, show
    from kvplan.render.kv_view import kv_report_rows, kv_report_view
    from kvplan.schema.reports import KvRequest

    chosen = checked_format(format_, FORMATS)
    report = kv_report(asked.build(KvRequest), catalogue=open_catalogue(catalogue))
    show(
        chosen,
        data=lambda: report.model_dump(mode="json"),
        view=lambda: kv_report_view(report),
        title=f"KV cache of {report.model}",
        rows=lambda: kv_report_rows(report),
    )
