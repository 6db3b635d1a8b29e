"""The six questions before buying: reasons why a tier would not pay off, asked of plain numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.core.prediction.payoff import amdahl_speedup
from kvplan.schema.advice import Advice, Answer
from kvplan.units import counted, format_percent, format_rate

if TYPE_CHECKING:
    from kvplan.schema.advice import Answered, Verdict
    from kvplan.schema.workload_load import WorkloadLoad


@dataclass(frozen=True, slots=True)
class Situation:
    """What is asked of a tier and what it would do; every time and rate is that of the mean request.

    `hit_share` [1] of the prompt tokens are held by some cache. `cold_s` and `hit_s` [s] are the times to first token
    with nothing cached and with all but the new tokens cached in the tier, queueing included where it is known.
    `break_even_tokens` [tokens] is None where reading back never pays. `gpus_saved` [GPUs] is the work that the tier
    takes off the fleet, as `gpus_saved` gives it, and `busy_without` [1] how busy the fleet is without the tier, as
    `busy_without` gives it. Rates are what comes, and what is sustained with the tier and by recompute [1/s].
    """

    hit_share: float
    cold_s: float
    hit_s: float
    target_s: float
    prompt_tokens: float
    break_even_tokens: float | None
    gpus_saved: float
    storage_nodes: int
    busy_without: float
    requests_per_s: float
    sustained_per_s: float
    recompute_per_s: float
    read_bytes_per_s: float
    path_bytes_per_s: float
    path_limit: str = "the network"


@dataclass(frozen=True, slots=True)
class AdviceRules:
    """Thresholds: worthwhile speed-up [1], GPUs saved for each storage node, share of a threshold that is marginal."""

    worthwhile_speedup: float
    gpus_saved_per_node: float
    marginal_share: float


def gpus_saved(load: WorkloadLoad, gpus_per_engine: int, planned_read_bytes_per_s: float) -> float:
    r"""Return how many GPUs would be busy with what the shared tier serves.

    .. math:: G_s = \lambda g f_4 (t_0 - t) \min(1, R / r)

    Parameters
    ----------
    load
        Requests lambda [1/s] that take t of an engine with all hits, t0 with none [s]; the tier is asked for f4 of the
        hits [1], which are r [B/s].
    gpus_per_engine
        GPUs g of an engine [GPUs].
    planned_read_bytes_per_s
        What hits may read of the tier, R [B/s].

    Returns
    -------
    float
        GPUs [GPUs].

    Notes
    -----
    Work is taken to fall evenly on the hit tokens, whichever tier holds them. What GPU, host and local flash answer
    is saved without a shared tier too and does not count.

    References
    ----------
    Utilisation law: servers busy = rate x time of service.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> load = SimpleNamespace(requests_per_s=100, g4_share=0.5, cold_gpu_s=3.0, gpu_s=0.4, read_bytes_per_s=200e9)
    >>> gpus_saved(load, 1, 220e9), gpus_saved(load, 1, 100e9)
    (130.0, 65.0)
    """
    served = min(planned_read_bytes_per_s / load.read_bytes_per_s, 1.0) if load.read_bytes_per_s else 1.0
    return served * _gpus_asked(load, gpus_per_engine)


def busy_without(load: WorkloadLoad, gpus_per_engine: int, gpus: int) -> float:
    r"""Return how busy a fleet is that computes what the shared tier would serve.

    .. math:: U_0 = U + \lambda g f_4 (t_0 - t) / G

    Parameters
    ----------
    load
        The workload, which keeps the fleet busy for the share U [1] when every hit is served.
    gpus_per_engine
        GPUs of an engine [GPUs].
    gpus
        GPUs G of the fleet [GPUs].

    Returns
    -------
    float
        Share [1]; above 1 the fleet cannot serve the workload without the tier.

    References
    ----------
    As `gpus_saved`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> load = SimpleNamespace(requests_per_s=100, g4_share=0.5, cold_gpu_s=3.0, gpu_s=0.4, busy_share=0.2)
    >>> round(busy_without(load, 1, 200), 2)
    0.85
    """
    return load.busy_share + _gpus_asked(load, gpus_per_engine) / gpus


def _gpus_asked(load: WorkloadLoad, gpus_per_engine: int) -> float:
    """Return how many GPUs all that is asked of the shared tier would keep busy [GPUs]."""
    return load.requests_per_s * gpus_per_engine * load.g4_share * (load.cold_gpu_s - load.gpu_s)


def advise(situation: Situation, rules: AdviceRules) -> Advice:
    """Answer the six questions before buying a tier.

    Parameters
    ----------
    situation
        What is asked of the tier and what it would do.
    rules
        The thresholds.

    Returns
    -------
    Advice
        `not worth it` where a doubt holds, `marginal` where one holds partly, else `worth it`, with the numbers
        [s], [tokens], [GPUs], [1/s] and [B/s] that decide each question.

    Notes
    -----
    A network that is too narrow makes a tier marginal, never worthless: engines compute what they cannot fetch in time.
    Prices are not in it; the GPUs saved for each storage node stand for them.

    References
    ----------
    Each rule's own row in the table of constants; Amdahl's law for the worth of reuse.

    Examples
    --------
    Chat of 8,000 tokens, half of them repeated, on a fleet that answers in a quarter of a second anyway:

    >>> chat = Situation(hit_share=0.5, cold_s=0.25, hit_s=0.28, target_s=2, prompt_tokens=8_000,
    ...     break_even_tokens=9_000, gpus_saved=3, storage_nodes=4, busy_without=0.6, requests_per_s=100,
    ...     sustained_per_s=300, recompute_per_s=250, read_bytes_per_s=29e9, path_bytes_per_s=110e9)
    >>> advice = advise(chat, AdviceRules(1.5, 1.0, 0.5))
    >>> advice.verdict, [answer.id for answer in advice.deciding]
    ('not worth it', ['reuse', 'latency', 'recompute'])
    """
    answers = (
        _reuse(situation, rules),
        _context(situation, rules),
        _fleet(situation, rules),
        _latency(situation),
        _recompute(situation),
        _network(situation),
    )
    given = {answer.answer for answer in answers}
    verdict: Verdict = "not worth it" if "yes" in given else "marginal" if "partly" in given else "worth it"
    return Advice(verdict=verdict, answers=answers)


def _graded(have: float, need: float, marginal_share: float) -> Answered:
    """Say whether something falls short: not at all, by no more than is marginal, or by more."""
    if have >= need:
        return "no"
    return "partly" if have >= need * marginal_share else "yes"


def _reuse(situation: Situation, rules: AdviceRules) -> Answer:
    """Ask whether too little of the prompts is repeated to speed the whole up."""
    speedup = situation.cold_s / situation.hit_s
    gain, need = amdahl_speedup(situation.hit_share, speedup), rules.worthwhile_speedup
    text = (
        f"{format_percent(situation.hit_share, 0)} of the prompt tokens repeat and a hit is {speedup:.1f} times as "
        f"fast: {gain:.2f} times as much gets done, {need:g} times would be worth it"
    )
    answer = _graded(gain - 1, need - 1, rules.marginal_share)
    question = "Is too little of the prompts repeated?"
    return Answer(id="reuse", question=question, answer=answer, have=gain, need=need, unit="ratio", text=text)


def _context(situation: Situation, rules: AdviceRules) -> Answer:
    """Ask whether prompts are so short that computing them beats reading them back."""
    have, need = situation.prompt_tokens, situation.break_even_tokens
    if need is None:
        text, answer = "reading back is slower than computing at any length", _graded(0, 1, rules.marginal_share)
    else:
        text = f"prompts of {have:,.0f} tokens, reading back pays from {need:,.0f} tokens"
        answer = _graded(have, need, rules.marginal_share)
    question = "Are the contexts too short?"
    return Answer(id="context", question=question, answer=answer, have=have, need=need, unit="tokens", text=text)


def _fleet(situation: Situation, rules: AdviceRules) -> Answer:
    """Ask whether the fleet is so small that the tier costs more than it saves."""
    have, need = situation.gpus_saved, situation.storage_nodes * rules.gpus_saved_per_node
    text = (
        f"the tier does the work of {have:,.1f} GPUs; {counted(situation.storage_nodes, 'storage node')} should save "
        f"{need:,.1f} at least"
    )
    answer = _graded(have, need, rules.marginal_share)
    question = "Is the fleet too small?"
    return Answer(id="fleet", question=question, answer=answer, have=have, need=need, unit="GPUs", text=text)


def _latency(situation: Situation) -> Answer:
    """Ask whether a cold prompt is answered soon enough already, by a fleet that has the time for it."""
    cold, target = situation.cold_s, situation.target_s
    answer: Answered = "no"
    text = f"a cold prompt takes {cold:.2f} s to its first token, {target:g} s are wanted"
    if cold <= target and situation.busy_without <= 1:
        answer = "yes"
        text += f", and without the tier the fleet is {format_percent(situation.busy_without, 0)} busy"
    elif cold <= target:
        text += f", but without the tier the fleet is {format_percent(situation.busy_without, 0)} busy: it cannot"
    elif situation.hit_s > target:
        answer = "partly"
        text += f"; a hit takes {situation.hit_s:.2f} s and misses that too"
    else:
        text += f"; a hit takes {situation.hit_s:.2f} s"
    question = "Is latency no problem?"
    return Answer(id="latency", question=question, answer=answer, have=cold, need=target, unit="s", text=text)


def _recompute(situation: Situation) -> Answer:
    """Ask whether engines get more done by computing anew than by waiting for the tier."""
    have, need = situation.sustained_per_s, min(situation.recompute_per_s, situation.requests_per_s)
    text = (
        f"with the tier the fleet sustains {have:,.1f} requests a second, by computing all "
        f"{situation.recompute_per_s:,.1f}; {situation.requests_per_s:,.1f} come"
    )
    answer: Answered = "no" if have >= need else "partly"
    if have < need:
        text += "; engines should compute rather than queue for the tier"
    if situation.hit_s >= situation.cold_s:
        answer = "yes"
        text = f"a hit takes {situation.hit_s:.2f} s, computing all of it {situation.cold_s:.2f} s; {text}"
    question = "Is it cheaper to recompute?"
    return Answer(id="recompute", question=question, answer=answer, have=have, need=need, unit="1/s", text=text)


def _network(situation: Situation) -> Answer:
    """Ask whether what lies between drives and GPUs lets through what hits read."""
    have, need = situation.path_bytes_per_s, situation.read_bytes_per_s
    text = f"hits read {format_rate(need)}; {situation.path_limit} lets {format_rate(have)} through as planned"
    answer: Answered = "no" if have >= need else "partly"
    question = "Is the network the bottleneck?"
    return Answer(id="network", question=question, answer=answer, have=have, need=need, unit="B/s", text=text)
