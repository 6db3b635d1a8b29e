"""A trace as a stream of lines: file or stdin, packed or not, told apart by its first bytes."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NoReturn, cast

from kvplan.errors import InputError, did_you_mean
from kvplan.units import MIB, format_binary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Progress = Callable[[int, int], None]

STDIN: Final = "-"
MAX_LINE_BYTES: Final = 64 * MIB
MAX_DOCUMENT_BYTES: Final = 512 * MIB
_GZIP, _XZ, _ZSTD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
_BROKEN = (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error)
_STEP_LINES: Final = 256


class TraceFile:
    """An open trace: lines one by one, or the whole of it.

    Parameters
    ----------
    name
        How problems call it.
    stream
        Its unpacked bytes.
    position
        Tells how many packed bytes were read [B].
    total_bytes
        Size of the packed file [B]; 0 where nobody knows.
    """

    def __init__(self, name: str, stream: IO[bytes], position: Callable[[], int], total_bytes: int) -> None:
        self.name = name
        self._stream = stream
        self._position = position
        self._total_bytes = total_bytes

    def lines(self, progress: Progress | None = None) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that hold something, each with its number from 1.

        Parameters
        ----------
        progress
            Called now and then with the packed bytes read and their total [B]; not where the total is not known.

        Yields
        ------
        tuple of int and bytes
            Number and content, without white space round it.

        Raises
        ------
        InputError
            When a line is too long, or the file breaks off.
        """
        readline, report = self._stream.readline, progress if self._total_bytes else None
        number = 0
        with _broken_said(self.name):
            while line := readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(line) > MAX_LINE_BYTES:
                    where, allowed = f"{self.name}:{number}", f"at most {format_binary(MAX_LINE_BYTES)}"
                    raise InputError.single(where, "a line is too long", allowed=allowed)
                if report is not None and number % _STEP_LINES == 0:
                    report(self._position(), self._total_bytes)
                if stripped := line.strip():
                    yield number, stripped.removeprefix(b"\xef\xbb\xbf") if number == 1 else stripped

    def rest(self) -> bytes:
        """Return everything that was not read yet.

        Returns
        -------
        bytes
            The content.

        Raises
        ------
        InputError
            When it is too big for one document, or breaks off.
        """
        with _broken_said(self.name):
            content = self._stream.read(MAX_DOCUMENT_BYTES + 1)
        if len(content) > MAX_DOCUMENT_BYTES:
            raise InputError.single(self.name, "is too big", allowed=f"at most {format_binary(MAX_DOCUMENT_BYTES)}")
        return content


@contextmanager
def open_trace(path: str | Path) -> Iterator[TraceFile]:
    """Open a trace, unpacking gzip, xz and zstd.

    Parameters
    ----------
    path
        The file; `-` is stdin.

    Yields
    ------
    TraceFile
        The trace.

    Raises
    ------
    InputError
        When there is no such file, it cannot be read or unpacked.
    """
    if str(path) == STDIN:
        stdin: IO[bytes] = sys.stdin.buffer
        buffered = stdin if isinstance(stdin, io.BufferedReader) else io.BufferedReader(cast("io.RawIOBase", stdin))
        yield TraceFile("stdin", _unpacked(buffered, "stdin"), lambda: 0, 0)
        return
    name = str(path)
    with _opened(Path(path)) as file:
        status = os.fstat(file.fileno())
        total = status.st_size if stat.S_ISREG(status.st_mode) else 0
        with _unpacked(file, name) as stream:
            yield TraceFile(name, stream, file.tell if total else lambda: 0, total)


def _opened(path: Path) -> io.BufferedReader:
    """Open a file for reading, or say why not."""
    name = str(path)
    try:
        if path.is_dir():
            raise InputError.single(name, "is a directory, not a file")
        return path.open("rb")
    except FileNotFoundError as error:
        beside = [entry.name for entry in path.parent.glob("*")]
        raise InputError.single(name, "does not exist", hint=did_you_mean(path.name, beside)) from error
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError.single(name, f"cannot be read: {reason}") from error


def _unpacked(file: io.BufferedReader, name: str) -> IO[bytes]:
    """Return the stream inside a packed one; the file's ending is not asked, for stdin has none."""
    start = file.peek(len(_XZ))
    if start.startswith(_GZIP):
        return io.BufferedReader(gzip.GzipFile(fileobj=file))
    if start.startswith(_XZ):
        return io.BufferedReader(lzma.LZMAFile(file))
    if start.startswith(_ZSTD):
        return _zstd(file, name)
    return file


def _zstd(file: io.BufferedReader, name: str) -> IO[bytes]:
    """Open a zstd stream with the library that Python has from 3.14 on, and that an extra brings to those before."""
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd  # noqa: PLC0415 - rarely needed
        else:
            from backports import zstd  # noqa: PLC0415 - an extra
    except ImportError as error:
        what = "is packed with zstd, which this Python cannot unpack"
        hint = f"pip install 'kvplan[zstd]', or zstd -dc {name} | kvplan trace -"
        raise InputError.single(name, what, hint=hint) from error
    return io.BufferedReader(cast("io.RawIOBase", zstd.ZstdFile(file)))


@contextmanager
def _broken_said(name: str) -> Iterator[None]:
    """Turn what unpackers and the system throw into a problem."""
    try:
        yield
    except EOFError as error:
        _raise(name, "ends in the middle", error)
    except _BROKEN as error:
        _raise(name, "cannot be unpacked: the packed data is damaged", error)
    except OSError as error:
        _raise(name, f"cannot be read: {(error.strerror or str(error)).lower()}", error)
    except Exception as error:
        # zstd's error class exists only where its module does.
        if type(error).__name__ != "ZstdError":
            raise
        _raise(name, "cannot be unpacked: the packed data is damaged", error)


def _raise(name: str, what: str, error: Exception) -> NoReturn:
    """Raise the problem of a stream that cannot be read on."""
    raise InputError.single(name, what, hint="is the file complete?") from error
