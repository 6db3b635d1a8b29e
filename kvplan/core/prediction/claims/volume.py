"""Claims about tokens and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.prediction.claims.finding import Finding, agrees, close, text
from kvplan.units import GB, GIB, format_binary

if TYPE_CHECKING:
    from kvplan.core.prediction.claims.facts import ClaimFacts
    from kvplan.schema.claims import Verdict


def volume(facts: ClaimFacts) -> Finding:
    r"""Multiply unique prompts, their length and the bytes of a token.

    .. math:: V = u n B

    Parameters
    ----------
    facts
        u unique prompts of n tokens [tokens], B bytes of each in the tier [B/token].

    Returns
    -------
    Finding
        The volume V [B]; `depends` where it fits when read as GiB.

    Notes
    -----
    All layers are stored in full, as a stack without the hybrid manager does.

    References
    ----------
    IBM Redbook MD260021, throughput test.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> volume(facts_of(kvplan.load_catalogue())).computed
    '884.7 GB = 824 GiB'
    """
    figures, tolerance = facts.figures, facts.figures["tolerance.printed"]
    stored = figures["run.unique_prompts"] * facts.prompt_tokens * facts.tier.per_token
    said = figures["run.volume_bytes"]
    verdict: Verdict = agrees(holds=close(stored, said, tolerance))
    if verdict == "contradicts" and close(stored, _as_binary(said), tolerance):
        verdict = "depends"
    return Finding(
        published=text(said, "B"),
        computed=f"{text(stored, 'B')} = {format_binary(stored)}",
        value=stored,
        unit="B",
        verdict=verdict,
        why=f"the unit decides: {figures['run.unique_prompts']:g} x {facts.prompt_tokens:,.0f} tokens x "
        f"{facts.tier.per_token:,.0f} B are {stored / GIB:,.0f} GiB, so it fits GiB and not GB, with window layers "
        "stored in full; half the bytes a token for all requests give the same product",
    )


def tokens(facts: ClaimFacts) -> Finding:
    r"""Divide the volume by the bytes of a token: so many tokens were unique.

    .. math:: n_u = V / B

    Parameters
    ----------
    facts
        The volume V, read as GiB [B], and B bytes a token [B/token].

    Returns
    -------
    Finding
        Unique tokens n_u [tokens]; `depends` where they are the unique prompts' share.

    References
    ----------
    IBM Redbook MD260021, throughput test.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> tokens(facts_of(kvplan.load_catalogue())).computed
    '12,014,933 tokens unique'
    """
    figures, tolerance = facts.figures, facts.figures["tolerance.printed"]
    unique = _as_binary(figures["run.volume_bytes"]) / facts.tier.per_token
    share = figures["run.unique_prompts"] / figures["run.requests"]
    verdict: Verdict = agrees(holds=close(unique, figures["run.tokens"], tolerance))
    if verdict == "contradicts" and close(unique, share * figures["run.tokens"], tolerance):
        verdict = "depends"
    return Finding(
        published=text(figures["run.tokens"], "tokens"),
        computed=f"{text(unique, 'tokens')} unique",
        value=unique,
        unit="tokens",
        verdict=verdict,
        why=f"what is counted decides: {text(figures['run.tokens'], 'tokens')} are those of all "
        f"{figures['run.requests']:g} requests; {figures['run.volume_bytes'] / GB:g} GiB at "
        f"{facts.tier.per_token:,.0f} B hold the unique ones",
    )


def long_prompts(facts: ClaimFacts) -> Finding:
    r"""Compare the length that follows from unique tokens with the model's limit.

    .. math:: n / u \le n_{max}

    Parameters
    ----------
    facts
        Tokens n [tokens] of the run, u unique prompts, and the model's longest prompt [tokens].

    Returns
    -------
    Finding
        The model's longest prompt [tokens].

    References
    ----------
    IBM Redbook MD260021, throughput test. The model's configuration.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> long_prompts(facts_of(kvplan.load_catalogue())).verdict
    'contradicts'
    """
    figures, longest = facts.figures, facts.tier.longest_prompt
    said = figures["run.tokens"] / figures["run.unique_prompts"]
    return Finding(
        published=text(said, "tokens"),
        computed=f"at most {text(longest, 'tokens')}",
        value=float(longest),
        unit="tokens",
        verdict=agrees(holds=said <= longest),
        why=f"the model takes no longer prompt; over all requests it is {facts.prompt_tokens:,.0f} tokens each",
    )


def pool_tokens(facts: ClaimFacts) -> Finding:
    r"""Let kvplan's model of vLLM say what the memory of a GPU holds, alone and in an engine of several.

    .. math:: n = \lfloor M / (b B_g) \rfloor b

    Parameters
    ----------
    facts
        Memory M of a GPU [B], in blocks of b tokens [tokens] at B_g bytes a token and GPU [B/token].

    Returns
    -------
    Finding
        What one GPU holds [tokens]; `depends` where the figure fits all GPUs of the server.

    References
    ----------
    IBM Redbook MD260021; `kvplan kv` for the rule of vLLM.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> pool_tokens(facts_of(kvplan.load_catalogue())).computed
    '285,440 tokens on one GPU, 1,141,776 at TP 4'
    """
    figures, tolerance = facts.figures, facts.figures["tolerance.printed"]
    alone, together = facts.tier.pool_tokens_alone, facts.tier.pool_tokens_together
    verdict: Verdict = agrees(holds=close(alone, figures["pool.tokens"], tolerance))
    if verdict == "contradicts" and close(together, figures["pool.tokens"], tolerance):
        verdict = "depends"
    return Finding(
        published=text(figures["pool.tokens"], "tokens"),
        computed=f"{text(alone, 'tokens')} on one GPU, {together:,} at TP {figures['pool.gpus']:g}",
        value=float(alone),
        unit="tokens",
        verdict=verdict,
        why=f"the GPUs of an engine decide: {format_binary(figures['pool.bytes'])} at {facts.tier.per_token:,.0f} B a "
        f"token hold {100 * alone / figures['pool.tokens']:.0f} % of the figure, which fits {figures['pool.gpus']:g} "
        "GPUs that share the KV heads",
    )


def request_bytes(facts: ClaimFacts) -> Finding:
    r"""Compare the bytes of one long request with the range that was named.

    .. math:: S = n B

    Parameters
    ----------
    facts
        n tokens of the long prompt [tokens], B bytes of each in the tier [B/token].

    Returns
    -------
    Finding
        The bytes of a request, S [B].

    Notes
    -----
    Whole chunk files are counted, as the back end writes them.

    References
    ----------
    An article on the announcement of 5 November 2026; `kvplan kv` for the bytes.

    Examples
    --------
    >>> import kvplan
    >>> from kvplan.claims import facts_of
    >>> request_bytes(facts_of(kvplan.load_catalogue())).computed
    '9.585 GB'
    """
    low, high = facts.figures["request.low_bytes"], facts.figures["request.high_bytes"]
    stored = facts.tier.context
    return Finding(
        published=f"{low / GB:g} to {text(high, 'B')}",
        computed=text(stored, "B"),
        value=float(stored),
        unit="B",
        verdict=agrees(holds=low <= stored <= high),
        why=f"{facts.ttft.long_tokens:,} tokens x {facts.tier.per_token:,.0f} B of this model, all layers in 16 bits; "
        "the size of a model does not decide its cache, the layers, KV heads and their width do",
    )


def _as_binary(count: float) -> float:
    """Read a figure printed in GB as if it had been GiB [B]."""
    return count / GB * GIB
