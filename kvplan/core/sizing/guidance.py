"""The published guidance as limits: GPU count and model class of a profile, with its gaps closed upward."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from kvplan.core.ece.judge import judge
from kvplan.schema.ece import Limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.schema.profile import Profile, Span

GPU_AXIS = "gpus"
MODEL_AXIS = "model_parameters"
AXES = (GPU_AXIS, MODEL_AXIS)


def guidance_limits(profile: Profile, gpus: int, params_class: int) -> tuple[Limit, Limit]:
    """Judge a request against the two axes that the guidance states for a profile.

    Parameters
    ----------
    profile
        The recipe with its published ranges.
    gpus
        GPUs of the fleet [1].
    params_class
        Size under which the model is published, all experts counted [1].

    Returns
    -------
    tuple of Limit
        The GPU axis and the model axis, in GPUs [1] and parameters [1]. Only the upper end limits: a smaller
        request is covered. An open upper end always holds and has no margin.

    Examples
    --------
    >>> from kvplan.schema.profile import Guidance, NodeCounts, Profile, Span, StorageNode
    >>> node = StorageNode(server="s", drive="d", drives=16, client_nic="c", storage_nic="n")
    >>> ranges = Guidance(gpus=Span(high=64), params=Span(low=7e9, high=34e9), read_bytes_per_s=Span(),
    ...                   source="guidance", confidence="vendor")
    >>> profile = Profile(name="compact-4", title="", nodes=NodeCounts(start=4, limit=4), erasure_code="4+2P",
    ...                   block_mib=4, node=node, switch="w", guidance=ranges)
    >>> [limit.holds for limit in guidance_limits(profile, 64, 70_000_000_000)]
    [True, False]

    References
    ----------
    IBM Redbook MD260021, sizing guidance by GPU count and model class.
    """
    source = profile.guidance.source
    return (
        _upper_limit(GPU_AXIS, gpus, profile.guidance.gpus, "GPUs", source),
        _upper_limit(MODEL_AXIS, params_class, profile.guidance.params, "parameters", source),
    )


def guidance_gaps(profiles: Sequence[Profile], gpus: int, params_class: int) -> tuple[str, ...]:
    """Name the gaps of the guidance that a request falls into; kvplan closes them upward.

    Parameters
    ----------
    profiles
        All recipes, smallest first.
    gpus
        GPUs of the fleet [1].
    params_class
        Size under which the model is published [1].

    Returns
    -------
    tuple of str
        One sentence a gap; empty when the guidance covers the request.

    Examples
    --------
    >>> guidance_gaps((), 80, 7_000_000_000)
    ()

    References
    ----------
    IBM Redbook MD260021: silent between 34B and 70B parameters, 64 and 100 GPUs, 256 and 300 GPUs.
    """
    axes = (
        (gpus, [profile.guidance.gpus for profile in profiles], "{:,.0f} GPUs", 1.0),
        (params_class, [profile.guidance.params for profile in profiles], "{:,.3g}B parameters", 1e9),
    )
    return tuple(
        sentence for value, spans, words, scale in axes for sentence in _gaps_of_axis(value, spans, words, scale)
    )


def _gaps_of_axis(value: float, spans: list[Span], words: str, scale: float) -> list[str]:
    """Name the gap between neighbouring ranges that a value falls into."""
    return [
        f"the guidance is silent between {words.format(below.high / scale)} and {words.format(above.low / scale)}; "
        f"{words.format(value / scale)} is treated as the larger class"
        for below, above in itertools.pairwise(spans)
        if below.high is not None and above.low is not None and below.high < value < above.low
    ]


def _upper_limit(name: str, need: float, span: Span, unit: str, source: str) -> Limit:
    """Judge a value against the upper end of a published range."""
    if span.high is None:
        text = f"published for {span.low:,.0f} {unit} or more" if span.low is not None else "no range published"
        return Limit(name=name, need=need, have=need, unit=unit, margin=None, holds=True, text=text, source=source)
    return judge(name, need, span.high, unit, source=source)
