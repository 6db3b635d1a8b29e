"""Formats of rendered files read back, for the rules of all parts: as machines read them, which know YAML 1.1."""

from __future__ import annotations

from typing import Any, Final

import yaml

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The C reader is several times as fast, but not everywhere."""


def yaml_in(text: str) -> Any:
    """Read YAML; what is none, or holds a value that is none of its type, is a ValueError.

    >>> yaml_in("a: [1, on]")
    {'a': [1, True]}
    """
    try:
        return yaml.load(text, Loader=_LOADER)  # noqa: S506 - both are safe
    except (yaml.YAMLError, ValueError, LookupError, AttributeError) as error:
        message = f"no YAML: {' '.join(str(error).split())}"
        raise ValueError(message) from error


def values_in(text: str) -> dict[str, str]:
    r"""Read lines of `KEY = VALUE`, without comments.

    >>> values_in("# none\na=1\nb = 2 3\n")
    {'a': '1', 'b': '2 3'}
    """
    lines = (line.partition("=") for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))
    return {key.strip(): value.strip() for key, _, value in lines}
