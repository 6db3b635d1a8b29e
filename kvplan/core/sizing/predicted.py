"""What the chosen tier will do: the predictions of a Plan, from its own bytes and rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kvplan.core.prediction import flash
from kvplan.core.prediction.contention import fetch_quantile_seconds, host_stream_rate
from kvplan.core.prediction.payoff import (
    amdahl_speedup,
    break_even_engines,
    break_even_hit_share,
    break_even_tokens,
)
from kvplan.core.prediction.prefill import cold_seconds
from kvplan.core.prediction.prefill_choice import experts_chunk_seconds
from kvplan.core.prediction.storm import storm_seconds
from kvplan.core.prediction.warm import engine_cost, engine_seconds, warm_seconds
from kvplan.core.sizing.inputs import prefill_engine
from kvplan.schema.performance import AmdahlPoint, Performance, PlanEndurance, Prefill

if TYPE_CHECKING:
    from kvplan.core.prediction.prefill import PrefillModel
    from kvplan.core.prediction.warm import EngineCost
    from kvplan.core.sizing.inputs import SizingInputs
    from kvplan.core.sizing.setup import Setup
    from kvplan.core.sizing.tiers import Tier
    from kvplan.schema.demand import Buys
    from kvplan.schema.ece import Endurance
    from kvplan.schema.network import NetworkBudget
    from kvplan.schema.plan import PlanHbm, PlanKv

_HIT_SHARES: Final = (0.5, 0.8, 0.9, 0.95, 1.0)
"""Hit shares at which the gain of the whole is shown."""


@dataclass(frozen=True, slots=True)
class Serving:
    """What a prediction rests on: an engine with its cache, and a tier that is bought for it."""

    inputs: SizingInputs
    setup: Setup
    kv: PlanKv
    hbm: PlanHbm
    buys: Buys
    network: NetworkBudget
    prefill: PrefillModel | None

    @property
    def cost(self) -> EngineCost:
        """What a hit costs in the engine itself."""
        return engine_cost(self.setup.stack.backend, self.inputs.constants)

    @property
    def stream_bytes_per_s(self) -> float:
        """Most that one engine reads [B/s]."""
        link = self.buys.engine_read_bytes_per_s
        return host_stream_rate(link, self.setup.stack.backend, self.setup.tp, self.inputs.constants)


def performance(served: Serving) -> Performance:
    """Predict times to the first token, storms, and from when on the tier pays off.

    Parameters
    ----------
    served
        Engine and tier.

    Returns
    -------
    Performance
        Times [s], rates [1/s], lengths [tokens] and shares [1].

    Notes
    -----
    The whole context is cached when it is warm. Times of a cold prefill are those of one request alone.

    Examples
    --------
    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> predicted = plan.performance
    >>> round(predicted.cold_ttft_s, 2), round(predicted.warm_ttft_s, 2), round(predicted.warm_ttft_p99_s, 2)
    (15.99, 0.62, 0.99)

    References
    ----------
    Each part names its own; the Plan explains every number.
    """
    tokens, whole = served.inputs.request.context_tokens, served.kv.context_loaded_bytes
    engines, planned = served.hbm.engines, served.buys.planned_read_bytes_per_s
    model, cost, stream = served.prefill, served.cost, served.stream_bytes_per_s
    cold = _cold(served)
    warm = warm_seconds(cost, tokens, whole / stream, 0.0)
    speedup = cold / warm if cold else None
    share = served.inputs.constant("guidance.planned_read_share")
    late = fetch_quantile_seconds(whole, stream, served.network.read_bytes_per_s, share)
    return Performance(
        prefill=_prefill(model),
        stream_bytes_per_s=stream,
        hit_s=engine_seconds(cost, 0),
        cold_ttft_s=cold,
        cold_tokens_per_s=tokens / cold if cold else None,
        warm_ttft_s=warm,
        warm_ttft_p99_s=warm_seconds(cost, tokens, late, 0.0),
        speedup=speedup,
        hits_per_s=served.buys.hits_per_s,
        storm_s=storm_seconds(engines, whole, stream, planned),
        break_even_tokens=break_even_tokens(model, cost, served.kv.loaded_bytes_per_token, stream) if model else None,
        break_even_gpus=served.setup.tp * break_even_engines(cold, engine_seconds(cost, tokens), planned, whole)
        if cold
        else None,
        break_even_hit_share=break_even_hit_share(planned, engines * tokens / cold, served.kv.loaded_bytes_per_token)
        if cold
        else None,
        amdahl=tuple(AmdahlPoint(hit_share=h, speedup=amdahl_speedup(h, speedup)) for h in _HIT_SHARES)
        if speedup
        else (),
    )


def _cold(served: Serving) -> float | None:
    """Predict a cold prefill of the whole context [s], in chunks as the engine cuts it."""
    if served.prefill is None:
        return None
    inputs, tokens = served.inputs, served.inputs.request.context_tokens
    chunk = inputs.constant("prefill.engine_chunk_tokens")
    engine = prefill_engine(inputs, served.setup.tp)
    return cold_seconds(served.prefill, tokens) + experts_chunk_seconds(engine, tokens, chunk, inputs.constants)


def _prefill(model: PrefillModel | None) -> Prefill | None:
    """Write down which model of a cold prefill was taken."""
    if model is None:
        return None
    return Prefill(
        c0_s=model.c0_s,
        a_s_per_token=model.a_s_per_token,
        b_s_per_token2=model.b_s_per_token2,
        derate=model.derate,
        source=model.source,
        confidence=model.confidence,
    )


def plan_endurance(served: Serving, tier: Tier, wear: Endurance, write_bytes_per_s: float) -> PlanEndurance:
    """Predict what the demanded writes do to the tier.

    Parameters
    ----------
    served
        Engine and tier: chunk length [tokens], ranks, and bytes stored of a token [B/token].
    tier
        The chosen tier.
    wear
        What the writes do to its drives [1/day].
    write_bytes_per_s
        Writes that are demanded [B/s].

    Returns
    -------
    PlanEndurance
        Retention [s], wear [1/day], files [1] and rates [1/s], [B/s].

    Examples
    --------
    >>> import kvplan
    >>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> round(plan.endurance.retention_s / 3600, 1), round(plan.endurance.creates_per_s)
    (1.9, 68469)

    References
    ----------
    `kvplan.core.prediction.flash`.
    """
    usable, write, constant = tier.geometry.usable_bytes, write_bytes_per_s, served.inputs.constant
    low, high = constant("flash.low_watermark"), constant("flash.high_watermark")
    setup, per_token = served.setup, served.kv.stored_bytes_per_token
    (chunk,) = flash.files_by_chunk((setup.chunk_tokens,), per_token, high * usable, write, setup.tp)
    return PlanEndurance(
        write_bytes_per_s=write,
        retention_s=flash.retention_seconds(usable, low, write),
        drive_writes_per_day=wear.demanded_drive_writes_per_day,
        rated_drive_writes_per_day=wear.rated_drive_writes_per_day,
        file_bytes=chunk.file_bytes,
        files=chunk.files,
        creates_per_s=chunk.creates_per_s,
        eviction_bytes_per_s=flash.eviction_bytes_per_s(write, usable, high, low, constant("flash.purge_s")),
    )
