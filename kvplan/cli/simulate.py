"""`kvplan simulate`: the fleet of a Plan at work, with its shared tier and without it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kvplan.cli import building, options, simulating, workload
from kvplan.units import GB

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.catalogue.loader import Catalogue
    from kvplan.cli.parsing import Options
    from kvplan.schema.plan import Plan
    from kvplan.schema.simulating import SimulationReport
    from kvplan.simulating import NamedWorkload
    from kvplan.traces.records import Trace

EXAMPLES = options.examples(
    "kvplan simulate plan.json --rate 10 --prompt-tokens 57k --hit-share 0.95",
    "kvplan simulate plan.json --workload agent --with local_hit_share=0.8",
    "kvplan simulate plan.json --trace conversation_trace.jsonl.xz -o ttft.svg",
    "kvplan simulate plan.json --rate 10 --prompt-tokens 57k --hit-share 0.95 \\\n"
    "      --fail node@300 --burst 128@450 -o ttft.svg",
)
_SAVED: Final = {"svg": (".svg",), "json": (".json",)}
_NAMES: Final = {
    "requests_per_s": "--rate",
    "prompt_tokens": "--prompt-tokens",
    "prompt_sigma": "--spread",
    "hit_share": "--hit-share",
    "tier_share": "--tier-share",
    "reuse_gap_s": "--reuse-gap",
    "start": "--start",
    "duration_s": "--duration",
    "speed": "--speed",
    "routing": "--routing",
    "placement": "--placement",
    "engines": "--engines",
    "local_tokens": "--local-tokens",
    "stream_bytes_per_s": "--stream-gb-per-s",
    "prefill": "--prefill",
    "derate": "--derate",
    "fails": "--fail",
    "burst": "--burst",
    "seed": "--seed",
}
_WHEN: Final = "such as {}@300, seconds from the beginning"


def simulate(  # noqa: PLR0913 - one parameter an option
    plan: building.PlanFile,
    *,
    trace: simulating.TraceFile = None,
    block_tokens: simulating.BlockTokens = None,
    workload_: simulating.Workload = None,
    with_: workload.Numbers = None,
    rate: simulating.Rate = None,
    prompt_tokens: simulating.PromptTokens = None,
    spread: simulating.PromptSpread = None,
    hit_share: simulating.HitShare = None,
    tier_share: simulating.TierShare = None,
    start: simulating.Start = None,
    reuse_gap: simulating.ReuseGap = None,
    duration: simulating.Duration = None,
    speed: simulating.Speed = "1",
    routing: simulating.Routing = None,
    placement: simulating.Placement = "striped",
    engines: simulating.Engines = None,
    local_tokens: simulating.LocalTokens = None,
    stream_gb_per_s: simulating.StreamRate = None,
    prefill: simulating.Prefill = None,
    derate: simulating.Derate = None,
    fail: simulating.Fail = None,
    burst: simulating.Burst = None,
    seed: simulating.Seed = "0",
    catalogue: options.CatalogueDirs = None,
    output: options.Output = None,
    format_: options.Format = "table",
) -> None:
    """Simulate the fleet: first tokens with the tier and without.

    Requests come at random, as a workload says, or from a trace; engines compute one prompt after the other, fetches
    share the network fairly. `-o` saves a drawing of the times (.svg) or everything (.json).
    """
    from kvplan.cli.parsing import Options

    asked = Options(_NAMES)
    asked.plain(routing=routing, placement=placement, start=start)
    asked.counts("128", prompt_tokens=prompt_tokens, engines=engines, local_tokens=local_tokens, seed=seed)
    asked.numbers(requests_per_s=rate, prompt_sigma=spread, hit_share=hit_share, tier_share=tier_share, speed=speed)
    asked.numbers(reuse_gap_s=reuse_gap, duration_s=duration, derate=derate)
    _stream(asked, stream_gb_per_s)
    _events(asked, fail or [], burst)
    _prefill(asked, prefill)
    served = workload.WorkloadAsked(workload_, with_, None, None)
    files = {"plan": plan, "trace": trace, "block_tokens": block_tokens, "workload": Path(workload_ or "")}
    _simulate(asked, served, files, (catalogue, output, format_))


def _simulate(
    asked: Options,
    served: workload.WorkloadAsked,
    files: Mapping[str, Any],
    shown: tuple[list[Path] | None, Path | None, str],
) -> None:
    """Read everything, simulate, save and show."""
    from kvplan.cli.parsing import format_of, keep_inputs
    from kvplan.cli.shared import FORMATS, open_catalogue, read_plan, show
    from kvplan.inputs.files import write_atomically
    from kvplan.render.simulate_view import simulate_rows, simulate_view
    from kvplan.schema.simulating import SimulationRequest as Wanted
    from kvplan.simulating import simulate_plan

    catalogue, output, format_ = shown
    chosen = asked.form(format_, FORMATS)
    with asked.problems.kept():
        saved = format_of(output, None, _SAVED, default="json") if output else ""
    with asked.problems.kept():
        keep_inputs(output, files)
    comes = None
    with asked.problems.kept():
        comes = _named(served, open_catalogue(catalogue))
    with asked.problems.kept():
        plan = read_plan(files["plan"])
        comes = comes or _changed(served, plan, open_catalogue(catalogue))
    with asked.problems.kept():
        trace = _read(files["trace"], files["block_tokens"])
    request = asked.build(Wanted)
    report = simulate_plan(plan, request, trace=trace, workload=comes, catalogue=open_catalogue(catalogue))
    if output is not None:
        write_atomically(output, _document(report, saved))
    show(
        chosen,
        data=lambda: report.model_dump(mode="json"),
        view=lambda: simulate_view(report),
        title=f"{plan.request.model} on {plan.profile.name}",
        rows=lambda: simulate_rows(report),
    )


def _named(asked: workload.WorkloadAsked, catalogue: Catalogue) -> NamedWorkload | None:
    """Read the workload that has a name or a file."""
    from kvplan.simulating import NamedWorkload

    found = workload.read_workload(asked, catalogue) if asked.name else None
    return NamedWorkload(asked.title, found) if found else None


def _changed(asked: workload.WorkloadAsked, plan: Plan, catalogue: Catalogue) -> NamedWorkload | None:
    """Put single numbers into the workload of the Plan; where it has none they must say all of it."""
    from kvplan.simulating import NamedWorkload

    planned = plan.workload
    found = workload.read_workload(asked, catalogue, planned.given if planned else None) if not asked.name else None
    return NamedWorkload(f"{planned.name}, changed" if planned else asked.title, found) if found else None


def _document(report: SimulationReport, saved: str) -> str:
    """Write what is saved."""
    from kvplan.render.data import record_json
    from kvplan.render.simulate_chart import ttft_svg

    return ttft_svg(report) if saved == "svg" else record_json(report)


def _read(path: Path | None, block_tokens: str | None) -> Trace | None:
    """Read the trace, if there is one."""
    from kvplan.cli.parsing import Options
    from kvplan.errors import InputError
    from kvplan.traces.reading import read_trace

    blocks = Options({"block_tokens": "--block-tokens"})
    blocks.counts("512", block_tokens=block_tokens)
    blocks.problems.raise_any()
    if path is None:
        if block_tokens is not None:
            raise InputError.single(where="--block-tokens", what="is for a trace only", allowed="with --trace FILE")
        return None
    return read_trace(path, block_tokens=blocks.value("block_tokens"))


def _stream(asked: Options, text: str | None) -> None:
    """Read the rate of one engine, in GB/s."""
    asked.scaled(GB, "GB/s above 0, such as 22.5", stream_bytes_per_s=text)
    value = asked.value("stream_bytes_per_s")
    if value is not None:
        asked.plain(stream_bytes_per_s=float(value))


def _events(asked: Options, fails: list[str], burst: str | None) -> None:
    """Read what happens when."""
    from kvplan.errors import Problem

    failures = []
    for text in fails:
        what, _, when = text.partition("@")
        moment = _number(when)
        if moment is None or what not in {"drive", "node", "leaf", "nothing"}:
            allowed = f"drive, node, leaf or nothing with its time, {_WHEN.format('node')}"
            asked.problems.found.append(Problem("--fail", f"{text!r} says no loss and time", allowed=allowed))
        else:
            failures.append({"lost": what, "at_s": moment})
    asked.plain(fails=tuple(failures))
    if burst is not None:
        count, _, when = burst.partition("@")
        moment, requests = _number(when), _number(count)
        if moment is None or requests is None or requests != int(requests):
            allowed = f"a whole number with its time, {_WHEN.format(128)}"
            asked.problems.found.append(Problem("--burst", f"{burst!r} says no count and time", allowed=allowed))
        else:
            asked.plain(burst={"requests": int(requests), "at_s": moment})


def _prefill(asked: Options, text: str | None) -> None:
    """Read coefficients."""
    from kvplan.errors import Problem

    if text is None:
        return
    numbers = [_number(part) for part in text.split(",")]
    names = "c0_ms", "a_us_per_token", "b_ns_per_token2"
    if None in numbers or len(numbers) != len(names):
        allowed = "three numbers: c0 in ms, a in us/token, b in ns/token^2, such as 36,17.3,0.313"
        asked.problems.found.append(Problem("--prefill", f"{text!r} says no three numbers", allowed=allowed))
    else:
        asked.plain(prefill=dict(zip(names, numbers, strict=True)))


def _number(text: str) -> float | None:
    """Read a number from 0 on; None where there is none."""
    from kvplan.units import is_number

    return float(text) if is_number(text) and 0 <= float(text) < math.inf else None
