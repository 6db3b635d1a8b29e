"""`kvplan catalogue add`: a model row for the user's own tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kvplan.cli import options
from kvplan.errors import InputError, Problem, UsageError

if TYPE_CHECKING:
    from kvplan.schema.model import ModelSpec

EXAMPLES = options.examples(
    "kvplan catalogue add --config ./config.json --to ./tables",
    "kvplan catalogue add --id acme/m1 --params 8B --source card --to ./tables \\\n"
    "      --group full,layers=32,kv_heads=8,key_dim=128,value_dim=128",
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


Directory = Annotated[
    Path, typer.Option("--to", metavar="DIR", help="Directory with the user's tables.", show_default=False)
]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="A Hugging Face config.json to read.", show_default=False),
]
ModelId = Annotated[str | None, typer.Option("--id", metavar="NAME", help="Id of the model, such as acme/m1.")]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        "--group",
        metavar="GROUP",
        help="A layer group: kind,key=value,... Kinds: full, sliding, chunked, latent, indexer, compressed, "
        "shared-key-window, recurrent, cross, shared, none. Repeatable.",
    ),
]
Aliases = Annotated[list[str] | None, typer.Option("--alias", metavar="NAME", help="Another name. Repeatable.")]
MaxPosition = Annotated[str | None, typer.Option("--max-position", metavar="TOKENS", help="Longest context in tokens.")]
Source = Annotated[str | None, typer.Option("--source", metavar="TEXT", help="Where the figures come from.")]
Level = Annotated[
    str | None,
    typer.Option(
        "--confidence",
        help="measured, vendor, derived or assumed. Default: assumed; with --config, vendor.",
        metavar="LEVEL",
    ),
]
Replace = Annotated[bool, typer.Option("--replace", help="Replace a row with the same id.")]


def add(  # noqa: PLR0913 - one parameter an option
    *,
    to: Directory,
    config: Config = None,
    id_: ModelId = None,
    group: Groups = None,
    alias: Aliases = None,
    max_position: MaxPosition = None,
    params: options.Params = None,
    active_params: options.ActiveParams = None,
    source: Source = None,
    confidence: Level = None,
    replace: Replace = False,
    format_: options.Format = "table",
) -> None:
    """Add a model by its configuration file or by explicit layer groups."""
    from kvplan.catalogue.add import add_model
    from kvplan.cli.parsing import Options
    from kvplan.cli.shared import FORMATS
    from kvplan.schema.model import ModelSpec

    if (config is None) == (not group):
        message = "give either --config or one --group or more"
        raise UsageError(message, hint="`kvplan catalogue add --help` shows an example of each")
    asked = Options(_NAMES)
    chosen = asked.form(format_, FORMATS)
    asked.plain(**(_from_config(config, id_) if config else _from_groups(group or [])))
    asked.plain(id=id_, aliases=alias, source=source, confidence=confidence)
    asked.counts(max_position_tokens=max_position)
    asked.params(params_total=params, params_active=active_params)
    spec = asked.build(ModelSpec)
    _check_said(spec)
    _show_added(chosen, spec, add_model(spec, to, replace=replace))


def _from_config(config: Path, model_id: str | None) -> dict[str, object]:
    """Read a configuration file and count its parameters where they can be counted."""
    from kvplan.core.hf.weights import quantisation_of
    from kvplan.models import load_model_file, model_facts

    loaded = load_model_file(config, model_id)
    row = {**loaded.spec.model_dump(), "weights_dtype": quantisation_of(loaded.config or {}, loaded.spec.id)}
    try:
        facts = model_facts(loaded)
    except InputError:
        return row
    return {**row, "params_total": facts.params_total, "params_active": facts.params_active}


def _from_groups(texts: list[str]) -> dict[str, object]:
    """Read layer groups; the name and the source are for the options to give."""
    return {"id": "", "source": "", "confidence": "assumed", "groups": [_group(text) for text in texts]}


def _group(text: str) -> dict[str, object]:
    """Read `kind,key=value,...` into the fields of a layer group; what is wrong in it the record itself says."""
    kind, *fields = (part.strip() for part in text.split(","))
    pairs = (field.partition("=") for field in fields)
    return {"kind": kind, **{key.strip(): value.strip() for key, _, value in pairs}}


def _show_added(chosen: str, spec: ModelSpec, path: Path) -> None:
    """Say what was added where."""
    from kvplan.cli.shared import show, versioned
    from kvplan.render.view import Section

    show(
        chosen,
        data=lambda: versioned(added=spec.id, file=str(path), row=spec.model_dump(mode="json")),
        view=lambda: (Section(f"added {spec.id} to {path}"),),
        title=f"Added {spec.id}",
        rows=lambda: (("added", "file"), [(spec.id, str(path))]),
    )


def _check_said(spec: ModelSpec) -> None:
    """Refuse a row without a name or a source."""
    problems = []
    if not spec.id.strip():
        problems.append(Problem("--id", "is missing", allowed="the model's name, such as acme/m1"))
    if not spec.source.strip():
        problems.append(Problem("--source", "is missing", allowed="where the figures come from"))
    if problems:
        raise InputError(problems)
