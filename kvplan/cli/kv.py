"""`kvplan kv`: KV bytes of a model, counted three ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.cli import options
from kvplan.units import GIB

if TYPE_CHECKING:
    from pathlib import Path

    from kvplan.cli.parsing import Options

EXAMPLES = options.examples(
    "kvplan kv --model gpt-oss-120b --context 130k --concurrency 28 --gpu h200",
    "kvplan kv --model Meta-Llama-3.1-8B --context 20000 --vllm-version 0.6.4 \\\n      --available-gib 3.81",
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
    concurrency: options.Concurrency = "1",
    gpu: options.GpuToCheck = None,
    tp: options.Tp = None,
    kv_dtype: options.KvDtype = "bf16",
    gpu_memory_utilisation: options.Utilisation = "0.9",
    software: options.Software = "reference",
    cache_backend: options.CacheBackend = None,
    chunk_tokens: options.ChunkTokens = None,
    checkpoint_tokens: options.CheckpointTokens = None,
    hybrid_manager: options.HybridManager = None,
    vllm_version: options.VllmVersion = None,
    available_gib: options.AvailableGib = None,
    max_model_len: options.MaxModelLen = None,
    max_batched_tokens: options.MaxBatchedTokens = "8192",
    params: options.Params = None,
    beyond_max: options.BeyondMax = False,
    catalogue: options.CatalogueDirs = None,
    format_: options.Format = "table",
) -> None:
    """Count the KV cache of a model, three ways.

    minimal: what the architecture must keep; vllm-gpu: what vLLM reserves on one GPU; external-tier: what a cache
    back end writes to shared storage and reads back.
    """
    from kvplan.cli.parsing import Options

    asked = Options(_NAMES)
    asked.plain(model=model, gpu=gpu, software=software, cache_backend=cache_backend)
    asked.plain(kv_dtype=options.dtype_of(kv_dtype))
    asked.plain(hybrid_manager=hybrid_manager, vllm_version=vllm_version, beyond_max=beyond_max)
    asked.counts(context_tokens=context, concurrency=concurrency, tp=tp, max_model_len=max_model_len)
    asked.counts(chunk_tokens=chunk_tokens, checkpoint_tokens=checkpoint_tokens, max_batched_tokens=max_batched_tokens)
    asked.params(params_total=params)
    asked.numbers(gpu_memory_utilisation=gpu_memory_utilisation)
    asked.scaled(GIB, "GiB above 0, such as 19.6", available_bytes=available_gib)
    _kv(asked, catalogue, format_)


def _kv(asked: Options, catalogue: list[Path] | None, format_: str) -> None:
    """Build the request, count, and show the report."""
    from kvplan.api import kv_report
    from kvplan.cli.shared import FORMATS, open_catalogue, show
    from kvplan.render.kv_view import kv_report_rows, kv_report_view
    from kvplan.schema.reports import KvRequest

    chosen = asked.form(format_, FORMATS)
    report = kv_report(asked.build(KvRequest), catalogue=open_catalogue(catalogue))
    show(
        chosen,
        data=lambda: report.model_dump(mode="json"),
        view=lambda: kv_report_view(report),
        title=f"KV cache of {report.model}",
        rows=lambda: kv_report_rows(report),
    )
