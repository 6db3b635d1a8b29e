"""Variables of the playbooks that a person sets: only those that a role has, and none that decides what is lost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from kvplan.errors import InputError, Problem, Problems, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_OPTION: Final = "--set"
_OWN: Final = "kv_"
"""What the inventory and the driver give begins so."""
_AGREED: Final = re.compile(r"_(confirmed|reinstall)(_|$)")
_IN_PLAYS: Final = re.compile(r"\b([a-z]\w*) \| default\(")
_AGREEMENT_HINT: Final = "agree to what is destroyed at the terminal or by --yes; to install a server anew: --reinstall"


def settable(playbooks: Path) -> frozenset[str]:
    """List the variables that may be set: options of roles, and what the plays themselves have defaults for.

    Parameters
    ----------
    playbooks
        Directory of the playbooks.

    Returns
    -------
    frozenset of str
        Their names.
    """
    from kvplan.inputs.files import read_yaml  # noqa: PLC0415 - needed for a run with settings only

    names: set[str] = set()
    for path in sorted(playbooks.glob("roles/*/meta/argument_specs.yml")):
        entries = read_yaml(path).data["argument_specs"].values()
        names |= {name for entry in entries for name in entry.get("options") or {}}
    for path in sorted(playbooks.glob("*.yml")):
        names |= set(_IN_PLAYS.findall(path.read_text(encoding="utf-8")))
    return frozenset(name for name in names if "_" in name and not name.startswith((_OWN, "ansible_")))


def read_settings(given: Iterable[str], playbooks: Path) -> dict[str, Any]:
    """Read variables of the playbooks as a person gives them.

    Parameters
    ----------
    given
        Each as `NAME=VALUE`; the value is YAML.
    playbooks
        Directory of the playbooks.

    Returns
    -------
    dict
        Values by name.

    Raises
    ------
    InputError
        With every name that no role has, and every value that is no YAML.
    """
    pairs = [text.partition("=") for text in given]
    known = settable(playbooks) if pairs else frozenset()
    problems = Problems()
    found: dict[str, Any] = {}
    for name, sign, value in pairs:
        with problems.kept():
            _refuse(name, known)
            found[name] = _value(name, value if sign else None)
    problems.raise_any()
    return found


def _refuse(name: str, known: frozenset[str]) -> None:
    """Refuse a name that no role has, and one that would agree in a person's stead."""
    where = f"{_OPTION} {name}"
    if _AGREED.search(name):
        raise InputError.single(where, "is not set by hand", hint=_AGREEMENT_HINT)
    if name.startswith(_OWN):
        raise InputError.single(where, "comes from the Plan and the Site")
    if name not in known:
        raise InputError([Problem(where, "no playbook has this variable", hint=did_you_mean(name, known))])


def _value(name: str, text: str | None) -> Any:
    """Read a value; nothing after the sign is an empty text."""
    from kvplan.inputs.yaml_text import parse_yaml  # noqa: PLC0415 - needed for a run with settings only

    where = f"{_OPTION} {name}"
    if text is None:
        raise InputError.single(where, "has no value", hint=f"{where}=VALUE")
    return parse_yaml(text, where) if text.strip() else ""
