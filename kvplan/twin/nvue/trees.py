"""Configurations as plain data: joined, cut, read by path, filled with defaults, and their secrets hashed."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any, Final

Tree = dict[str, Any]
"""Nested mappings down to scalars."""

_SEALED_KEYS: Final = frozenset({"auth-md5", "auth-sha", "encrypt-aes", "encrypt-des"})
"""Parents whose keys are secrets."""
_HASH: Final = "$6$"
_SEAL: Final = "$nvsec$"
_FILLED_INTERFACE: Final[Tree] = {"link": {"mtu": 9216}}


def merged(base: Tree, change: Tree) -> Tree:
    """Join a change into a configuration, as PATCH does.

    Parameters
    ----------
    base
        The configuration; it is left alone.
    change
        What is set; a key with `None` is taken away.

    Returns
    -------
    dict
        The joined configuration.

    Examples
    --------
    >>> merged({"a": {"b": 1, "c": 2}}, {"a": {"c": None, "d": {}}})
    {'a': {'b': 1, 'd': {}}}
    """
    whole = dict(base)
    for key, value in change.items():
        if value is None:
            whole.pop(key, None)
        elif isinstance(value, dict):
            inside = whole.get(key)
            whole[key] = merged(inside if isinstance(inside, dict) else {}, value)
        else:
            whole[key] = value
    return whole


def without(base: Tree, path: tuple[str, ...]) -> Tree:
    """Cut off what is at a path, as DELETE does.

    Parameters
    ----------
    base
        The configuration; it is left alone.
    path
        The way down; the empty one cuts off everything.

    Returns
    -------
    dict
        What is left.

    Examples
    --------
    >>> without({"a": {"b": 1, "c": 2}}, ("a", "b")), without({"a": 1}, ())
    ({'a': {'c': 2}}, {})
    """
    if not path:
        return {}
    first, *rest = path
    inside = base.get(first)
    if not rest:
        return {key: value for key, value in base.items() if key != first}
    return {**base, first: without(inside, tuple(rest))} if isinstance(inside, dict) else base


def at(tree: Any, path: tuple[str, ...]) -> Any:
    """Go down a tree.

    Parameters
    ----------
    tree
        Nested mappings, or anything.
    path
        The way down.

    Returns
    -------
    Any
        What is there, or None.

    Examples
    --------
    >>> at({"a": {"b": 1}}, ("a", "b")), at({"a": 1}, ("a", "b"))
    (1, None)
    """
    for key in path:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def nested(path: tuple[str, ...], value: Any) -> Tree:
    """Put a value at the end of a path.

    Parameters
    ----------
    path
        The way down, of one key at least.
    value
        What is put there.

    Returns
    -------
    dict
        The tree.

    Examples
    --------
    >>> nested(("a", "b"), 1)
    {'a': {'b': 1}}
    """
    for key in reversed(path):
        value = {key: value}
    return dict(value)


def only_in(one: Tree, other: Tree) -> Tree:
    """Return what one configuration has and another has not, or has otherwise.

    Parameters
    ----------
    one
        The configuration that is looked at.
    other
        The configuration that it is compared with.

    Returns
    -------
    dict
        The part of `one` that differs.

    Examples
    --------
    >>> only_in({"a": {"b": 1, "c": 2}, "d": {}}, {"a": {"b": 1}})
    {'a': {'c': 2}, 'd': {}}
    """
    found: Tree = {}
    for key, value in one.items():
        beside = other.get(key)
        if isinstance(value, dict) and isinstance(beside, dict):
            inside = only_in(value, beside)
            if inside:
                found[key] = inside
        elif key not in other or value != beside:
            found[key] = value
    return found


def filled(config: Tree) -> Tree:
    """Add what the switch assumes where nothing is set.

    Parameters
    ----------
    config
        The configuration.

    Returns
    -------
    dict
        The configuration as it is shown when `filled` is not switched off.
    """
    interfaces = {
        name: merged(_FILLED_INTERFACE, one if isinstance(one, dict) else {})
        for name, one in config.get("interface", {}).items()
    }
    return {**config, "interface": interfaces} if interfaces else dict(config)


def sealed(tree: Tree, salt: str) -> Tree:
    """Hash passwords, never twice to the same text, and encrypt keys, as a switch does before it stores them.

    Parameters
    ----------
    tree
        What is set.
    salt
        What makes this time differ from the last.

    Returns
    -------
    dict
        The same without a secret.

    Examples
    --------
    >>> sealed({"user": {"u": {"password": "word"}}}, "1")["user"]["u"]["hashed-password"].startswith("$6$1$")
    True
    """
    whole: Tree = {}
    for key, value in tree.items():
        if key == "password" and isinstance(value, str):
            whole["hashed-password"] = hashed(value, salt)
        elif key in _SEALED_KEYS and isinstance(value, dict):
            whole[key] = {_seal(word): sealed(inside or {}, salt) for word, inside in value.items()}
        else:
            whole[key] = sealed(value, salt) if isinstance(value, dict) else value
    return whole


def hashed(password: str, salt: str) -> str:
    """Hash a password.

    Parameters
    ----------
    password
        The password.
    salt
        What makes this hash differ from others of the same password.

    Returns
    -------
    str
        The hash, with its salt.
    """
    return f"{_HASH}{salt}${hashlib.sha256(f'{salt}{password}'.encode()).hexdigest()}"


def fits(password: str, stored: str) -> bool:
    """Tell whether a password is the one of a hash.

    Parameters
    ----------
    password
        The password.
    stored
        A hash that `hashed` made.

    Returns
    -------
    bool
        Whether it fits.

    Examples
    --------
    >>> fits("word", hashed("word", "1")), fits("other", hashed("word", "1"))
    (True, False)
    """
    salt = stored.removeprefix(_HASH).partition("$")[0]
    return hmac.compare_digest(hashed(password, salt), stored)


def _seal(word: str) -> str:
    """Encrypt a key, unless it is."""
    if word.startswith(_SEAL):
        return word
    return f"{_SEAL}{hashlib.sha256(word.encode()).hexdigest()}"
