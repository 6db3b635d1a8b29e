"""From a request with names to a request with rows: the catalogue, profiles and model configurations are read here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kvplan.catalogue.profiles import load_profiles
from kvplan.catalogue.tables import TABLES
from kvplan.core.hf.params import count_params, params_from_name
from kvplan.core.hf.reader import read_config
from kvplan.core.hf.weights import quantisation_of, weights_bytes
from kvplan.core.sizing.inputs import PARAMS_FROM_NAME, ModelFacts, ProfileParts, SizingInputs, Stack
from kvplan.core.sizing.kv_report import KvInputs
from kvplan.errors import InputError, Problem, did_you_mean
from kvplan.inputs.files import read_json
from kvplan.schema.plan import CatalogueLock
from kvplan.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TypeVar

    from kvplan.catalogue.loader import Catalogue
    from kvplan.schema.base import Confidence
    from kvplan.schema.model import ModelSpec
    from kvplan.schema.profile import Profile
    from kvplan.schema.reports import KvRequest
    from kvplan.schema.request import Request, SoftwareChoice

    T = TypeVar("T")

_NOUNS = frozenset(table.noun for table in TABLES.values())
_OTHER: dict[SoftwareChoice, SoftwareChoice] = {"reference": "current", "current": "reference"}


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model's layer groups, and its raw configuration where it was read from a file."""

    spec: ModelSpec
    config: Mapping[str, object] | None = None


def load_model(name: str, catalogue: Catalogue) -> LoadedModel:
    """Read a model from a Hugging Face `config.json`, a directory that holds one, or the catalogue.

    Parameters
    ----------
    name
        Path, or name of a catalogue row.
    catalogue
        Where names are looked up.

    Returns
    -------
    LoadedModel
        The model, with its configuration where it came from a file.

    Raises
    ------
    InputError
        When the file is no model configuration, or the catalogue has no such model.
    """
    path = _expanded(Path(name))
    if path.suffix == ".json" or name.startswith((".", "/", "~")) or _kind(path):
        return load_model_file(path)
    return LoadedModel(catalogue.model(name))


def model_facts(
    loaded: LoadedModel, *, params_total: int | None = None, params_active: int | None = None
) -> ModelFacts:
    """Find the parameter counts and weight bytes of a model.

    In this order: as asked, from the catalogue row, counted from the raw configuration, read off the published name.

    Parameters
    ----------
    loaded
        The model.
    params_total
        All parameters, where the caller knows better [1].
    params_active
        Parameters that one token passes through, where the caller knows better [1].

    Returns
    -------
    ModelFacts
        Parameters [1] and weight bytes [B], each with where it comes from.

    Raises
    ------
    InputError
        When none of these gives the counts.
    """
    spec = loaded.spec
    total, active, source, confidence = _params(loaded, params_total, params_active)
    if spec.weights_bytes is not None:
        size, weights_source = spec.weights_bytes, "from the catalogue row"
    else:
        dtype = quantisation_of(loaded.config) if loaded.config is not None else spec.weights_dtype or "bfloat16"
        size = weights_bytes(total, dtype)
        weights_source = f"params_total x bytes per weight ({dtype})"
    return ModelFacts(
        spec=spec,
        params_total=total,
        params_active=active,
        params_source=source,
        params_confidence=confidence,
        weights_bytes=size,
        weights_source=weights_source,
    )


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
    problems = attempt.problems
    loaded = attempt(lambda: load_model(request.model, catalogue), "--model")
    facts = (
        attempt(lambda: model_facts(loaded, params_total=request.params_total, params_active=request.params_active))
        if loaded
        else None
    )
    gpu = attempt(lambda: catalogue.gpu(request.gpu), "--gpu")
    profiles = attempt(lambda: load_profiles(profile_dirs))
    # Whatever could be resolved is checked even when something else could not: one run names everything.
    problems.extend(_contradictions(request, loaded, facts, profiles))
    parts = profiles and attempt(lambda: tuple(_parts(profile, catalogue) for profile in profiles))
    if problems or not facts or not gpu or not parts:
        raise InputError(problems)
    stack = _stack(catalogue, request.software, request.cache_backend)
    return SizingInputs(
        request=request,
        model=facts,
        gpu=gpu,
        gpu_nic=catalogue.nic(gpu.nic),
        stack=stack,
        other_stack=_stack(catalogue, _OTHER[request.software], None),
        release=catalogue.release(stack.software.storage_scale),
        profiles=parts,
        constants=catalogue.constants(),
        lock=CatalogueLock(version=catalogue.version, sha256=catalogue.sha256, user_tables=catalogue.user_tables),
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
    problems = attempt.problems
    gpu_name = request.gpu
    loaded = attempt(lambda: load_model(request.model, catalogue), "--model")
    if loaded is not None:
        problems.extend(context_problems(loaded.spec, request.context_tokens, beyond_max=request.beyond_max))
    gpu = attempt(lambda: catalogue.gpu(gpu_name), "--gpu") if gpu_name is not None else None
    facts = attempt(lambda: model_facts(loaded, params_total=request.params_total)) if loaded and gpu else None
    if problems or loaded is None:
        raise InputError(problems)
    return KvInputs(
        request=request,
        spec=loaded.spec,
        facts=facts,
        stack=_stack(catalogue, request.software, request.cache_backend),
        gpu=gpu,
        overhead_bytes=int(catalogue.constant("hbm.overhead_bytes").value),
    )


def _under(option: str, problems: Iterable[Problem]) -> Iterator[Problem]:
    """Put problems of a catalogue name under the option that gave the name; those of a file keep their place."""
    for problem in problems:
        yield replace(problem, where=option) if option and problem.where in _NOUNS else problem


def load_model_file(path: Path, model_id: str | None = None) -> LoadedModel:
    """Read a model configuration from disk; its name is the file's own unless one is given, never the whole path.

    Parameters
    ----------
    path
        A `config.json`, or the directory that holds it.
    model_id
        Name for the model; absent, the file's own.

    Returns
    -------
    LoadedModel
        The model and its configuration.

    Raises
    ------
    InputError
        When the file cannot be read, or is no model configuration that kvplan knows.
    """
    is_directory = _kind(path) == "directory"
    document = read_json(path / "config.json" if is_directory else path, non_finite=True)
    if not isinstance(document.data, dict):
        raise InputError.single(document.where(()), "is no JSON object", allowed="a Hugging Face config.json")
    config = document.data
    stem = path.resolve().name if is_directory else path.stem
    named = config.get("_name_or_path")
    # `_name_or_path` is often a path on the machine that saved the file, which says nothing about the model.
    own_name = named if isinstance(named, str) and named and not named.startswith((".", "/")) else stem
    spec = read_config(config, model_id=model_id or own_name, source=document.name)
    return LoadedModel(spec.model_copy(update={"source": f"configuration file {path.name}"}), config)


class _Attempts:
    """Runs look-ups and keeps their problems for one common error."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def __call__(self, look_up: Callable[[], T], option: str = "") -> T | None:
        """Return what a look-up finds, or nothing when it has a problem, which is put under the option."""
        try:
            return look_up()
        except InputError as error:
            self.problems.extend(_under(option, error.problems))
            return None


def _kind(path: Path) -> Literal["directory", "file", ""]:
    """Tell what a path is on disk; nothing where it cannot even be looked up, such as a name that is too long."""
    try:
        return "directory" if path.is_dir() else "file" if path.is_file() else ""
    except OSError:
        return ""


def _expanded(path: Path) -> Path:
    """Replace a leading `~` by the home directory where there is one."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def _params(
    loaded: LoadedModel, params_total: int | None, params_active: int | None
) -> tuple[int, int, str, Confidence]:
    """Return total and active parameters, where they come from, and how well they are known."""
    spec = loaded.spec
    if params_total is not None:
        return params_total, params_active or params_total, "as asked (--params)", "vendor"
    if spec.params_total is not None:
        active = params_active or spec.params_active or spec.params_total
        return spec.params_total, active, f"catalogue row; {spec.source}", spec.confidence
    counted = count_params(loaded.config) if loaded.config is not None else None
    if counted is not None:
        return counted.total, params_active or counted.active, "counted from the configuration", "derived"
    named = params_from_name(spec.id)
    if named is not None:
        return named.total, params_active or named.active, f"{PARAMS_FROM_NAME} {spec.id!r}", "vendor"
    raise InputError.single(
        where="--model",
        f"the parameter count of {spec.id!r} is unknown",
        hint="give it with --params, such as --params 70B, and --active-params for a mixture of experts",
    )


