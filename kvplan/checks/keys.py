"""Public keys taken apart, and where a Site keeps its secrets."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from typing import TYPE_CHECKING, Final

from kvplan.checks.walk import Entry
from kvplan.schema.site.forms import SECRET_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context

_LENGTH: Final = 4
STARTS: Final = tuple(f"{kind}:" for kind in SECRET_KINDS)
"""What a reference to a secret begins with."""


def is_whole(key: str) -> bool:
    """Tell whether a public key is complete: its parts fill it, and the first names its kind.

    >>> is_whole("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA== cut")
    False
    """
    parts = _parts(key)
    return bool(parts) and parts[0].decode(errors="replace") == key.split(maxsplit=1)[0]


def rsa_bits(key: str) -> int | None:
    """Return the length of an RSA key [bit]; None for another kind, or one that is cut off."""
    parts = _parts(key)
    is_rsa = len(parts) == len(("kind", "exponent", "modulus")) and parts[0] == b"ssh-rsa"
    return int.from_bytes(parts[2]).bit_length() if is_rsa else None


def secrets(context: Context) -> Iterator[Entry]:
    """Yield every reference to a secret, with what it is for and where it stands."""
    for loc, text in context.site_texts:
        if text.startswith(STARTS) and not text.startswith("file://"):
            yield Entry(text, ".".join(part for part in loc if isinstance(part, str)), loc)


def _parts(key: str) -> list[bytes]:
    """Split the inside of a key: each part after its length; nothing where it is cut off."""
    try:
        rest = b64decode(key.split()[1], validate=True)
    except Error:
        return []
    parts = []
    while rest:
        length = int.from_bytes(rest[:_LENGTH])
        part, rest = rest[_LENGTH : _LENGTH + length], rest[_LENGTH + length :]
        if len(part) < length or not length:
            return []
        parts.append(part)
    return parts
