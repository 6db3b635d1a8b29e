"""A Plan as sections: what was understood, what was chosen and why, what it does, what to watch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.derivation import derivation_of
from kvplan.core.ece.strips import survival_words
from kvplan.core.explanation import numbers
from kvplan.core.sizing.candidates import MAIN_LIMITS
from kvplan.render.figures import both_bytes, margin_text, per_token, significant
from kvplan.render.kv_view import accounting_grid
from kvplan.render.limits_view import ample_limits, limit_grid
from kvplan.render.network_view import network_sections
from kvplan.render.predicted_view import predicted_sections
from kvplan.render.view import Grid, Section, View
from kvplan.render.workload_view import verdict_line, workload_sections
from kvplan.units import MIB, counted, format_binary, format_bytes, format_duration, format_percent, format_rate

if TYPE_CHECKING:
    from kvplan.schema.ece import Limit
    from kvplan.schema.plan import Candidate, Plan

_FATAL = ("engine-too-small", "recurrent-unsupported", "network-overload")
_VERDICTS = (*_FATAL, "memory-suffices", "short-context")
"""What is said with the answer; with a workload its advice says whether the tier pays off."""


def plan_view(plan: Plan, *, next_command: str = "") -> View:
    """Arrange a Plan in the order in which a person asks about it."""
    return (
        _answer(plan),
        _request(plan),
        *workload_sections(plan),
        _kv(plan),
        _memory(plan),
        _candidates(plan),
        _chosen(plan),
        _buys(plan),
        *predicted_sections(plan),
        *network_sections(plan.network, plan.constants),
        *_findings(plan),
        _sources(plan, next_command),
    )


def plan_rows(plan: Plan) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return every number of a Plan as rows: field, value, unit, formula, source."""
    data = plan.model_dump(mode="json")
    rows: list[tuple[str, ...]] = []
    for path, value in numbers(data):
        entry = derivation_of(path, plan.derivation)
        explained = (entry.unit, entry.formula, entry.source) if entry else ("", "", "")
        rows.append((path, str(value), *explained))
    return ("field", "value", "unit", "formula", "source"), rows


def _answer(plan: Plan) -> Section:
    """Give the answer first: the tier, why, and whether a tier pays off at all."""
    profile = plan.profile
    verdicts = _VERDICTS if plan.workload is None else _FATAL
    doubts = (warning.text for warning in plan.warnings if warning.id in verdicts)
    return Section(
        f"{profile.name}: {profile.nodes} nodes, {profile.erasure_code}, "
        f"{format_bytes(profile.usable_bytes, digits=3)} usable, reads {format_rate(profile.read_bytes_per_s)}",
        (plan.reason, *verdict_line(plan), *doubts),
    )


def _request(plan: Plan) -> Section:
    """Echo what was understood."""
    request, model = plan.request, plan.model
    forced = f", forced: {', '.join(request.forced)}" if request.forced else ""
    manager = "on" if request.hybrid_manager else "off"
    survive = f", to survive {request.survive}" if request.survive else ""
    engines = f"{counted(plan.hbm.engines, 'engine')} of TP {request.tp}"
    return Section(
        "Request",
        (
            (
                f"{request.model}, {request.context_tokens:,} tokens, {request.gpus:,} x {request.gpu} as {engines}"
                f"{forced}{survive}"
            ),
            (
                f"{_billions(model.params_total)} parameters, {_billions(model.params_active)} active "
                f"({model.params_source.partition(';')[0]}), weights {format_bytes(model.weights_bytes)}"
            ),
            (
                f"basis {request.basis}, software {request.software}: vLLM {request.vllm_version}, "
                f"{request.cache_backend}, {request.chunk_tokens}-token chunks, hybrid manager {manager}, "
                f"KV {request.kv_dtype}"
            ),
        ),
    )


def _kv(plan: Plan) -> Section:
    """Show the three accountings by name, and what the tier stores and gives back."""
    kv = plan.kv
    stored = f"{per_token(kv.stored_bytes_per_token)} B/token, {both_bytes(kv.context_stored_bytes)} a context"
    loaded = f"{per_token(kv.loaded_bytes_per_token)} B/token, {both_bytes(kv.context_loaded_bytes)} a context"
    sizes = (f"stored and loaded: {stored}",) if stored == loaded else (f"stored: {stored}", f"loaded: {loaded}")
    return Section(
        "KV cache", grid=accounting_grid(kv.accounting), below=(*sizes, *kv.accounting.external_tier.formula)
    )


def _memory(plan: Plan) -> Section:
    """Say what GPU memory holds before any tier."""
    hbm = plan.hbm
    verdict = "a shared tier is needed" if hbm.needs_shared_tier else "no shared tier is needed to hold them"
    assumed = any(point.id == "constants.hbm.concurrency_per_engine" for point in plan.open_points)
    return Section(
        "GPU memory",
        (
            (
                f"{format_binary(hbm.kv_bytes_per_gpu)} a GPU free for KV (overhead assumed): "
                f"{counted(hbm.contexts_that_fit, 'whole context')} an engine, {plan.request.concurrency:,} in flight"
                f"{' (assumed)' if assumed else ''}: {verdict}"
            ),
        ),
    )


