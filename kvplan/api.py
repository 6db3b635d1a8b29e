"""The public functions: what the command line does, for programs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kvplan.catalogue.loader import load_catalogue
from kvplan.core.ece import report as ece
from kvplan.core.sizing import kv_report as kv
from kvplan.core.sizing.engine import size_resolved
from kvplan.resolve import resolve, resolve_design, resolve_kv, resolve_release

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kvplan.catalogue.loader import Catalogue
    from kvplan.core.design.inputs import DesignInputs
    from kvplan.schema.bom import Bom
    from kvplan.schema.build import BuildOptions
    from kvplan.schema.claims import ClaimsReport
    from kvplan.schema.design import Design
    from kvplan.schema.plan import Plan
    from kvplan.schema.price_book import PriceBook, QuoteTerms
    from kvplan.schema.reports import EceReport, EceRequest, KvReport, KvRequest
    from kvplan.schema.request import Request
    from kvplan.schema.site.site import Site
    from kvplan.schema.tracing import KvBytes, TraceAsked, TraceReport
    from kvplan.site.deployment import Deployment
    from kvplan.traces.report import Phases


def size(request: Request, *, catalogue: Catalogue | None = None, profile_dirs: tuple[Path, ...] = ()) -> Plan:
    """Size a shared KV-cache tier.

    Parameters
    ----------
    request
        Model, context length [tokens], GPUs [1] and whatever else is not left to its default.
    catalogue
        Tables to use; the built-in ones when absent.
    profile_dirs
        Directories with further profiles.

    Returns
    -------
    Plan
        Profile, network budget, warnings, open points and the derivation of every number.

    Raises
    ------
    InputError
        With everything that is wrong with the request, at once.
    NoProfileFitsError
        When no candidate holds every limit.

    Examples
    --------
    The reference system, as the Redbook publishes it:

    >>> from kvplan import Request, size
    >>> plan = size(Request(model="openai/gpt-oss-120b", context_tokens=130_000, gpus=128))
    >>> plan.profile.name, plan.profile.erasure_code, plan.profile.read_bytes_per_s, plan.kv.stored_bytes_per_token
    ('standard-8', '8+2P', 315000000000.0, 73728.0)

    References
    ----------
    IBM Redbook MD260021 "Context without Limits".
    """
    return size_resolved(resolve(request, catalogue or load_catalogue(), profile_dirs))


def kv_report(request: KvRequest, *, catalogue: Catalogue | None = None) -> KvReport:
    """Count the KV cache of a model three ways.

    Parameters
    ----------
    request
        Model, context length [tokens], and whatever else is not left to its default.
    catalogue
        Tables to use; the built-in ones when absent.

    Returns
    -------
    KvReport
        Accountings [B], what GPU memory holds, and what vLLM prints.

    Raises
    ------
    InputError
        With everything that is wrong with the request, at once.

    Examples
    --------
    >>> from kvplan.schema.reports import KvRequest
    >>> report = kv_report(KvRequest(model="gpt-oss-120b", context_tokens=130_000))
    >>> report.accounting.minimal.bytes_per_token, report.accounting.external_tier.bytes_per_token
    (36864.0, 73728.0)
    """
    return kv.kv_report(resolve_kv(request, catalogue or load_catalogue()))


def ece_report(request: EceRequest, *, catalogue: Catalogue | None = None) -> EceReport:
    """Work out an erasure code over nodes and drives.

    Parameters
    ----------
    request
        Nodes, drives, drive size [B], code and block size [MiB].
    catalogue
        Tables to use; the built-in ones when absent.

    Returns
    -------
    EceReport
        Capacity [B], tolerance, limits, rebuild time [s] and endurance.

    Raises
    ------
    InputError
        When the code or the release is unknown.

    Examples
    --------
    >>> from kvplan.schema.reports import EceRequest
    >>> asked = EceRequest(nodes=8, drives_per_node=16, drive_bytes=7_680_000_000_000, erasure_code="8+2P", block_mib=4)
    >>> round(ece_report(asked).usable_bytes / 1e12)
    744
    """
    tables = catalogue or load_catalogue()
    return ece.ece_report(request, resolve_release(request.release, tables), tables.constants())


def reference_claims(*, catalogue: Catalogue | None = None) -> ClaimsReport:
    """Compute every published claim about the reference system anew.

    Parameters
    ----------
    catalogue
        Tables with claims and published figures; the built-in ones when absent.

    Returns
    -------
    ClaimsReport
        Each claim with what was published, what comes out, a verdict and the reason.

    Raises
    ------
    InputError
        With every row of a user's table that cannot be computed with.

    Examples
    --------
    >>> claims = {claim.id: claim for claim in reference_claims().claims}
    >>> claims["gain-56x"].computed, claims["gain-56x"].verdict, claims["one-gpu"].computed, claims["one-gpu"].verdict
    ('56.4x', 'agrees', '5.3 GPUs', 'contradicts')
    """
    from kvplan.claims import claims_report  # noqa: PLC0415 - sizing must not load the claims

    return claims_report(catalogue or load_catalogue())


def design(plan: Plan, options: BuildOptions | None = None, *, catalogue: Catalogue | None = None) -> Design:
    """Rack, cable and address a Plan.

    Parameters
    ----------
    plan
        The Plan; its parts are taken as they are kept in it.
    options
        How it is to be built; defaults when absent.
    catalogue
        Tables for cables, transceivers and enclosures; the built-in ones when absent.

    Returns
    -------
    Design
        Devices, rack positions, ports, cables, addresses and what the rules find.

    Raises
    ------
    InputError
        With every name in the options that is unknown, or when a table lacks a device.

    Examples
    --------
    >>> from kvplan.reference import PLAN
    >>> built = design(PLAN)
    >>> built.switches.leaves, built.switches.spines, built.switches.management
    (2, 1, 1)
    """
    from kvplan.core.design.engine import design_of  # noqa: PLC0415 - sizing must not load the design

    return design_of(design_inputs(plan, options, catalogue=catalogue))


def design_inputs(
    plan: Plan, options: BuildOptions | None = None, *, catalogue: Catalogue | None = None
) -> DesignInputs:
    """Look up what the physical design of a Plan needs beside the Plan.

    Parameters
    ----------
    plan
        The Plan.
    options
        How it is to be built; defaults when absent.
    catalogue
        Tables to use; the built-in ones when absent.

    Returns
    -------
    DesignInputs
        The Plan with enclosures, cable families and transceivers.

    Raises
    ------
    InputError
        With every name in the options that is unknown.
    """
    from kvplan.schema.build import BuildOptions as Defaults  # noqa: PLC0415 - sizing must not load the options

    return resolve_design(plan, options or Defaults(), catalogue or load_catalogue())


def bill(
    plan: Plan,
    built: Design,
    *,
    terms: QuoteTerms,
    books: Sequence[PriceBook] = (),
    catalogue: Catalogue | None = None,
) -> Bom:
    """List what a design takes, and price it from the user's books.

    Parameters
    ----------
    plan
        The Plan.
    built
        Its design.
    terms
        Day, currency, discounts and rates of the quote.
    books
        Price books, the earliest first; a later one wins.
    catalogue
        Tables with kit and spares; the built-in ones when absent.

    Returns
    -------
    Bom
        Lines by group; what has no price is blank and counted.

    Examples
    --------
    >>> from datetime import date
    >>> from kvplan.reference import PLAN
    >>> from kvplan.schema.price_book import QuoteTerms
    >>> made = bill(PLAN, design(PLAN), terms=QuoteTerms(date=date(2026, 11, 30)))
    >>> made.complete, made.total
    (False, Decimal('0'))
    """
    from kvplan.bom import quote, tables  # noqa: PLC0415 - sizing must not load the bill of materials

    return quote.bill(plan, built, tables=tables.tables_of(catalogue or load_catalogue()), books=books, terms=terms)


def deployment(plan: Plan, site: Site, *, catalogue: Catalogue | None = None) -> Deployment:
    """Bring a Plan and a Site together.

    Parameters
    ----------
    plan
        The Plan.
    site
        The Site; its `build` decides how the Plan is racked, cabled and addressed.
    catalogue
        Tables with settings and compatibility; the built-in ones when absent.

    Returns
    -------
    Deployment
        Each machine with everything that a file about it says.

    Raises
    ------
    InputError
        With every name in the Site's build options that is unknown.
    """
    from kvplan.core.seal import plan_sha256  # noqa: PLC0415 - sizing must not load the deployment
    from kvplan.site.deployment import Deployment as Brought  # noqa: PLC0415 - as above

    tables = catalogue or load_catalogue()
    return Brought(
        plan=plan,
        plan_sha256=plan_sha256(plan),
        site=site,
        design=design(plan, site.build, catalogue=tables),
        settings=tables.settings(),
        compatibility=tables.compatibility(),
        backend=tables.backend(site.inference.cache_backend),
        release=resolve_release(site.versions.storage_scale, tables),
    )


def trace_report(
    path: str | Path,
    asked: TraceAsked | None = None,
    *,
    strict: bool = False,
    catalogue: Catalogue | None = None,
    phases: Phases | None = None,
) -> TraceReport:
    """Say what a request trace tells of the cache that would serve it.

    Parameters
    ----------
    path
        The trace, packed or not; `-` is stdin.
    asked
        Model, target, scale and tiers; defaults when absent.
    strict
        Refuse a trace with lines that cannot be used.
    catalogue
        Tables to use; the built-in ones when absent.
    phases
        Called now and then with what is being done, how much of it is done, and of how much.

    Returns
    -------
    TraceReport
        Hit ratios, working set, capacity [tokens, B], rates [tokens/s, B/s], and what cannot be known.

    Raises
    ------
    InputError
        When the model is unknown, the trace cannot be read, or, if strict, a line of it cannot be used.
    """
    from kvplan.schema.tracing import TraceAsked as Defaults  # noqa: PLC0415 - sizing must not load traces
    from kvplan.traces.reading import read_trace  # noqa: PLC0415 - as above
    from kvplan.traces.report import refuse_malformed  # noqa: PLC0415 - as above
    from kvplan.traces.report import trace_report as report_of  # noqa: PLC0415 - as above

    wanted = asked or Defaults()
    # Before the trace, which may take minutes.
    tables = catalogue or load_catalogue()
    kv = _trace_kv(wanted, tables)
    trace = read_trace(
        path,
        block_tokens=wanted.block_tokens,
        characters_per_token=wanted.characters_per_token,
        progress=partial(phases, "reading") if phases else None,
    )
    if strict:
        refuse_malformed(trace)
    most = max(int(tables.constants()["trace.sampled_accesses"].value), 1)
    return report_of(trace, wanted, kv, most, phases)


def _trace_kv(asked: TraceAsked, catalogue: Catalogue) -> KvBytes | None:
    """Count the bytes of a token for the model of a trace, if there is one."""
    from kvplan.schema.reports import KvRequest as Asked  # noqa: PLC0415 - for traces only
    from kvplan.schema.tracing import KvBytes as Found  # noqa: PLC0415 - for traces only

    if asked.model is None:
        return None
    request = Asked(
        model=asked.model,
        # Bytes a token are the same for every context; this one every model has.
        context_tokens=1024,
        kv_dtype=asked.kv_dtype,
        software=asked.software,
        cache_backend=asked.cache_backend,
    )
    report = kv_report(request, catalogue=catalogue)
    return Found(
        model=report.model,
        kv_dtype=report.kv_dtype,
        cache_backend=report.cache_backend,
        stored_bytes_per_token=report.accounting.external_tier.bytes_per_token,
        loaded_bytes_per_token=report.loaded_bytes_per_token,
    )
