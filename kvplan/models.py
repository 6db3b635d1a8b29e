"""Models by name or file: layer groups, parameter counts and weight bytes, each with where it comes from."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kvplan.core.hf.params import count_params, params_from_name
from kvplan.core.hf.reader import read_config
from kvplan.core.hf.weights import quantisation_of, weights_bytes
from kvplan.core.sizing.inputs import PARAMS_FROM_NAME, ModelFacts
from kvplan.errors import InputError, Problem
from kvplan.inputs.files import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.catalogue.loader import Catalogue
    from kvplan.inputs.loc import Loc
    from kvplan.schema.base import Confidence
    from kvplan.schema.model import ModelSpec
    from kvplan.schema.request import KvDtype

_SAME_CLASS = 0.05
"""How far the size in a name may be off: names are rounded, but a name of another size is not the model's."""
_KEY_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


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
        dtype = spec.weights_dtype or "bfloat16"
        if loaded.config is not None:
            dtype = quantisation_of(loaded.config, spec.id)
        size = weights_bytes(total, dtype)
        weights_source = f"params_total x bytes per weight ({dtype})"
    return ModelFacts(
        spec=spec,
        params_total=total,
        params_active=active,
        params_class=total if params_total is not None else _published_class(spec.id, total),
        params_source=source,
        params_confidence=confidence,
        weights_bytes=size,
        weights_source=weights_source,
    )


def context_problems(spec: ModelSpec, context_tokens: int, *, beyond_max: bool) -> list[Problem]:
    """Refuse a context longer than the model's maximum unless the caller insists."""
    maximum = spec.max_position_tokens
    if beyond_max or maximum is None or context_tokens <= maximum:
        return []
    what = f"{context_tokens:,} tokens exceed the maximum of {spec.id}"
    doubt = "" if spec.confidence in ("measured", "vendor") else f" (that figure is {spec.confidence})"
    return [Problem("--context", what, allowed=f"at most {maximum:,}{doubt}", hint="--beyond-max insists")]


def dtype_problems(spec: ModelSpec, dtype: KvDtype) -> list[Problem]:
    """Refuse a KV type that exists for latent attention only where the model has none."""
    if dtype != "fp8_ds_mla" or any(group.kind in ("latent", "compressed") for group in spec.groups):
        return []
    what = f"fp8_ds_mla is a layout of latent attention, which {spec.id} has not"
    return [Problem("--kv-dtype", what, allowed="fp8 for this model")]


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
    try:
        spec = read_config(config, model_id=model_id or own_name, source=document.name)
    except InputError as error:
        raise InputError(
            replace(problem, where=document.where(_loc(problem.key))) for problem in error.problems
        ) from None
    return LoadedModel(spec.model_copy(update={"source": f"configuration file {path.name}"}), config)


def _published_class(name: str, params_total: int) -> int:
    """Return the size in a model's name where it is that model's size: 34B for 34.39 billion, 70B for 68.98 billion."""
    named = params_from_name(name)
    if named is not None and abs(named.total / params_total - 1) <= _SAME_CLASS:
        return named.total
    return params_total


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
    what = f"the parameter count of {spec.id!r} is unknown"
    hint = "give it with --params, such as --params 70B, and --active-params for a mixture of experts"
    raise InputError.single(where="--model", what=what, hint=hint)


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


def _loc(key: str) -> Loc:
    """Turn a key such as `text_config.layer_types[3]` into the path of a value."""
    return tuple(name or int(index) for name, index in _KEY_STEP.findall(key))
