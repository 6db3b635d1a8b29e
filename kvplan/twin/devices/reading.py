"""What a machine makes of the medium that it starts from: read by ranges, as its installer would understand it."""

from __future__ import annotations

import io
import re
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from pycdlib import PyCdlib
from pycdlib.pycdlibexception import PyCdlibException

from kvplan.errors import KvplanError
from kvplan.site.media.inspection import MENUS
from kvplan.twin.bmc.fetching import origin

if TYPE_CHECKING:
    from http.client import HTTPResponse

_TIMEOUT_S: Final = 10
_BLOCK: Final = 65_536
"""Bytes that are asked for at a time."""
_MENUS: Final = tuple(dict.fromkeys(MENUS.values()))
_ANSWERS: Final = (
    (re.compile(r"\binst\.ks=cdrom:(/\S+)"), ""),
    (re.compile(r"\bds=nocloud;s=/cdrom(/\S+)"), "user-data"),
)
"""How a kernel is told where the answers are: the place, and the name of the file in it."""
_MARKER: Final = re.compile(r"cat > \S*/etc/kvplan/installed <<'EOF'\n(.*?)^\s*EOF$", re.MULTILINE | re.DOTALL)
_SERIAL: Final = re.compile(r"^serial=(\S+)$", re.MULTILINE)
_DRIVE: Final = re.compile(r"\$\(boot_drive (\S+) ")
_KEY: Final = re.compile(r"\"((?:ssh|ecdsa|sk)-\S+ [A-Za-z0-9+/=]+[^\"\n]*)\"")


class MediumError(KvplanError):
    """A machine can not be installed from a medium."""


class Medium(NamedTuple):
    """What the answers on a medium say: the mark that is left, whose it is, its drives, and whose keys are let in."""

    marker: str
    serial: str
    drives: tuple[str, ...]
    keys: tuple[str, ...]


def medium_at(url: str, source: str = "") -> Medium:
    """Read the medium at an address.

    Parameters
    ----------
    url
        Address of the image.
    source
        Address of the controller, through which it is read; any without.

    Returns
    -------
    Medium
        What its answers say.

    Raises
    ------
    MediumError
        When it can not be read, starts no installer, or has no answers of kvplan's.
    """
    iso = PyCdlib()
    try:
        iso.open_fp(io.BufferedReader(Ranges(url, source), _BLOCK))
        try:
            return medium_of(_text(iso, _place_of_answers(iso)))
        finally:
            iso.close()
    except (PyCdlibException, OSError, HTTPException, ValueError) as error:
        message = f"{url} can not be read: {error}"
        raise MediumError(message) from error


def medium_of(answers: str) -> Medium:
    r"""Understand the answers to an installer.

    Parameters
    ----------
    answers
        A Kickstart file, or the user-data of an autoinstall.

    Returns
    -------
    Medium
        What they say.

    Raises
    ------
    MediumError
        When they are not kvplan's.

    Examples
    --------
    >>> text = "cat > /etc/kvplan/installed <<'EOF'\nname=one\nserial=S1\nEOF\n"
    >>> medium_of(text).serial
    'S1'
    """
    found = _MARKER.search(answers)
    marker = "".join(f"{line.strip()}\n" for line in found[1].splitlines()) if found else ""
    serial = _SERIAL.search(marker)
    if serial is None:
        message = "the answers on the medium say of no server that they are its own"
        raise MediumError(message)
    return Medium(marker, serial[1], tuple(_DRIVE.findall(answers)), tuple(_KEY.findall(answers)))


class Ranges(io.RawIOBase):
    """A file at an address, of which only what is asked for is fetched.

    Parameters
    ----------
    url
        The address.
    source
        The address that it is asked from; any without.
    """

    def __init__(self, url: str, source: str = "") -> None:
        super().__init__()
        self._url = url
        self._source = origin(source, urlsplit(url).hostname or "")
        self._at = 0
        self._size = self._asked("HEAD", {}, HTTPStatus.OK)[0]

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def seekable(self) -> bool:
        """Say that it can be read anywhere."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go somewhere."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(base + offset, 0)
        return self._at

    def tell(self) -> int:
        """Say where it is."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fetch what fits."""
        last = min(self._at + len(buffer), self._size) - 1
        if last < self._at:
            return 0
        _, data = self._asked("GET", {"Range": f"bytes={self._at}-{last}"}, HTTPStatus.PARTIAL_CONTENT)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _asked(self, method: str, headers: dict[str, str], wanted: HTTPStatus) -> tuple[int, bytes]:
        """Ask, and return the length that is named and what came."""
        parts = urlsplit(self._url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=_TIMEOUT_S, source_address=self._source)
        try:
            connection.request(method, parts.path, headers=headers)
            answer = connection.getresponse()
            # The whole of an image is not taken for a range of it.
            if answer.status != wanted and not (answer.status == HTTPStatus.OK and self._fits(answer, headers)):
                message = f"{method} answers {answer.status}"
                raise OSError(message)
            return int(answer.getheader("Content-Length") or 0), answer.read()
        finally:
            connection.close()

    def _fits(self, answer: HTTPResponse, headers: dict[str, str]) -> bool:
        """Tell whether an answer is the range that was asked for although it is all there is."""
        return headers.get("Range") == f"bytes=0-{int(answer.getheader('Content-Length') or 0) - 1}"


def _place_of_answers(iso: PyCdlib) -> str:
    """Find the answers as the kernel of the boot menu is told to."""
    menu = "".join(text for text in (_text(iso, path, needed=False) for path in _MENUS) if text)
    for pattern, name in _ANSWERS:
        if found := pattern.search(menu):
            return found[1] + name
    message = "no entry of its boot menu tells an installer where answers are"
    raise MediumError(message)


def _text(iso: PyCdlib, path: str, *, needed: bool = True) -> str:
    """Read a file of an image; nothing where it need not be there."""
    content = io.BytesIO()
    try:
        iso.get_file_from_iso_fp(content, rr_path=path)
    except PyCdlibException as error:
        if needed:
            message = f"there is no {path} on the medium"
            raise MediumError(message) from error
    return content.getvalue().decode("utf-8", errors="replace")
