"""Templates of the files: strict about names, quiet about blocks, and never escaping, for none of it is HTML."""

from __future__ import annotations

import json
import shlex
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from kvplan.assets import templates_dir

if TYPE_CHECKING:
    from pathlib import Path


@lru_cache(maxsize=4)
def _environment(directory: Path) -> Environment:
    """Make the environment of a directory once; comments are not jinja2's own, for bash writes `${#array[@]}`."""
    environment = Environment(
        loader=FileSystemLoader(directory),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        comment_start_string="{%#",
        comment_end_string="#%}",
        autoescape=False,  # noqa: S701 - configuration files and scripts, no HTML
    )
    environment.filters["quoted"] = json.dumps
    environment.filters["shell"] = lambda value: shlex.quote(str(value))
    return environment


def rendered(template: str, **values: Any) -> str:
    """Fill a template below `templates/site`.

    Filters beside Jinja's own: `quoted` writes a JSON string, which YAML reads too; `shell` a word for a shell.
    Comments are written `{%# … #%}`, because `{#` occurs in shell scripts.

    Parameters
    ----------
    template
        Path such as `install/storage.ks.j2`.
    **values
        What the template names.

    Returns
    -------
    str
        The text.

    Raises
    ------
    jinja2.UndefinedError
        When the template names something that was not given.
    """
    return _environment(templates_dir() / "site").get_template(template).render(values)


@cache
def comments(name: str) -> dict[str, str]:
    """Read a file of words by path that stands beside the templates.

    Parameters
    ----------
    name
        Name of the file below `templates/site`.

    Returns
    -------
    dict of str
        The words for each path.
    """
    words: dict[str, str] = yaml.safe_load((templates_dir() / "site" / name).read_text(encoding="utf-8"))
    return words
