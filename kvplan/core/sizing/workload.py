"""What a workload asks of a tier: GPU time a request, request rate, reads, writes and what recompute is worth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kvplan.core.prediction.prefill import cold_seconds, suffix_seconds
from kvplan.core.sizing.workload_spread import lognormal
from kvplan.schema.workload import Workload, replacing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.core.prediction.prefill import PrefillModel


@dataclass(frozen=True, slots=True)
class Served:
    """The model as an engine serves it: prefill, GPUs of one engine [GPUs], bytes stored and loaded [B/token].

    `loaded_bytes_per_token` may be less than `stored_bytes_per_token` where a back end reads windows only.
    """

    prefill: PrefillModel
    gpus_per_engine: int
    stored_bytes_per_token: float
    loaded_bytes_per_token: float


@dataclass(frozen=True, slots=True)
class Shape:
    """The mean request [tokens]: prompt, new tokens, and the prompt lengths at which prefill costs the mean.

    Attention grows with the square, so a mean over long and short prompts costs what one longer prompt does:
    `suffix_at_tokens` with the new tokens at its end, `cold_at_tokens` as the root of the mean square.
    """

    tokens: float
    new_tokens: float
    suffix_at_tokens: float
    cold_at_tokens: float

    @property
    def hit_tokens(self) -> float:
        """Mean tokens that some tier holds [tokens]."""
        return self.tokens - self.new_tokens


def with_overrides(workload: Workload, changes: Mapping[str, Any]) -> Workload:
    """Return a workload with single numbers replaced; what says the same in another way goes.

    Parameters
    ----------
    workload
        The workload, such as a preset's.
    changes
        New values by field; None leaves a field as it is.

    Returns
    -------
    Workload
        The workload, validated anew.

    Raises
    ------
    pydantic.ValidationError
        When a value is wrong, or the changes contradict each other; `kvplan.inputs.validation` words it for people.

    References
    ----------
    Groups of fields as `kvplan.schema.workload.exclusive` lists them.

    Examples
    --------
    >>> chat = Workload(busy_share=0.7, prompt_tokens=8_000, hit_share=0.5)
    >>> busier = with_overrides(chat, {"requests_per_s": 40.0, "hit_share": None})
    >>> busier.requests_per_s, busier.busy_share, busier.hit_share
    (40.0, None, 0.5)
    """
    given = {field: value for field, value in changes.items() if value is not None}
    return Workload.model_validate(replacing(workload.model_dump(exclude_none=True), given))


def shape(workload: Workload) -> Shape:
    r"""Return the mean request of a workload, and the lengths at which its prefill costs the mean.

    .. math:: \hat{n} = \frac{E[n^2 - (n - m)^2] + E[m]^2}{2 E[m]}

    Parameters
    ----------
    workload
        The workload: prompts of n, of which m are new [tokens].

    Returns
    -------
    Shape
        Lengths [tokens].

    Notes
    -----
    With a hit share every prompt is cached to the same share; suffixes of their own are independent of the prompt.

    References
    ----------
    Exact for a prefill quadratic in n, as `kvplan.core.prediction.prefill` has it.

    Examples
    --------
    >>> chat = Workload(busy_share=0.7, prompt_tokens=8_000, hit_share=0.5)
    >>> shape(chat)
    Shape(tokens=8000.0, new_tokens=4000.0, suffix_at_tokens=8000.0, cold_at_tokens=8000.0)
    """
    prompt = lognormal(workload.prompt_tokens)
    if workload.suffix_tokens is None:
        new_share = 1 - (workload.hit_share or 0.0)
        new, pairs = new_share * prompt.mean, (2 - new_share) * new_share * prompt.mean_square
    else:
        suffix = lognormal(workload.suffix_tokens)
        new, pairs = suffix.mean, 2 * prompt.mean * suffix.mean - suffix.mean_square
    # A long tail of suffixes must not cost less than nothing.
    suffix_at = max((pairs + new**2) / (2 * new), new) if new else prompt.mean
    return Shape(prompt.mean, new, suffix_at, math.sqrt(prompt.mean_square))


def decode_seconds(workload: Workload) -> float:
    r"""Return the GPU time that decoding takes of one engine for one request.

    .. math:: D = o \cdot i / b

    Parameters
    ----------
    workload
        Output of o [tokens], inter-token latency i [s], b requests decoded together [1].

    Returns
    -------
    float
        Time [s].

    Notes
    -----
    Decode and prefill share the GPU and do not slow each other down; measured interference is about 15 % of prefill.

    References
    ----------
    Definition of a batch: one step yields one token to each of b requests.

    Examples
    --------
    >>> round(decode_seconds(Workload(busy_share=0.7, prompt_tokens=8_000, hit_share=0.5)), 4)
    0.1406
    """
    return workload.output_tokens * workload.itl_s / workload.decode_batch


def warm_gpu_seconds(workload: Workload, served: Served) -> float:
    r"""Return the time of one engine that a request takes when every hit is served from some cache.

    .. math:: t = \delta c_0 + T_{suffix}(\hat{n}, m) + D

    Parameters
    ----------
    workload
        The workload.
    served
        The model as an engine serves it.

    Returns
    -------
    float
        Time [s]; loading does not keep the GPU busy.

    References
    ----------
    `kvplan.core.prediction.prefill`.

    Examples
    --------
    gpt-oss-120b on one H200, an agent's turn of 2,000 tokens after 64,000:

    >>> from kvplan.core.prediction.prefill import PrefillModel
    >>> h200 = PrefillModel(0.036, 17.3e-6, 0.313e-9, 1.15, "derived", "aiconfigurator 0.12.0")
    >>> agent = Workload(busy_share=0.7, prompt_tokens=66_000, suffix_tokens=2_000)
    >>> round(warm_gpu_seconds(agent, Served(h200, 1, 73_728, 73_728)), 3)
    0.315
    """
    request, model = shape(workload), served.prefill
    suffix = suffix_seconds(model, request.suffix_at_tokens, request.new_tokens)
    return model.derate * model.c0_s + suffix + decode_seconds(workload)


def cold_gpu_seconds(workload: Workload, served: Served) -> float:
    r"""Return the time of one engine that a request takes when nothing is cached.

    .. math:: t_0 = \delta (c_0 + a E[n] + b E[n^2]) + D

    Parameters
    ----------
    workload
        The workload.
    served
        The model as an engine serves it.

    Returns
    -------
    float
        Time [s].

    References
    ----------
    `kvplan.core.prediction.prefill`.

    Examples
    --------
    >>> from kvplan.core.prediction.prefill import PrefillModel
    >>> h200 = PrefillModel(0.036, 17.3e-6, 0.313e-9, 1.15, "derived", "aiconfigurator 0.12.0")
    >>> agent = Workload(busy_share=0.7, prompt_tokens=66_000, suffix_tokens=2_000)
    >>> round(cold_gpu_seconds(agent, Served(h200, 1, 73_728, 73_728)), 2)
    3.06
    """
    return _cold_prefill(shape(workload), served.prefill) + decode_seconds(workload)


def kv_production(workload: Workload, served: Served) -> float:
    r"""Return the rate at which one GPU makes KV cache when it computes prompts: what recompute is worth.

    .. math:: p = n B / (g T_{cold}(n))

    Parameters
    ----------
    workload
        The workload.
    served
        The model as an engine of g GPUs serves it, B stored [B/token].

    Returns
    -------
    float
        Rate [B/s] per GPU; a tier that gives a GPU less than this loads slower than the GPU computes.

    References
    ----------
    Mooncake, FAST'25, equation 2: the break-even of bandwidth and compute.

    Examples
    --------
    >>> from kvplan.core.prediction.prefill import PrefillModel
    >>> h200 = PrefillModel(0.036, 17.3e-6, 0.313e-9, 1.15, "derived", "aiconfigurator 0.12.0")
    >>> long = Workload(busy_share=0.7, prompt_tokens=64_000, hit_share=0.5)
    >>> round(kv_production(long, Served(h200, 1, 73_728, 73_728)) / 1e9, 2)
    1.69
    """
    request = shape(workload)
    cold = _cold_prefill(request, served.prefill)
    return request.tokens * served.stored_bytes_per_token / (served.gpus_per_engine * cold)


def arrival_rate(workload: Workload, gpus: int, served: Served) -> float:
    r"""Return the requests that come to the whole fleet.

    .. math:: \lambda = G U / (g t)

    Parameters
    ----------
    workload
        Rate of the fleet or of one GPU [1/s], or the share U of time that GPUs are busy [1].
    gpus
        GPUs G of the fleet [GPUs].
    served
        The model as an engine of g GPUs serves it, each request taking t [s] of one engine.

    Returns
    -------
    float
        Rate [1/s].

    References
    ----------
    Utilisation law: busy share = rate x time of service / servers.

    Examples
    --------
    >>> from kvplan.core.prediction.prefill import PrefillModel
    >>> h200 = PrefillModel(0.036, 17.3e-6, 0.313e-9, 1.15, "derived", "aiconfigurator 0.12.0")
    >>> agent = Workload(busy_share=0.7, prompt_tokens=66_000, suffix_tokens=2_000)
    >>> round(arrival_rate(agent, 256, Served(h200, 1, 73_728, 73_728)))
    568
    """
    if workload.requests_per_s is not None:
        return workload.requests_per_s
    if workload.requests_per_s_per_gpu is not None:
        return workload.requests_per_s_per_gpu * gpus
    return gpus * (workload.busy_share or 0.0) / (served.gpus_per_engine * warm_gpu_seconds(workload, served))


def burst_factor(rate_per_s: float, traced_peak: float, traced_rate_per_s: float) -> float:
    r"""Return how far the busiest ten seconds lie above the mean in a fleet of this rate.

    .. math:: f = 1 + (f_0 - 1) \sqrt{\lambda_0 / \lambda}

    Parameters
    ----------
    rate_per_s
        Requests of the fleet, lambda [1/s], above 0.
    traced_peak
        Peak over mean f0 that was traced [1].
    traced_rate_per_s
        Rate lambda0 at which it was [1/s].

    Returns
    -------
    float
        Peak over mean [1].

    Notes
    -----
    Requests independent of each other. A batch job, an agent's fan-out or a failover comes on top: see
    `kvplan.core.prediction.storm`.

    References
    ----------
    Mooncake FAST'25 conversation trace: hit tokens peak at 2.7 times the mean at 3.4 requests a second.

    Examples
    --------
    >>> round(burst_factor(3.4, 2.7, 3.4), 2), round(burst_factor(340, 2.7, 3.4), 2)
    (2.7, 1.17)
    """
    return 1 + (traced_peak - 1) * math.sqrt(traced_rate_per_s / rate_per_s)


def _cold_prefill(request: Shape, model: PrefillModel) -> float:
    """Return the mean time of a whole prefill [s]: linear in the mean length, quadratic in its square."""
    # cold_seconds at the root mean square, which its linear part overstates by the difference to the mean.
    excess = model.derate * model.a_s_per_token * (request.cold_at_tokens - request.tokens)
    return cold_seconds(model, request.cold_at_tokens) - excess
