"""`kvplan trace`: what a request trace says about the cache that would serve it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from kvplan.cli import options, tracing
from kvplan.units import TB

if TYPE_CHECKING:
    from kvplan.cli.parsing import Options
    from kvplan.schema.tracing import TraceReport

EXAMPLES = options.examples(
    "kvplan trace conversation_trace.jsonl.xz --model gpt-oss-120b",
    "kvplan trace trace.jsonl --model gpt-oss-120b --tier-tb 1.5 \\\n      --instances 8 --save curve.svg",
    "kvplan trace trace.jsonl --target 0.95 --format json",
)
_NAMES: Final = {
    "model": "--model",
    "kv_dtype": "--kv-dtype",
    "software": "--software",
    "cache_backend": "--cache-backend",
    "block_tokens": "--block-tokens",
    "characters_per_token": "--characters-per-token",
    "target": "--target",
    "fleet_scale": "--fleet-scale",
    "tier_bytes": "--tier-tb",
    "instances": "--instances",
}
_SAVE: Final = "--save"
_ENDINGS: Final = (".json", ".csv", ".svg")


def trace(  # noqa: PLR0913 - one parameter an option
    file: tracing.TraceFile,
    *,
    model: tracing.Model = None,
    kv_dtype: options.KvDtype = "bf16",
    software: options.Software = "reference",
    cache_backend: options.CacheBackend = None,
    block_tokens: tracing.BlockTokens = None,
    characters_per_token: tracing.CharactersPerToken = "4",  # noqa: S107 - no password
    target: tracing.Target = "0.9",
    fleet_scale: tracing.FleetScale = "1",
    tier_tb: tracing.TierSizes = None,
    instances: tracing.Instances = "1",
    save: tracing.Save = None,
    strict: tracing.Strict = False,
    catalogue: options.CatalogueDirs = None,
    format_: options.Format = "table",
) -> None:
    """Read a request trace: hit ratios, working set, rates.

    Takes Mooncake, Qwen-Bailian and AIPerf traces, and the Azure and BurstGPT tables, which say less. The form is told
    by the content.
    """
    from kvplan.cli.parsing import Options

    asked = Options(_NAMES)
    asked.plain(model=model, software=software, cache_backend=cache_backend)
    asked.plain(kv_dtype=options.dtype_of(kv_dtype))
    asked.counts("512", block_tokens=block_tokens)
    asked.counts("8", instances=instances)
    asked.numbers(characters_per_token=characters_per_token, target=target, fleet_scale=fleet_scale)
    _tiers(asked, tier_tb or [], model)
    _trace(asked, file, save, catalogue, format_, strict=strict)


def _trace(
    asked: Options, file: Path, save: Path | None, catalogue: list[Path] | None, format_: str, *, strict: bool
) -> None:
    """Read the trace, save the curve, and show the report."""
    from kvplan.api import trace_report
    from kvplan.cli.progress import bar
    from kvplan.cli.shared import FORMATS, open_catalogue, show
    from kvplan.render.trace_view import trace_rows, trace_view
    from kvplan.schema.tracing import TraceAsked

    chosen = asked.form(format_, FORMATS)
    with asked.problems.kept():
        _check_save(save, file)
    request = asked.build(TraceAsked)
    with bar() as phases:
        report = trace_report(file, request, strict=strict, catalogue=open_catalogue(catalogue), phases=phases)
    if save is not None:
        _save(report, save)
    show(
        chosen,
        data=lambda: report.model_dump(mode="json"),
        view=lambda: trace_view(report),
        title=f"Trace {report.trace.name}",
        rows=lambda: trace_rows(report),
    )


def _tiers(asked: Options, texts: list[str], model: str | None) -> None:
    """Read the sizes of tiers, which are bytes and so need a model."""
    from kvplan.cli.parsing import Options
    from kvplan.errors import Problem

    sizes = []
    for index, text in enumerate(texts):
        one = Options({"size": f"--tier-tb {index + 1}" if len(texts) > 1 else "--tier-tb"})
        one.scaled(TB, "TB above 0, such as 1.5", size=text)
        asked.problems.found.extend(one.problems.found)
        if (one.value("size") or 0) < 0:
            asked.problems.found.append(Problem("--tier-tb", f"{text!r} is below zero", allowed="TB above 0"))
        sizes.append(one.value("size") or 0)
    if sizes and model is None:
        what = "needs a model, which says what a token takes"
        asked.problems.found.append(Problem("--tier-tb", what, hint="give --model"))
    asked.plain(tier_bytes=tuple(sizes))


def _check_save(save: Path | None, file: Path) -> None:
    """Refuse an ending that says no format, and to write over the trace."""
    from kvplan.errors import InputError

    if save is None:
        return
    if save.suffix.lower() not in _ENDINGS:
        what = f"{str(save)!r} says no format by its ending"
        raise InputError.single(_SAVE, what, allowed=f"endings: {', '.join(_ENDINGS)}")
    if not save.parent.is_dir():
        # Said before the trace is read, which may take minutes.
        raise InputError.single(_SAVE, f"there is no directory {str(save.parent)!r}")
    if save.exists() and file.exists() and save.samefile(file):
        raise InputError.single(_SAVE, f"{str(save)!r} is the trace itself", allowed="another file")


def _save(report: TraceReport, save: Path) -> None:
    """Write the curve as the ending says."""
    from kvplan.errors import InputError
    from kvplan.inputs.files import write_atomically
    from kvplan.render.data import record_json, rows_csv
    from kvplan.render.trace_curve import curve_svg
    from kvplan.render.trace_view import curve_rows

    ending = save.suffix.lower()
    if ending != ".json" and not report.curve:
        what = "the trace has no block ids, so that there is no curve"
        raise InputError.single(_SAVE, what, allowed="a .json of what there is")
    if ending == ".json":
        text = record_json(report)
    else:
        text = curve_svg(report) if ending == ".svg" else rows_csv(*curve_rows(report))
    write_atomically(save, text)
