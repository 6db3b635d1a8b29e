"""`kvplan catalogue add`: a model row for the user's own tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kvplan.errors import InputError, Problem, UsageError

if TYPE_CHECKING:
    from kvplan.schema.model import ModelSpec

EXAMPLES = (
    "Examples:  kvplan catalogue add --config ./config.json --to ./tables   |   kvplan catalogue add --id acme/m1 "
    "--group full,layers=32,kv_heads=8,key_dim=128,value_dim=128 --params 8B --source 'model card' --to ./tables"
)

_NAMES = {
    "id": "--id",
    "groups": "--group",
    "aliases": "--alias",
    "max_position_tokens": "--max-position",
    "params_total": "--params",
    "params_active": "--active-params",
    "source": "--source",
    "confidence": "--confidence",
}


def add(  # noqa: PLR0913 - one parameter an option
    *,
    to: Annotated[Path, typer.Option("--to", help="Directory with the user's tables.", show_default=False)],
    config: Annotated[
        Path | None, typer.Option("--config", help="A Hugging Face config.json to read.", show_default=False)
    ] = None,
    id_: Annotated[str | None, typer.Option("--id", help="Id of the model, such as acme/m1.")] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            help="A layer group: kind,key=value,... Kinds: full, sliding, chunked, latent, indexer, compressed, "
            "shared-key-window, recurrent, cross, shared, none. Repeatable.",
        ),
    ] = None,
    alias: Annotated[list[str] | None, typer.Option("--alias", help="Another name. Repeatable.")] = None,
    max_position: Annotated[str | None, typer.Option("--max-position", help="Longest context in tokens.")] = None,
    params: Annotated[str | None, typer.Option("--params", help="Parameters, such as 70B.")] = None,
    active_params: Annotated[str | None, typer.Option("--active-params", help="Parameters per token.")] = None,
    source: Annotated[str | None, typer.Option("--source", help="Where the figures come from.")] = None,
    confidence: Annotated[
        str, typer.Option("--confidence", help="measured, vendor, derived or assumed.", metavar="LEVEL")
    ] = "assumed",
    replace: Annotated[bool, typer.Option("--replace", help="Replace a row with the same id.")] = False,
) -> None:
    """Add a model by its configuration file or by explicit layer groups."""
    from kvplan.catalogue.add import add_model
    from kvplan.cli.console import out
    from kvplan.cli.parsing import Options
    from kvplan.schema.model import ModelSpec

    if (config is None) == (not group):
        message = "give either --config or one --group or more"
        raise UsageError(message, hint=EXAMPLES.replace("   |   ", "\n"))
    if config is not None:
        spec = _from_config(config, id_)
    else:
        asked = Options(_NAMES)
        asked.plain(id=id_ or "", groups=[_group(text) for text in group or []], aliases=tuple(alias or ()))
        asked.plain(source=source or "", confidence=confidence)
        asked.counts(max_position_tokens=max_position)
        asked.params(params_total=params, params_active=active_params)
        spec = asked.build(ModelSpec)
    _check_said(spec)
    path = add_model(spec, to, replace=replace)
    out(f"added {spec.id} to {path}\n")


def _from_config(config: Path, model_id: str | None) -> ModelSpec:
    """Read a configuration file and count its parameters where they can be counted."""
    from kvplan.resolve import load_model_file, model_facts

    loaded = load_model_file(config, model_id)
    try:
        facts = model_facts(loaded)
    except InputError:
        return loaded.spec
    counts = {"params_total": facts.params_total, "params_active": facts.params_active}
    return loaded.spec.model_copy(update=counts)


def _group(text: str) -> dict[str, object]:
    """Read `kind,key=value,...` into the fields of a layer group; what is wrong in it the record itself says."""
    kind, *fields = (part.strip() for part in text.split(","))
    pairs = (field.partition("=") for field in fields)
    return {"kind": kind, **{key.strip(): value.strip() for key, _, value in pairs}}


def _check_said(spec: ModelSpec) -> None:
    """Refuse a row without a name or a source."""
    problems = []
    if not spec.id.strip():
        problems.append(Problem("--id", "is missing", allowed="the model's name, such as acme/m1"))
    if not spec.source.strip():
        problems.append(Problem("--source", "is missing", allowed="where the figures come from"))
    if problems:
        raise InputError(problems)
