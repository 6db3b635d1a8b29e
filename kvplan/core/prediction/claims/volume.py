"""Claims about tokens and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.prediction.claims.finding import Finding, agrees, close, text
from kvplan.units import GB, GIB, format_binary

if TYPE_CHECKING:
    from kvplan.core.prediction.claims.facts import ClaimFacts
    from kvplan.schema.claims import Verdict


def volume(facts: ClaimFacts) -> Finding:
    """Multiply unique prompts, their length and the bytes of a token."""
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
    """Divide the volume by the bytes of a token: so many tokens were unique."""
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
    """Compare the length that follows from unique tokens with the model's limit."""
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
    """Let kvplan's model of vLLM say what the memory of a GPU holds, alone and in an engine of several."""
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
    """Compare the bytes of one long request with the range that was named."""
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
