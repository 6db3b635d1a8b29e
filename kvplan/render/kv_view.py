"""KV accountings and the calculator's report as sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.render.figures import both_bytes, per_token
from kvplan.render.view import Grid, Section, View
from kvplan.units import GIB, counted, format_binary, format_bytes

if TYPE_CHECKING:
    from kvplan.schema.kv import Accounting, Accountings, VllmLog
    from kvplan.schema.reports import KvReport


def accounting_grid(accountings: Accountings) -> Grid:
    """Lay the three accountings out side by side, each with its name."""
    rows = tuple(_row(accounting) for accounting in accountings.all)
    return Grid(("Accounting", "B/token", "Fixed", "Context GB", "Context GiB"), rows, "lrrrr")


def accounting_lines(accounting: Accounting) -> tuple[str, ...]:
    """Write one accounting's scope and its sum with the numbers put in."""
    return (f"{accounting.name}, {accounting.scope}:", *(f"  {line}" for line in accounting.formula))


def kv_report_view(report: KvReport) -> View:
    """Arrange the calculator's report."""
    accountings = report.accounting
    return (
        Section(
            "KV cache",
            (
                (
                    f"{report.model}, {report.context_tokens:,} tokens, KV {report.kv_dtype}, TP {report.tp}, "
                    f"vLLM {report.vllm_version}, {report.cache_backend} with {report.chunk_tokens}-token chunks"
                ),
            ),
            accounting_grid(accountings),
            tuple(line for accounting in accountings.all for line in accounting_lines(accounting)),
        ),
        Section(
            "Volume",
            (
                f"{counted(report.concurrency, 'context')} in flight: {both_bytes(report.volume_bytes)} in the tier",
                f"a hit of the whole context loads {both_bytes(report.context_loaded_bytes)}",
                *_memory_lines(report),
            ),
        ),
        *((_log_section(report.vllm_log),) if report.vllm_log else ()),
        Section("Notes", (*report.notes, f"model: {report.model_source}")),
    )


def kv_report_rows(report: KvReport) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the three accountings as rows."""
    headers = ("accounting", "scope", "bytes_per_token", "fixed_bytes", "context_bytes", "formula", "rule")
    return headers, [
        (
            item.name,
            item.scope,
            f"{item.bytes_per_token:g}" if item.bytes_per_token % 1 else f"{item.bytes_per_token:.0f}",
            str(item.fixed_bytes),
            str(item.context_bytes),
            "; ".join(item.formula),
            item.rule,
        )
        for item in report.accounting.all
    ]


def _row(accounting: Accounting) -> tuple[str, ...]:
    """Build the row of one accounting."""
    return (
        accounting.name,
        per_token(accounting.bytes_per_token),
        format_binary(accounting.fixed_bytes, digits=3),
        format_bytes(accounting.context_bytes),
        format_binary(accounting.context_bytes),
    )


def _memory_lines(report: KvReport) -> tuple[str, ...]:
    """Say what GPU memory holds, where a GPU was named."""
    hbm = report.hbm
    if hbm is None:
        return ("name a GPU with --gpu to see what its memory holds",)
    verdict = "a shared tier is needed" if hbm.needs_shared_tier else "they fit, no shared tier is needed"
    return (
        (
            f"{report.gpu} at TP {report.tp}: {format_binary(hbm.kv_bytes_per_gpu)} a GPU free for KV beside "
            f"{format_bytes(hbm.weights_bytes_per_gpu)} of weights: room for "
            f"{counted(hbm.contexts_that_fit, 'whole context')}, {report.concurrency:,} in flight: {verdict}"
        ),
    )


def _log_section(log: VllmLog) -> Section:
    """Show what vLLM prints, or why it does not start."""
    available = f"Available KV cache memory: {log.available_bytes / GIB:.2f} GiB"
    if log.needed_bytes is not None:
        needed = f"one request of {log.max_model_len:,} tokens needs {log.needed_bytes / GIB:.2f} GiB"
        estimate = f"estimated maximum model length: {log.estimated_max_length:,} tokens"
        return Section(f"vLLM {log.vllm_version} does not start", (available, needed, estimate))
    return Section(
        f"vLLM {log.vllm_version} prints",
        (
            available,
            f"GPU KV cache size: {log.tokens:,} tokens",
            f"Maximum concurrency for {log.max_model_len:,} tokens per request: {log.max_concurrency:.2f}x",
            f"{log.blocks:,} blocks of {log.block_tokens} tokens in {log.groups} group(s); {log.rule}",
        ),
    )
