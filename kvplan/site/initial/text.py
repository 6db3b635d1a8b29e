"""A Site as commented YAML: sections apart, a word on each key that needs one, and quotes where YAML would misread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kvplan.site.templating import comments
from kvplan.site.yaml_out import yaml_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SCHEMA_FILE: Final = "site.schema.json"
"""The JSON schema that editors find beside a Site."""
_HEADER: Final = """\
# yaml-language-server: $schema={schema}
# The Site: what the Plan cannot know. Fill in every CHANGE-ME, then run `kvplan check plan.json {name}`.
# Secrets are references, never values: env:NAME, file:PATH (from this directory) or vault:PATH#KEY.
"""
_LONGEST: Final = 110
_FLAT: Final = 4
"""A mapping on one line has so many keys at most."""


def site_text(data: Mapping[str, Any], name: str = "site.yaml") -> str:
    """Write the data of a Site as YAML for people.

    Parameters
    ----------
    data
        The data, in the order in which it is to stand.
    name
        Name of the file, for the line that says how to check it.

    Returns
    -------
    str
        The text; read back it is the same data.

    Examples
    --------
    >>> print(site_text({"network": {"domain": "kv.example", "dns": ["10.0.0.1"]}}).splitlines()[-1])
      dns: ["10.0.0.1"]
    """
    words = comments("site-comments.yaml")
    parts = [_HEADER.format(schema=SCHEMA_FILE, name=name)]
    for key, value in data.items():
        above = "\n" if isinstance(value, dict | list) or key == "format_version" else ""
        parts.append(above + "\n".join(_entry(key, value, (key,), words, 0)) + "\n")
    return "".join(parts)


def _entry(key: str, value: Any, path: tuple[str, ...], words: Mapping[str, str], depth: int) -> Iterator[str]:
    """Yield the lines of one key with the comment above it."""
    pad = "  " * depth
    said = words.get(".".join(path))
    if said:
        yield from (f"{pad}# {line}" for line in said.strip().splitlines())
    short = _flow(value)
    if _is_plain(value) or (_is_flat(value) and depth and len(pad) + len(key) + len(short) + 2 <= _LONGEST):
        yield f"{pad}{_scalar(key)}: {short}"
        return
    yield f"{pad}{_scalar(key)}:"
    yield from _block(value, path, words, depth + 1)


def _block(value: Any, path: tuple[str, ...], words: Mapping[str, str], depth: int) -> Iterator[str]:
    """Yield the lines of a mapping or of a list of records."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _entry(str(key), inner, (*path, str(key)), words, depth)
        return
    pad = "  " * depth
    for inner in value:
        if isinstance(inner, dict):
            lines = list(_block(inner, path, {}, depth + 1))
            yield f"{pad}- {lines[0].strip()}"
            yield from lines[1:]
        else:
            yield f"{pad}- {_flow(inner)}"


def _is_plain(value: Any) -> bool:
    """Tell whether a value stands on the line of its key: a scalar, a list of scalars, or nothing at all."""
    return not value or not isinstance(value, dict | list) or (isinstance(value, list) and not _holds_records(value))


def _is_flat(value: Any) -> bool:
    """Tell whether a mapping is small enough for one line."""
    return isinstance(value, dict) and len(value) <= _FLAT and all(_is_plain(inner) for inner in value.values())


def _holds_records(value: list[Any]) -> bool:
    """Tell whether a list takes a line or more an element."""
    return any(isinstance(inner, dict) for inner in value)


def _flow(value: Any) -> str:
    """Write a value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(str(key))}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(inner) for inner in value) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    """Write a scalar, quoted where some reader would take it for something else."""
    return yaml_text(value).removesuffix("\n")
