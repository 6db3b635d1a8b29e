"""A workload as a simulation takes it: how much comes, how long, and what of it is found where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvplan.core.sizing.workload import arrival_rate, shape
from kvplan.core.sizing.workload_spread import lognormal
from kvplan.core.sizing.workload_tiers import g4_share

if TYPE_CHECKING:
    from kvplan.core.sizing.workload import Served
    from kvplan.schema.workload import Workload


def simulated_workload(
    workload: Workload, served: Served, gpus: int, *, tier_share_given: bool = False
) -> dict[str, Any]:
    r"""Return what a workload says of a simulation, by the fields of `SimulationRequest`.

    .. math:: h = E[n - m] / E[n], \qquad f_4 = 1 - L, \qquad \bar g = E[G]

    Parameters
    ----------
    workload
        The workload: prompts of n, of which m are new [tokens]; a share L of hits that local caches answer while
        requests go back to their engine [1]; gaps G between uses of a prefix [s].
    served
        The model as an engine serves it.
    gpus
        GPUs of the fleet [GPUs].
    tier_share_given
        Whether somebody names the share of hits that only the shared tier has, in place of the workload's.

    Returns
    -------
    dict of str to Any
        Rate [1/s], mean length [tokens] and sigma [1], shares [1], gap [s], routing, room in each engine [tokens].

    Notes
    -----
    Routing divides L among the engines in the simulation itself. A `g4_share` of the workload is what is left with its
    routing as it is, so that it is not divided again. Every prompt is cached to the same share, also where the
    workload gives the new tokens as a length. The decode figures, `write_share`, `store_output` and `burst_factor` are
    left out: the simulation slows prefills by a factor, writes all that is new, and makes bursts of its own.

    References
    ----------
    `kvplan.core.sizing.workload_tiers`, from which sizing takes the same shares.

    Examples
    --------
    >>> from kvplan.core.prediction.prefill import PrefillModel
    >>> from kvplan.core.sizing.workload import Served
    >>> from kvplan.schema.workload import Workload
    >>> h200 = Served(PrefillModel(0.036, 17.3e-6, 0.313e-9, 1.15, "derived", "aiconfigurator"), 1, 73_728, 73_728)
    >>> agent = Workload(busy_share=0.7, prompt_tokens=66_000, suffix_tokens=2_000, local_hit_share=0.9)
    >>> found = simulated_workload(agent, h200, 256)
    >>> round(found["requests_per_s"]), found["prompt_tokens"]
    (568, 66000)
    >>> round(found["hit_share"], 3), round(found["tier_share"], 3)
    (0.97, 0.1)
    """
    request, lengths = shape(workload), lognormal(workload.prompt_tokens)
    as_it_stands = workload.g4_share is not None and not tier_share_given
    found: dict[str, Any] = {
        "requests_per_s": arrival_rate(workload, gpus, served),
        "prompt_tokens": max(round(lengths.mean), 1),
        "prompt_sigma": lengths.sigma,
        "hit_share": min(max(request.hit_tokens / request.tokens, 0.0), 1.0),
        "tier_share": g4_share(workload, gpus, served, routing="sticky"),
        # A prefix that every engine has is the one kind of hit that routing does not move.
        "shared_share": 1.0 if as_it_stands else workload.shared_share,
        "routing": workload.routing,
    }
    if workload.reuse_gap_s is not None:
        found["reuse_gap_s"] = lognormal(workload.reuse_gap_s).mean
    if workload.local_bytes_per_gpu:
        bytes_per_engine = workload.local_bytes_per_gpu * served.gpus_per_engine
        found["local_tokens"] = int(bytes_per_engine / served.stored_bytes_per_token)
    return found
