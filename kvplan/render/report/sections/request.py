"""The request as understood, and what it means in bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.certainty import Certainty
from kvplan.render.kv_view import accounting_grid
from kvplan.render.report.blocks import Block, Fact, Facts, Fold, Part, Prose, Table
from kvplan.render.report.words import sentence
from kvplan.units import counted, format_binary, format_bytes, format_rate

if TYPE_CHECKING:
    from kvplan.render.report.source import Source
    from kvplan.schema.plan import Plan


def request(source: Source) -> Part:
    """Echo what was asked, with every default filled in."""
    return Part(
        "request",
        "Request",
        (
            Facts("Asked for", _asked(source)),
            Facts("Software", _software(source.plan)),
            Facts("Demand on the tier", _demand(source)),
            *_accountings(source.plan),
        ),
    )


def _asked(source: Source) -> tuple[Fact, ...]:
    """Give model, context and GPUs."""
    plan, known = source.plan, source.known
    asked, model = plan.request, plan.model
    billions = (
        f"{model.params_total / 1e9:,.4g} billion parameters, {model.params_active / 1e9:,.4g} billion active; "
        f"weights {format_bytes(model.weights_bytes)}"
    )
    forced = (Fact("Forced", ", ".join(asked.forced)),) if asked.forced else ()
    return (
        Fact("Model", asked.model, billions, Certainty(model.confidence)),
        Fact("Context", f"{asked.context_tokens:,} tokens"),
        Fact("GPUs", f"{asked.gpus:,} x {asked.gpu}", plan.parts.gpu.title),
        Fact("Engines", f"{counted(plan.hbm.engines, 'engine')} of {counted(asked.tp, 'GPU')}"),
        Fact(
            "In flight",
            f"{counted(asked.concurrency, 'context')} an engine",
            known=Certainty(known("request.concurrency").weakest),
        ),
        Fact(
            "Free for KV on a GPU",
            format_binary(plan.hbm.kv_bytes_per_gpu),
            f"holds {counted(plan.hbm.contexts_that_fit, 'whole context')}",
            known("hbm.kv_bytes_per_gpu"),
        ),
        *forced,
    )


def _software(plan: Plan) -> tuple[Fact, ...]:
    """Give the software that decides how much is stored."""
    asked = plan.request
    manager = "on" if asked.hybrid_manager else "off: window layers are kept in full"
    return (
        Fact("Software set", asked.software, f"basis of the demand: {asked.basis}"),
        Fact("vLLM", asked.vllm_version, f"hybrid manager {manager}"),
        Fact("Cache back end", asked.cache_backend, f"{asked.chunk_tokens:,} tokens a chunk"),
        Fact("KV data type", asked.kv_dtype),
    )


def _demand(source: Source) -> tuple[Fact, ...]:
    """Give what the request asks of the tier."""
    demand, known, load = source.plan.demand, source.known, source.plan.workload
    read, write, held = (
        ("of the workload",) * 3 if load else ("published guidance", "reported only", "contexts in flight")
    )
    return (
        Fact("Reads", format_rate(demand.read_bytes_per_s), read, known("demand.read_bytes_per_s")),
        Fact("Writes", format_rate(demand.write_bytes_per_s), write, known("demand.write_bytes_per_s")),
        Fact("Capacity", format_bytes(demand.capacity_bytes), held, known("demand.capacity_bytes")),
    )


def _accountings(plan: Plan) -> tuple[Block, ...]:
    """Show the KV bytes counted three ways, and what the tier stores and gives back."""
    kv, external = plan.kv, plan.kv.accounting.external_tier
    stored = (
        f"The tier stores {kv.stored_bytes_per_token:,.0f} B a token, {format_bytes(kv.context_stored_bytes)} a "
        f"context; a hit of the whole context reads {format_bytes(kv.context_loaded_bytes)} back."
    )
    return (
        Table("KV cache of one context, counted three ways", accounting_grid(kv.accounting)),
        Prose((stored, sentence(plan.other_software.text))),
        Fold(Prose((external.rule, *external.formula), listed=True, caption="How the stored bytes add up")),
    )
