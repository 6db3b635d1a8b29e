"""The forms that values of a Site take, each with an error that says what is allowed."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import AfterValidator

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET_KINDS: Final = ("env", "file", "vault")
UNFILLED: Final = "CHANGE-ME"
"""What `kvplan init site` writes where it cannot know a value; no form accepts it."""


def _refuse_unfilled(text: str) -> None:
    """Refuse what is still to be filled in."""
    if text == UNFILLED:
        message = "is still to be filled in"
        raise ValueError(message)


def _form(pattern: str, wanted: str, *, repeated: bool = True) -> AfterValidator:
    """Check a text against a pattern, and say in words what is wanted; what may be a secret is not repeated."""
    compiled = re.compile(pattern)

    def check(text: str) -> str:
        _refuse_unfilled(text)
        if not compiled.fullmatch(text):
            message = f"{text!r} is not {wanted}" if repeated else f"is not {wanted}"
            raise ValueError(message)
        return text

    return AfterValidator(check)


def _checked(what: str, check: Callable[[str], object]) -> AfterValidator:
    """Check a text by a function that raises ValueError."""

    def checked(text: str) -> str:
        _refuse_unfilled(text)
        try:
            check(text)
        except ValueError as error:
            message = f"{text!r} is not {what}"
            raise ValueError(message) from error
        return text

    return AfterValidator(checked)


def _check_secret(text: str) -> str:
    """Refuse what is no reference, without repeating it: it may be the secret itself."""
    _refuse_unfilled(text)
    kind, _, rest = text.partition(":")
    if kind not in SECRET_KINDS or not re.fullmatch(r"[\w./#~-]+", rest):
        message = "is no reference to a secret: write env:NAME, file:PATH or vault:PATH#KEY, never the secret itself"
        raise ValueError(message)
    if kind == "env" and not re.fullmatch(r"[A-Za-z_]\w*", rest):
        message = "names no environment variable after env:"
        raise ValueError(message)
    return text


def _check_mac(text: str) -> str:
    """Accept a MAC address of one adapter, lower case with colons."""
    _refuse_unfilled(text)
    if not re.fullmatch(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}", text):
        message = f"{text!r} is not a MAC address such as 3c:ec:ef:01:02:03, in lower case with colons"
        raise ValueError(message)
    if int(text[:2], 16) & 1 or not int(text.replace(":", ""), 16):
        message = f"{text!r} is a group address or none at all, not that of an adapter"
        raise ValueError(message)
    return text


Name = Annotated[str, _form(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?", "a name of lower-case letters, digits and hyphens")]
"""A label of a host name."""
Domain = Annotated[
    str,
    _form(r"(?=.{1,200}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*", "a domain name"),
]
Serial = Annotated[str, _form(r"[A-Za-z0-9._-]{2,64}", "a serial number of letters, digits, dots and hyphens")]
Mac = Annotated[str, AfterValidator(_check_mac)]
Address = Annotated[str, _checked("an IP address", ip_address)]
Host = Annotated[str, _form(r"[A-Za-z0-9]([A-Za-z0-9.:-]{0,250}[A-Za-z0-9])?", "a host name or an IP address")]
SecretRef = Annotated[str, AfterValidator(_check_secret)]
"""Where a secret is, never the secret: `env:NAME`, `file:PATH` or `vault:PATH#KEY`."""
Sha256 = Annotated[str, _form(r"[0-9a-f]{64}", "a sha256 of 64 lower-case hexadecimal digits")]
Version = Annotated[str, _form(r"\d+(\.\d+)*([._+-]?[A-Za-z0-9]+)*", "a version such as 5.11.1")]
Url = Annotated[
    str, _form(r"(https?|file)://[^\s'\"`$\\]+|/[^\s'\"`$\\]+", "an address (http, https, file) or an absolute path")
]
LocalPath = Annotated[str, _form(r"/[A-Za-z0-9._/+-]*[A-Za-z0-9._+-]", "an absolute path without spaces")]
PublicKey = Annotated[
    str,
    _form(
        r"(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp\d+|sk-ssh-ed25519@openssh\.com) [A-Za-z0-9+/]+=* ?[\w.@-]*",
        "a public ssh key on one line",
        repeated=False,
    ),
]
Timezone = Annotated[str, _form(r"[A-Za-z]+(/[A-Za-z0-9_+-]+)*", "a time zone such as Etc/UTC")]
User = Annotated[
    str, _form(r"[a-z_][a-z0-9_-]{0,30}", "a user name of lower-case letters, digits, hyphens", repeated=False)
]
ControllerUser = Annotated[str, _form(r"[A-Za-z_][A-Za-z0-9_.-]{0,30}", "a user name", repeated=False)]
ImageRef = Annotated[str, _form(r"[a-z0-9][A-Za-z0-9._/:@-]+", "a container image such as name:tag")]
Plain = Annotated[
    str, _form(r"[^\s{}]([^{}\n]{0,198}[^\s{}])?", "a line of text without braces, 200 characters at most")
]
Day = Annotated[str, _form(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", "a day such as 2026-11-30")]
