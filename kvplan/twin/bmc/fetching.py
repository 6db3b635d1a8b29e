"""How a controller reads a boot image: its size first, then ranges of it, as QEMU's block driver does."""

from __future__ import annotations

from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Final
from urllib.parse import urlsplit

_TIMEOUT_S: Final = 10
_DESCRIPTOR: Final = 32_768
"""Where the first volume descriptor of ISO 9660 stands."""
_MARK: Final = b"CD001"


def unreadable(url: str, source: str = "") -> str:
    """Say why an image can not be booted from.

    Parameters
    ----------
    url
        The image.
    source
        Address of the controller, from which it asks; any without.

    Returns
    -------
    str
        The reason; empty where it can be booted from.
    """
    try:
        return _refused_size(url, source) or _refused_range(url, source)
    except (OSError, HTTPException, ValueError) as error:
        return f"{url} is not served: {str(error) or type(error).__name__}"


def origin(source: str, host: str) -> tuple[str, int] | None:
    """Return where a connection to a host comes from.

    Parameters
    ----------
    source
        An address of one's own; any where it is empty, or of another family than the host's.
    host
        The address of the host.

    Returns
    -------
    tuple or None
        Address and port as a socket takes them.

    Examples
    --------
    >>> origin("10.0.0.2", "10.0.0.1"), origin("fd00::2", "10.0.0.1")
    (('10.0.0.2', 0), None)
    """
    return (source, 0) if source and (":" in source) == (":" in host) else None


def _refused_size(url: str, source: str) -> str:
    """Ask for the size, and whether ranges are served."""
    answer, _ = _asked("HEAD", url, {}, source)
    if answer.status != HTTPStatus.OK:
        return f"{url} is not served: HEAD answers {answer.status}"
    size = int(answer.getheader("Content-Length") or 0)
    if answer.getheader("Accept-Ranges") != "bytes":
        return f"{url} is not served by ranges"
    return f"{url} holds {size} bytes, which is no image" if size <= _DESCRIPTOR + len(_MARK) else ""


def _refused_range(url: str, source: str) -> str:
    """Read the mark of an image by a range."""
    first, last = _DESCRIPTOR + 1, _DESCRIPTOR + len(_MARK)
    answer, read = _asked("GET", url, {"Range": f"bytes={first}-{last}"}, source)
    shown = (answer.getheader("Content-Range") or "").partition("/")[0]
    if answer.status != HTTPStatus.PARTIAL_CONTENT or shown != f"bytes {first}-{last}":
        return f"{url} is not served by ranges: a range answers {answer.status}"
    return "" if read == _MARK else f"{url} is no ISO 9660 image"


def _asked(method: str, url: str, headers: dict[str, str], source: str) -> tuple[HTTPResponse, bytes]:
    """Ask, and read no more of the answer than a mark."""
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    own = origin(source, parts.hostname or "")
    connection = kind(parts.hostname or "", parts.port, timeout=_TIMEOUT_S, source_address=own)
    try:
        connection.request(method, parts.path, headers=headers)
        answer = connection.getresponse()
        return answer, answer.read(len(_MARK))
    finally:
        connection.close()