def _contradictions(
    request: Request, loaded: LoadedModel | None, facts: ModelFacts | None, profiles: tuple[Profile, ...] | None
) -> list[Problem]:
    """Find values that contradict each other or the model."""
    problems = []
    if request.tp is not None and request.tp > request.gpus:
        problems.append(Problem("--tp", f"{request.tp} GPUs per engine exceed the {request.gpus} of --gpus"))
    if facts is not None and facts.params_active > facts.params_total:
        what = f"{facts.params_active:,} active parameters exceed the {facts.params_total:,} of the whole model"
        problems.append(Problem("--active-params", what))
    if loaded is not None:
        problems.extend(context_problems(loaded.spec, request.context_tokens, beyond_max=request.beyond_max))
    names = [profile.name for profile in profiles or ()]
    if request.profile is not None and profiles and request.profile not in names:
        problems.append(
            Problem(
                "--profile",
                f"unknown profile {request.profile!r}",
                allowed=f"one of {', '.join(names)}",
                hint=did_you_mean(request.profile, names),
            )
        )
    return problems


def context_problems(spec: ModelSpec, context_tokens: int, *, beyond_max: bool) -> list[Problem]:
    """Refuse a context longer than the model's maximum unless the caller insists."""
    maximum = spec.max_position_tokens
    if beyond_max or maximum is None or context_tokens <= maximum:
        return []
    what = f"{context_tokens:,} tokens exceed the maximum of {spec.id}"
    return [Problem("--context", what, allowed=f"at most {maximum:,}", hint="--beyond-max insists")]


def _stack(catalogue: Catalogue, software: SoftwareChoice, backend: str | None) -> Stack:
    """Look up a software set and the back end used with it."""
    row = catalogue.software(software)
    return Stack(row, catalogue.backend(backend or row.cache_backend))


def _parts(profile: Profile, catalogue: Catalogue) -> ProfileParts:
    """Look up the rows that a profile names."""
    node = profile.node
    return ProfileParts(
        profile=profile,
        server=catalogue.server(node.server),
        drive=catalogue.drive(node.drive),
        client_nic=catalogue.nic(node.client_nic),
        storage_nic=catalogue.nic(node.storage_nic),
        switch=catalogue.switch(profile.switch),
    )
