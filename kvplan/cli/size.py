"""`kvplan size`: from model, context and GPUs to a Plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.cli import options, workload

if TYPE_CHECKING:
    from pathlib import Path

    from kvplan.cli.parsing import Options
    from kvplan.errors import Problem
    from kvplan.schema.plan import Plan

EXAMPLES = options.examples(
    "kvplan size --model openai/gpt-oss-120b --context 130k --gpus 128",
    "kvplan size --model ./config.json --context 64Ki --gpus 64 --gpu h200 \\\n"
    "      --tp 2 --cache-backend vllm-fs --format json",
    "kvplan size --model gpt-oss-120b --context 128k --gpus 256 --gpu h200 \\\n"
    "      --workload agent --with routing=sticky",
)
_SAVED = {"json": (".json",), "yaml": (".yaml", ".yml"), "csv": (".csv",), "md": (".md",), "table": (".txt",)}
"""The endings that say something else than the JSON of a saved Plan."""
_NAMES = {
    "model": "--model",
    "context_tokens": "--context",
    "gpus": "--gpus",
    "gpu": "--gpu",
    "tp": "--tp",
    "kv_dtype": "--kv-dtype",
    "concurrency": "--concurrency",
    "gpu_memory_utilisation": "--gpu-memory-utilisation",
    "software": "--software",
    "cache_backend": "--cache-backend",
    "chunk_tokens": "--chunk-tokens",
    "checkpoint_tokens": "--checkpoint-tokens",
    "params_total": "--params",
    "params_active": "--active-params",
    "profile": "--profile",
    "nodes": "--nodes",
    "erasure_code": "--code",
    "survive": "--survive",
    "oversubscription": "--oversubscription",
}


def size(  # noqa: PLR0913 - one parameter an option
    *,
    model: options.Model,
    context: options.Context,
    gpus: options.Gpus,
    gpu: options.Gpu = "rtx-pro-6000",
    tp: options.Tp = None,
    kv_dtype: options.KvDtype = "bf16",
    concurrency: options.EngineConcurrency = None,
    gpu_memory_utilisation: options.Utilisation = "0.9",
    software: options.Software = "reference",
    cache_backend: options.CacheBackend = None,
    chunk_tokens: options.ChunkTokens = None,
    checkpoint_tokens: options.CheckpointTokens = None,
    hybrid_manager: options.HybridManager = None,
    params: options.Params = None,
    active_params: options.ActiveParams = None,
    profile: options.Profile = None,
    nodes: options.Nodes = None,
    code: options.Code = None,
    survive: options.Survive = None,
    oversubscription: options.Oversubscription = "1",
    beyond_max: options.BeyondMax = False,
    workload_: workload.Name = None,
    with_: workload.Numbers = None,
    trace: workload.Trace = None,
    fleet_scale: workload.Scale = None,
    compare_backends: options.CompareBackends = False,
    catalogue: options.CatalogueDirs = None,
    profiles: options.ProfileDirs = None,
    output: options.SavedPlan = None,
    format_: options.Format = "table",
) -> None:
    """Choose a storage tier for model, context and GPUs.

    Prints the profile, the candidates with their margins, the network budget, what is predicted and what to watch;
    `-o` saves the Plan that every later verb reads. With a workload it answers whether the tier is worth it.
    """
    from kvplan.cli.parsing import Options

    asked = Options(_NAMES)
    asked.plain(model=model, gpu=gpu, software=software, cache_backend=cache_backend)
    asked.plain(kv_dtype=options.dtype_of(kv_dtype))
    asked.plain(hybrid_manager=hybrid_manager, beyond_max=beyond_max)
    asked.plain(profile=profile, erasure_code=code, survive=survive)
    asked.counts(context_tokens=context)
    asked.counts("128", gpus=gpus)
    asked.counts("8", tp=tp, concurrency=concurrency, nodes=nodes)
    asked.counts(chunk_tokens=chunk_tokens, checkpoint_tokens=checkpoint_tokens)
    asked.params(params_total=params, params_active=active_params)
    asked.numbers(gpu_memory_utilisation=gpu_memory_utilisation, oversubscription=oversubscription)
    asked.numbers(fleet_scale=fleet_scale)
    served = workload.WorkloadAsked(workload_, with_, trace, asked.take("fleet_scale"))
    _size(asked, served, (catalogue, profiles), (output, format_), compare=compare_backends)


def _size(
    asked: Options,
    served: workload.WorkloadAsked,
    tables: tuple[list[Path] | None, list[Path] | None],
    shown: tuple[Path | None, str],
    *,
    compare: bool,
) -> None:
    """Build the request, size it, save and show the Plan."""
    from kvplan.api import size as size_request
    from kvplan.cli.console import out
    from kvplan.cli.shared import FORMATS, open_catalogue
    from kvplan.core.seal import sealed
    from kvplan.inputs.files import write_atomically
    from kvplan.schema.request import Request
    from kvplan.settings import CATALOGUE_VARIABLE, PROFILES_VARIABLE, Settings

    (catalogue, profiles), (output, format_) = tables, shown
    chosen = asked.form(format_, FORMATS)
    with asked.problems.kept():
        _check_target(output, chosen)
    settings = Settings.from_environment()
    asked.directories(CATALOGUE_VARIABLE, settings.catalogue_dirs)
    asked.directories("--catalogue", catalogue)
    extra = (
        *asked.directories(PROFILES_VARIABLE, settings.profile_dirs),
        *asked.directories("--profiles", profiles),
    )
    with asked.problems.kept():
        asked.plain(workload=workload.read_workload(served, open_catalogue(catalogue)))
        asked.plain(workload_name=served.title if served.given else None)
    request = asked.build(Request, lambda: _unknown(asked, catalogue, extra))
    plan = sealed(size_request(request, catalogue=open_catalogue(catalogue), profile_dirs=extra))
    if output == options.STDOUT:
        out(_document(plan))
        return
    if output is not None:
        write_atomically(output, _document(plan))
    if compare:
        _compare(plan, chosen, catalogue)
    else:
        _show(plan, chosen, output)


def _check_target(output: Path | None, chosen: str) -> None:
    """Refuse to save a Plan, which is JSON, under the name of something else, and to print two formats."""
    from kvplan.cli.parsing import format_of
    from kvplan.errors import InputError

    if output != options.STDOUT:
        format_of(output, "json", _SAVED, default="json")
    elif chosen not in {"json", "table"}:
        what = f"- prints the Plan as json, not as {chosen}"
        raise InputError.single(where="--output", what=what, hint="leave -o - out")


def _unknown(asked: Options, catalogue: list[Path] | None, profiles: tuple[Path, ...]) -> list[Problem]:
    """Find unknown names beside values that are wrong themselves."""
    from kvplan.cli.shared import open_catalogue
    from kvplan.errors import InputError
    from kvplan.resolve import unknown_names

    try:
        tables = open_catalogue(catalogue)
    except InputError:
        return []  # the directory or table at fault is a problem already
    return unknown_names(
        tables,
        profiles,
        model=asked.text("model"),
        gpu=asked.text("gpu"),
        profile=asked.text("profile") or None,
        erasure_code=asked.text("erasure_code") or None,
    )


def _document(plan: Plan) -> str:
    """Write the Plan as it is saved."""
    from kvplan.render.data import record_json

    return record_json(plan)


def _show(plan: Plan, chosen: str, output: Path | None) -> None:
    """Print the Plan in the format asked for."""
    from kvplan.cli.shared import show
    from kvplan.render.plan_view import plan_rows, plan_view

    verbs = "explain", "network", "bom", "report"
    saved = f"kvplan {', '.join(verbs[:-1])} or {verbs[-1]} {output}"
    follow_up = saved if output else "run again with -o plan.json, then kvplan explain, network, bom or report"
    show(
        chosen,
        data=lambda: plan.model_dump(mode="json"),
        view=lambda: plan_view(plan, next_command=follow_up),
        title=f"{plan.request.model}: {plan.profile.name}",
        rows=lambda: plan_rows(plan),
    )


def _compare(plan: Plan, chosen: str, catalogue: list[Path] | None) -> None:
    """Print the Plan's tier beside other back ends of the shared tier."""
    from kvplan.catalogue.tables import ALTERNATIVES
    from kvplan.cli.shared import open_catalogue, show
    from kvplan.core.prediction.alternatives import comparisons
    from kvplan.render.alternatives_view import alternatives_view
    from kvplan.render.catalogue_view import rows_table

    rows = open_catalogue(catalogue).records(ALTERNATIVES)
    show(
        chosen,
        data=lambda: {
            "format_version": plan.format_version,
            "backends": [found.model_dump(mode="json") for found in comparisons(plan, rows)],
        },
        view=lambda: alternatives_view(plan, rows),
        title="Shared tiers beside each other",
        rows=lambda: rows_table(comparisons(plan, rows)),
    )
