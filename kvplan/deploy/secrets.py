"""The secrets that a Site refers to: read when they are needed, named but never repeated in what is said."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kvplan.errors import InputError, Problems
from kvplan.inputs.files import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HIDDEN: Final = "********"
_SHORTEST: Final = 4
"""Characters from which on a secret is looked for in texts; anything shorter is in every text."""


def read_secrets(
    references: Mapping[str, str], directory: Path, *, vault_password: Path | None = None, vaults: bool = True
) -> dict[str, str]:
    """Read secrets.

    Parameters
    ----------
    references
        Where each is, by name: `env:NAME`, `file:PATH`, or `vault:PATH#KEY` with keys joined by dots.
    directory
        Where paths begin: the Site's own directory.
    vault_password
        File with the password of the vaults.
    vaults
        Whether vaults are opened at all.

    Returns
    -------
    dict of str
        The secrets by name.

    Raises
    ------
    InputError
        With every secret that is not there.
    """
    readers: dict[str, Callable[[str, str], str]] = {
        "env": _variable,
        "file": lambda where, path: _text(where, path, directory).strip(),
        "vault": _Vaults(directory, vault_password).read if vaults else _closed,
    }
    problems = Problems()
    found: dict[str, str] = {}
    for name, reference in sorted(references.items()):
        kind, _, place = reference.partition(":")
        with problems.kept():
            found[name] = readers.get(kind, _nowhere)(f"secret {name}", place)
    problems.raise_any()
    return found


def redacted(text: str, secrets: Mapping[str, str]) -> str:
    """Take secrets out of a text, line by line where one has several.

    Parameters
    ----------
    text
        A text that may hold some.
    secrets
        The secrets by name.

    Returns
    -------
    str
        The text with marks in their place.

    Examples
    --------
    >>> redacted("login admin hunter22", {"bmc": "hunter22"})
    'login admin ********'
    """
    for piece in _pieces(secrets):
        text = text.replace(piece, HIDDEN)
    return text


def redacted_data(data: Any, secrets: Mapping[str, str]) -> Any:
    """Take secrets out of plain data, keys and values.

    Parameters
    ----------
    data
        Mappings, lists and scalars.
    secrets
        The secrets by name.

    Returns
    -------
    Any
        The same data with marks in their place.

    Examples
    --------
    >>> redacted_data({"argv": ["-p", "hunter22"], "rc": 0}, {"bmc": "hunter22"})
    {'argv': ['-p', '********'], 'rc': 0}
    """
    if isinstance(data, str):
        return redacted(data, secrets)
    if isinstance(data, dict):
        return {redacted_data(key, secrets): redacted_data(value, secrets) for key, value in data.items()}
    return [redacted_data(value, secrets) for value in data] if isinstance(data, list | tuple) else data


def _pieces(secrets: Mapping[str, str]) -> list[str]:
    """List what is looked for, the longest first: each secret whole, each line of it, and both as they are quoted."""
    lines = {line.strip() for secret in secrets.values() for line in (secret, *secret.splitlines())}
    spelled = {spelling for line in lines for spelling in _spellings(line)}
    return sorted((piece for piece in spelled if len(piece) >= _SHORTEST), key=len, reverse=True)


def _spellings(text: str) -> tuple[str, ...]:
    """Spell a text as it is, and as JSON, Python and the shell quote it."""
    quoted = (json.dumps(text), json.dumps(text, ensure_ascii=False), repr(text))
    return (text, *(form[1:-1] for form in quoted), shlex.quote(text))


def _variable(where: str, name: str) -> str:
    """Read an environment variable."""
    value = os.environ.get(name, "")
    if not value:
        raise InputError.single(where, f"the environment variable {name} is not set")
    return value


def _text(where: str, path: str, directory: Path) -> str:
    """Read a file; what is wrong with it is said of the secret."""
    try:
        return read_text(directory / Path(path).expanduser())
    except InputError as error:
        raise InputError(replace(problem, where=where, key=problem.where) for problem in error.problems) from error


def _closed(where: str, _place: str) -> str:
    """Refuse a vault."""
    raise InputError.single(where, "is in a vault, which only deploying opens")


def _nowhere(where: str, _place: str) -> str:
    """Refuse what leads nowhere."""
    raise InputError.single(where, "has no reference in the Site")


class _Vaults:
    """Files that ansible-vault encrypted, each opened once."""

    def __init__(self, directory: Path, password: Path | None) -> None:
        self._directory = directory
        self._password = password
        self._open: dict[str, Any] = {}

    def read(self, where: str, place: str) -> str:
        """Read one value."""
        path, _, key = place.partition("#")
        if path not in self._open:
            self._open[path] = self._opened(where, path)
        value = self._open[path]
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if not isinstance(value, str | int) or value == "":
            raise InputError.single(where, f"{path} has no text at {key!r}")
        return str(value)

    def _opened(self, where: str, path: str) -> Any:
        """Decrypt a file and read it as YAML."""
        from ansible.errors import AnsibleError  # noqa: PLC0415 - an extra
        from ansible.parsing.vault import VaultLib, VaultSecret  # noqa: PLC0415

        from kvplan.inputs.yaml_text import parse_yaml  # noqa: PLC0415 - where a vault is read only

        if self._password is None:
            raise InputError.single(where, "is in a vault, whose password is missing", hint="--vault-password-file")
        vault = VaultLib([("default", VaultSecret(read_text(self._password).strip().encode()))])
        text = _text(where, path, self._directory)
        try:
            return parse_yaml(vault.decrypt(text).decode(), path)
        except InputError:
            # Its message may repeat what stands there.
            raise InputError.single(where, f"{path} holds no YAML") from None
        except (AnsibleError, UnicodeDecodeError):
            raise InputError.single(where, f"{path} is not opened by the password in {self._password}") from None