def _candidates(plan: Plan) -> Section:
    """Show every candidate with the margins of its main limits, the chosen one marked, and why others fell."""
    candidates = plan.candidates
    return Section(
        "Candidates (margin of have over need)",
        grid=Grid(
            ("Profile", "Nodes", "Code", "Usable", "Rate", "GPUs", "Model", "Read", "Space"),
            tuple(_candidate_row(candidate) for candidate in candidates),
            "lrlrrrrrr",
            marked=next(index for index, candidate in enumerate(candidates) if candidate.chosen),
        ),
        below=tuple(
            f"{item.name} rejected: {item.reason}" for item in candidates if not item.accepted and not item.chosen
        ),
    )


def _candidate_row(candidate: Candidate) -> tuple[str, ...]:
    """Build the row of one candidate."""
    margins = {limit.name: limit for limit in candidate.limits}
    return (
        candidate.name,
        str(candidate.nodes),
        candidate.erasure_code,
        format_bytes(candidate.usable_bytes, digits=3),
        format_rate(candidate.read_bytes_per_s),
        *(_margin_of(margins.get(name)) for name in MAIN_LIMITS),
    )


def _margin_of(limit: Limit | None) -> str:
    """Write a limit's margin, with a sign that also reads without colour when it is broken."""
    if limit is None:
        return "-"
    return margin_text(limit.margin) if limit.holds else f"{margin_text(limit.margin)} !"


def _chosen(plan: Plan) -> Section:
    """Describe the chosen tier and judge it on every limit."""
    profile, wear = plan.profile, plan.profile.endurance
    tolerance = profile.fault_tolerance
    chosen = next(candidate for candidate in plan.candidates if candidate.chosen)
    rows, rest = ample_limits(chosen.limits)
    drives = f"{profile.drives_per_node} x {format_bytes(profile.drive_bytes)}"
    groups = counted(profile.recovery_groups, "recovery group")
    usable = format_percent(profile.usable_fraction)
    layout = f"block {profile.block_bytes // MIB} MiB, {profile.spare_pdisks} spare pdisks, {groups}"
    survives = survival_words(tolerance.node_failures, tolerance.further_device_failures)
    recommended = "recommended" if tolerance.ibm_recommended else f"IBM names {', '.join(tolerance.ibm_codes) or '-'}"
    return Section(
        f"Profile {profile.name}",
        (
            f"{profile.nodes} nodes of {drives}: {both_bytes(profile.raw_bytes)} raw",
            f"usable {both_bytes(profile.usable_bytes)} before file-system metadata",
            f"code efficiency {format_percent(profile.code_efficiency)}, real usable {usable} ({layout})",
            f"survives {survives}; {recommended}",
            (
                f"rebuild at least {format_duration(profile.rebuild.drive_s)} a drive, "
                f"{format_duration(profile.rebuild.node_s)} a node"
            ),
            f"endurance allows {format_rate(wear.allowed_write_bytes_per_s)} of sustained writes",
        ),
        grid=limit_grid(rows),
        below=(rest,) if rest else (),
    )


def _buys(plan: Plan) -> Section:
    """Say what the tier buys for this model and context."""
    bought, demand = plan.buys, plan.demand
    basis = ("workload", "workload") if plan.workload else ("guidance", "hit share assumed")
    return Section(
        "What it buys",
        (
            (
                f"{significant(bought.hits_per_s)} whole-context hits/s at {_planned_of(plan)}; a GPU's share is "
                f"{significant(bought.hits_per_s_per_gpu)} hits/s, {format_rate(bought.read_bytes_per_s_per_gpu)}"
            ),
            (
                f"{bought.contexts_held:,} contexts of {plan.request.context_tokens:,} tokens held; one loads in at "
                f"least {format_duration(bought.load_s)}"
            ),
            (
                f"asked for: read {format_rate(demand.read_bytes_per_s)} ({basis[0]}), write "
                f"{format_rate(demand.write_bytes_per_s)} ({basis[1]}), hold "
                f"{format_bytes(demand.capacity_bytes)}"
            ),
            plan.other_software.text,
        ),
    )


def _planned_of(plan: Plan) -> str:
    """Say what bounds the planned read rate: the planned share of the tier, or what lies between tier and GPUs."""
    network = plan.network
    if plan.workload and plan.buys.planned_read_bytes_per_s < network.read_bytes_per_s:
        return f"{format_percent(plan.constants['guidance.planned_read_share'].value, 0)} of what writes leave of reads"
    if plan.buys.planned_read_bytes_per_s < network.read_bytes_per_s:
        return f"{format_percent(plan.constants['guidance.planned_read_share'].value, 0)} of read bandwidth"
    return f"the {format_rate(network.read_bytes_per_s)} that the {network.binding_stage} stage lets through"


def _findings(plan: Plan) -> tuple[Section, ...]:
    """List warnings and open points."""
    warnings = tuple(f"{warning.severity}: {warning.text} [{warning.id}]" for warning in plan.warnings)
    points = tuple(f"{point.id}: {point.text}" for point in plan.open_points)
    return (
        Section(f"Warnings ({len(warnings)})", warnings or ("none",)),
        Section(f"Open points, assumed and to be confirmed ({len(points)})", points or ("none",)),
    )


def _sources(plan: Plan, next_command: str) -> Section:
    """Say what the figures rest on and what to do next."""
    lock = plan.catalogue
    tables = f" with {', '.join(lock.user_tables)}" if lock.user_tables else ""
    lines = [f"kvplan {plan.kvplan_version}, catalogue {lock.version} ({lock.sha256[:12]}){tables}"]
    if next_command:
        lines.append(f"next: {next_command}")
    return Section("Plan", tuple(lines))


def _billions(count: int) -> str:
    """Write a parameter count in billions."""
    return f"{count / 1e9:,.4g}B"
