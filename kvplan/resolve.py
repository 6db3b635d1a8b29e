"""From a request with names to a request with rows: the catalogue, profiles and model configurations are read here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kvplan.catalogue.prefills import prefill_table
from kvplan.catalogue.profiles import load_profiles
from kvplan.catalogue.tables import CABLES, ENCLOSURES, TABLES, TRANSCEIVERS
from kvplan.core.design.inputs import DesignInputs
from kvplan.core.ece.codes import parse_code
from kvplan.core.seal import plan_sha256
from kvplan.core.sizing.inputs import ProfileParts, SizingInputs, Stack, calibration_of
from kvplan.core.sizing.kv_report import KvInputs
from kvplan.core.sizing.versions import HYBRID_MANAGER_WITH_CONNECTOR_SINCE, release_key
from kvplan.errors import InputError, Problem, Problems, did_you_mean
from kvplan.models import context_problems, dtype_problems, load_model, model_facts
from kvplan.schema.plan import CatalogueLock
from kvplan.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from typing import TypeVar

    from kvplan.catalogue.loader import Catalogue
    from kvplan.core.sizing.inputs import ModelFacts
    from kvplan.models import LoadedModel
    from kvplan.schema.build import BuildOptions
    from kvplan.schema.hardware import Gpu, Server
    from kvplan.schema.plan import Plan
    from kvplan.schema.profile import Profile
    from kvplan.schema.reports import KvRequest
    from kvplan.schema.request import Request, SoftwareChoice
    from kvplan.schema.software import StorageRelease

    T = TypeVar("T")

SMALL_SERVER_GPUS = 4
"""Most GPUs of the smaller of the two servers that stand for one without a name."""
CONTROL_SERVER = "control-1u"
"""Catalogue id of the server that control nodes are."""
_NOUNS = frozenset(table.noun for table in TABLES.values())
_OTHER: dict[SoftwareChoice, SoftwareChoice] = {"reference": "current", "current": "reference"}


def resolve(request: Request, catalogue: Catalogue, profile_dirs: tuple[Path, ...] = ()) -> SizingInputs:
    """Replace every name in a request by the row it stands for.

    Parameters
    ----------
    request
        What is to be sized.
    catalogue
        Where names are looked up.
    profile_dirs
        Directories with profiles of the user's own.

    Returns
    -------
    SizingInputs
        The request with the rows it names.

    Raises
    ------
    InputError
        With every name that is unknown and every value that contradicts another, at once.
    """
    attempt = _Attempts()
    problems = attempt.found
    loaded = attempt(lambda: load_model(request.model, catalogue), "--model")
    facts = (
        attempt(lambda: model_facts(loaded, params_total=request.params_total, params_active=request.params_active))
        if loaded
        else None
    )
    gpu = attempt(lambda: catalogue.gpu(request.gpu), "--gpu")
    client_server = attempt(lambda: _client_server(gpu, catalogue), "--gpu") if gpu else None
    profiles = attempt(lambda: load_profiles(profile_dirs))
    # Whatever could be resolved is checked even when something else could not: one run names everything.
    problems.extend(_contradictions(request, loaded, facts))
    if request.erasure_code is not None:
        attempt(lambda: parse_code(request.erasure_code or ""))
    if profiles is not None:
        problems.extend(_profile_problems(request.profile, profiles))
    parts = [_parts(profile, catalogue, attempt) for profile in profiles or ()]
    if problems or not facts or not gpu or not client_server:
        raise InputError(problems)
    stack, constants = _stack(catalogue, request.software, request.cache_backend), catalogue.constants()
    return SizingInputs(
        request=request,
        model=facts,
        gpu=gpu,
        gpu_nic=catalogue.nic(gpu.nic),
        client_server=client_server,
        stack=stack,
        other_stack=_stack(catalogue, _OTHER[request.software], None),
        release=catalogue.release(stack.software.storage_scale),
        profiles=tuple(found for found in parts if found is not None),
        constants=constants,
        prefill=prefill_table(catalogue),
        calibration=calibration_of(constants),
        lock=_lock(catalogue),
        kvplan_version=VERSION,
    )


def resolve_kv(request: KvRequest, catalogue: Catalogue) -> KvInputs:
    """Replace every name in a calculator request by the row it stands for.

    Parameters
    ----------
    request
        What is to be counted.
    catalogue
        Where names are looked up.

    Returns
    -------
    KvInputs
        The request with the rows it names.

    Raises
    ------
    InputError
        With every name that is unknown, and a context that exceeds the model's maximum, at once.
    """
    attempt = _Attempts()
    problems = attempt.found
    gpu_name = request.gpu
    loaded = attempt(lambda: load_model(request.model, catalogue), "--model")
    if loaded is not None:
        problems.extend(context_problems(loaded.spec, request.context_tokens, beyond_max=request.beyond_max))
        problems.extend(dtype_problems(loaded.spec, request.kv_dtype))
    gpu = attempt(lambda: catalogue.gpu(gpu_name), "--gpu") if gpu_name is not None else None
    facts = attempt(lambda: model_facts(loaded, params_total=request.params_total)) if loaded and gpu else None
    if problems or loaded is None:
        raise InputError(problems)
    return KvInputs(
        request=request,
        spec=loaded.spec,
        facts=facts,
        stack=_stack_of_version(catalogue, request),
        gpu=gpu,
        overhead_bytes=int(catalogue.constant("hbm.overhead_bytes").value),
    )


def resolve_release(name: str, catalogue: Catalogue) -> StorageRelease:
    """Look up a storage software release.

    Parameters
    ----------
    name
        Version, such as 6.0.0.1.
    catalogue
        Where it is looked up.

    Returns
    -------
    StorageRelease
        The release with its limits.

    Raises
    ------
    InputError
        When the catalogue has no such release.
    """
    attempt = _Attempts()
    release = attempt(lambda: catalogue.release(name), "--release")
    if release is None:
        raise InputError(attempt.found)
    return release


def resolve_design(plan: Plan, options: BuildOptions, catalogue: Catalogue) -> DesignInputs:
    """Look up what the physical design of a Plan needs beside the Plan.

    Parameters
    ----------
    plan
        The Plan.
    options
        How it is to be built.
    catalogue
        Where enclosures, cables, transceivers and management devices are looked up.

    Returns
    -------
    DesignInputs
        The Plan and the options with their rows.

    Raises
    ------
    InputError
        With every name in the options that is unknown, at once.
    """
    attempt = _Attempts()
    management = attempt(lambda: catalogue.switch(options.management.switch), "management.switch")
    if management is not None and management.role != "management":
        what, allowed = f"{management.id} is no management switch", "a switch with 1GBase-T ports, such as sn2201"
        attempt.found.append(Problem("management.switch", what, allowed=allowed))
    families = catalogue.records(CABLES)
    known = [family.id for family in families]
    for network, name in options.cabling.families.items():
        attempt.found.extend(_family_problems(network, name, known))
    if management is None or attempt.found:
        raise InputError(attempt.found)
    return DesignInputs(
        plan=plan,
        plan_sha256=plan_sha256(plan),
        options=options,
        enclosures={row.id: row for row in catalogue.records(ENCLOSURES)},
        cables=families,
        transceivers=catalogue.records(TRANSCEIVERS),
        management_switch=management,
        control_server=catalogue.server(CONTROL_SERVER),
        lock=_lock(catalogue),
    )


def unknown_names(
    catalogue: Catalogue,
    profile_dirs: tuple[Path, ...],
    *,
    model: str,
    gpu: str,
    profile: str | None,
    erasure_code: str | None,
) -> list[Problem]:
    """Find the names that are unknown, for a request that cannot be built for other reasons.

    Parameters
    ----------
    catalogue
        Where names are looked up.
    profile_dirs
        Directories with profiles of the user's own.
    model
        Name of the model, or a path.
    gpu
        Name of the GPU.
    profile
        Name of the profile, where one was asked for.
    erasure_code
        Name of the erasure code, where one was asked for.

    Returns
    -------
    list of Problem
        One for each name that is unknown.
    """
    attempt = _Attempts()
    attempt(lambda: load_model(model, catalogue), "--model")
    attempt(lambda: catalogue.gpu(gpu), "--gpu")
    if erasure_code is not None:
        attempt(lambda: parse_code(erasure_code))
    profiles = attempt(lambda: load_profiles(profile_dirs))
    return [*attempt.found, *_profile_problems(profile, profiles or ())] if profiles else attempt.found


def _lock(catalogue: Catalogue) -> CatalogueLock:
    """Name the tables that a document is made from."""
    return CatalogueLock(version=catalogue.version, sha256=catalogue.sha256, user_tables=catalogue.user_tables)


def _family_problems(network: str, name: str, known: list[str]) -> Iterator[Problem]:
    """Say so when the options name a cable family that there is not."""
    if name not in known:
        place, allowed = f"cabling.families.{network}", f"one of {', '.join(known)}"
        yield Problem(place, f"unknown cable family {name!r}", allowed=allowed, hint=did_you_mean(name, known))


def _under(option: str, problems: Iterable[Problem]) -> Iterator[Problem]:
    """Put problems of a catalogue name under the option that gave the name; those of a file keep their place."""
    for problem in problems:
        yield replace(problem, where=option) if option and problem.where in _NOUNS else problem


class _Attempts(Problems):
    """Runs look-ups and keeps their problems for one common error."""

    def __call__(self, look_up: Callable[[], T], option: str = "") -> T | None:
        """Return what a look-up finds, or nothing when it has a problem, which is put under the option."""
        try:
            return look_up()
        except InputError as error:
            self.found.extend(_under(option, error.problems))
            return None


def _contradictions(request: Request, loaded: LoadedModel | None, facts: ModelFacts | None) -> list[Problem]:
    """Find values that contradict each other or the model."""
    problems = []
    if request.tp is not None and request.tp > request.gpus:
        problems.append(Problem("--tp", f"{request.tp} GPUs per engine exceed the {request.gpus} of --gpus"))
    if facts is not None and facts.params_active > facts.params_total:
        what = f"{facts.params_active:,} active parameters exceed the {facts.params_total:,} of the whole model"
        problems.append(Problem("--active-params", what))
    if loaded is not None:
        problems.extend(context_problems(loaded.spec, request.context_tokens, beyond_max=request.beyond_max))
        problems.extend(dtype_problems(loaded.spec, request.kv_dtype))
    return problems


def _profile_problems(name: str | None, profiles: tuple[Profile, ...]) -> Iterator[Problem]:
    """Say so when there is no profile at all, or none of the name that was asked for."""
    names = [profile.name for profile in profiles]
    if not names:
        yield Problem("profiles", "there are none", allowed="at least one YAML file with a profile")
    elif name is not None and name not in names:
        allowed = f"one of {', '.join(names)}"
        yield Problem("--profile", f"unknown profile {name!r}", allowed=allowed, hint=did_you_mean(name, names))


def _client_server(gpu: Gpu, catalogue: Catalogue) -> Server:
    """Look up the server that a GPU is sold in; a size that fits stands for one that its row does not name."""
    return catalogue.server(
        gpu.server or ("generic-4-gpu" if gpu.gpus_per_server <= SMALL_SERVER_GPUS else "generic-8-gpu")
    )


def _stack(catalogue: Catalogue, software: SoftwareChoice, backend: str | None) -> Stack:
    """Look up a software set and the back end used with it."""
    row = catalogue.software(software)
    return Stack(row, catalogue.backend(backend or row.cache_backend))


def _stack_of_version(catalogue: Catalogue, request: KvRequest) -> Stack:
    """Look up the calculator's stack; a vLLM version given by hand replaces the software set's, with its defaults."""
    stack = _stack(catalogue, request.software, request.cache_backend)
    version = request.vllm_version
    if version is None:
        return stack
    hybrid_manager = release_key(version) >= release_key(HYBRID_MANAGER_WITH_CONNECTOR_SINCE)
    changed = {"vllm": version, "hybrid_manager": hybrid_manager}
    return replace(stack, software=stack.software.model_copy(update=changed))


def _parts(profile: Profile, catalogue: Catalogue, attempt: _Attempts) -> ProfileParts | None:
    """Look up the rows that a profile names; each that is unknown is a problem of that profile."""
    node, place = profile.node, f"profile {profile.name}"
    attempt(lambda: parse_code(profile.erasure_code, where=place))
    server = attempt(lambda: catalogue.server(node.server), f"{place}: node.server")
    drive = attempt(lambda: catalogue.drive(node.drive), f"{place}: node.drive")
    client_nic = attempt(lambda: catalogue.nic(node.client_nic), f"{place}: node.client_nic")
    storage_nic = attempt(lambda: catalogue.nic(node.storage_nic), f"{place}: node.storage_nic")
    switch = attempt(lambda: catalogue.switch(profile.switch), f"{place}: switch")
    if not (server and drive and client_nic and storage_nic and switch):
        return None
    return ProfileParts(profile, server, drive, client_nic, storage_nic, switch)
