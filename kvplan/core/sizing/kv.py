"""The KV section of a Plan: the three accountings for one setup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.kv.external import external_accounting
from kvplan.core.kv.minimal import minimal_accounting
from kvplan.core.kv.vllm import vllm_accounting
from kvplan.schema.kv import Accountings
from kvplan.schema.plan import OtherSoftware, PlanKv

if TYPE_CHECKING:
    from kvplan.core.kv.external import ExternalKv
    from kvplan.core.kv.vllm import VllmSetup
    from kvplan.core.sizing.setup import Setup
    from kvplan.schema.model import LayerGroup
    from kvplan.schema.request import KvDtype


def accountings(
    groups: tuple[LayerGroup, ...], dtype: KvDtype, context_tokens: int, engine: VllmSetup, external: ExternalKv
) -> Accountings:
    """Set the three accountings of a context beside each other.

    Parameters
    ----------
    groups
        Layer groups of the model.
    dtype
        Type of the cached keys and values.
    context_tokens
        Length of the context [tokens].
    engine
        The engine that `vllm-gpu` counts for.
    external
        What the cache back end stores and loads.

    Returns
    -------
    Accountings
        Bytes a token [B/token] and a context [B], three ways.

    References
    ----------
    The three accountings and their sources are documented in `kvplan.core.kv`.

    Examples
    --------
    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> plan.kv.accounting.vllm_gpu.bytes_per_token
    73728.0
    """
    return Accountings(
        minimal=minimal_accounting(groups, dtype, context_tokens),
        vllm_gpu=vllm_accounting(groups, dtype, context_tokens, engine),
        external_tier=external.accounting,
    )


def kv_section(groups: tuple[LayerGroup, ...], dtype: KvDtype, context_tokens: int, setup: Setup) -> PlanKv:
    """Count a context three ways.

    Parameters
    ----------
    groups
        Layer groups of the model.
    dtype
        Type of the cached keys and values.
    context_tokens
        Length of the context [tokens].
    setup
        Engine, back end, chunk length and tensor parallelism.

    Returns
    -------
    PlanKv
        The accountings and what is stored and loaded, a token [B/token] and a context [B].

    Examples
    --------
    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> plan.kv.accounting.minimal.bytes_per_token, plan.kv.stored_bytes_per_token
    (36864.0, 73728.0)

    References
    ----------
    The three accountings and their sources are documented in `kvplan.core.kv`.
    """
    external = external_accounting(groups, dtype, context_tokens, setup.external)
    return PlanKv(
        accounting=accountings(groups, dtype, context_tokens, setup.vllm, external),
        stored_bytes_per_token=external.accounting.bytes_per_token,
        loaded_bytes_per_token=external.loaded_bytes_per_token,
        context_stored_bytes=external.accounting.context_bytes,
        context_loaded_bytes=external.context_loaded_bytes,
    )


def other_software(
    groups: tuple[LayerGroup, ...], dtype: KvDtype, context_tokens: int, setup: Setup, chosen: PlanKv
) -> OtherSoftware:
    """Say what the other software set would store and load [B] for the same context [tokens].

    Parameters
    ----------
    groups
        Layer groups of the model.
    dtype
        Type of the cached keys and values.
    context_tokens
        Length of the context [tokens].
    setup
        The other engine, back end, chunk length and tensor parallelism.
    chosen
        The KV section of the software asked for.

    Returns
    -------
    OtherSoftware
        What is stored and loaded, a token [B/token] and a context [B], and the comparison in words.

    Examples
    --------
    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> plan.other_software.software, plan.other_software.hybrid_manager
    ('current', True)

    References
    ----------
    The catalogue's software sets `reference` and `current`.
    """
    external = external_accounting(groups, dtype, context_tokens, setup.external)
    software = setup.stack.software
    stored = external.accounting.context_bytes / chosen.context_stored_bytes
    loaded = external.context_loaded_bytes / chosen.context_loaded_bytes
    return OtherSoftware(
        software=software.id,
        cache_backend=setup.stack.backend.id,
        chunk_tokens=setup.chunk_tokens,
        hybrid_manager=setup.hybrid_manager,
        stored_bytes_per_token=external.accounting.bytes_per_token,
        loaded_bytes_per_token=external.loaded_bytes_per_token,
        context_stored_bytes=external.accounting.context_bytes,
        context_loaded_bytes=external.context_loaded_bytes,
        text=(
            f"--software {software.id} (Dynamo {software.dynamo}, vLLM {software.vllm}, {setup.stack.backend.id}, "
            f"{setup.chunk_tokens}-token chunks, hybrid manager {'on' if setup.hybrid_manager else 'off'}) would store "
            f"{stored:.2f} times and load {loaded:.2f} times the bytes of a context"
        ),
    )
