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


def unreadable(url: str) -> str:
    """Say why an image can not be booted from.

    Parameters
    ----------
    url
        The image.

    Returns
    -------
    str
        The reason; empty where it can be booted from.
    """
    try:
        return _refused_size(url) or _refused_range(url)
    except (OSError, HTTPException, ValueError) as error:
        return f"{url} is not served: {str(error) or type(error).__name__}"


def _refused_size(url: str) -> str:
    """Ask for the size, and whether ranges are served."""
    answer, _ = _asked("HEAD", url, {})
    if answer.status != HTTPStatus.OK:
        return f"{url} is not served: HEAD answers {answer.status}"
    size = int(answer.getheader("Content-Length") or 0)
    if answer.getheader("Accept-Ranges") != "bytes":
        return f"{url} is not served by ranges"
    return f"{url} holds {size} bytes, which is no image" if size <= _DESCRIPTOR + len(_MARK) else ""


def _refused_range(url: str) -> str:
    """Read the mark of an image by a range."""
    first, last = _DESCRIPTOR + 1, _DESCRIPTOR + len(_MARK)
    answer, read = _asked("GET", url, {"Range": f"bytes={first}-{last}"})
    shown = (answer.getheader("Content-Range") or "").partition("/")[0]
    if answer.status != HTTPStatus.PARTIAL_CONTENT or shown != f"bytes {first}-{last}":
        return f"{url} is not served by ranges: a range answers {answer.status}"
    return "" if read == _MARK else f"{url} is no ISO 9660 image"


def _asked(method: str, url: str, headers: dict[str, str]) -> tuple[HTTPResponse, bytes]:
    """Ask, and read no more of the answer than a mark."""
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_TIMEOUT_S)
    try:
        connection.request(method, parts.path, headers=headers)
        answer = connection.getresponse()
        return answer, answer.read(len(_MARK))
    finally:
        connection.close()
