"""Files in and out: bounded, decoded, with errors for people; written whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from kvplan.errors import InputError, did_you_mean
from kvplan.inputs.document import Document
from kvplan.inputs.json_text import parse_json
from kvplan.units import MIB, format_binary

MAX_BYTES = 16 * MIB
_BYTE_ORDER_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


def read_text(path: str | Path, *, max_bytes: int = MAX_BYTES) -> str:
    """Read a UTF-8 text file.

    Parameters
    ----------
    path
        The file.
    max_bytes
        The most that is read [B].

    Returns
    -------
    str
        The text without a byte order mark.

    Raises
    ------
    InputError
        When the file is missing, a directory, not readable, too big, binary or not UTF-8.
    """
    content = _read_bytes(Path(path), max_bytes)
    name = str(path)
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if content.startswith(mark):
            raise InputError.single(name, f"is {encoding}, not UTF-8", hint="save it as UTF-8")
    if b"\0" in content:
        raise InputError.single(name, f"is a binary file (NUL byte at offset {content.index(0)}), not text")
    try:
        return content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        what = f"is not UTF-8: byte 0x{content[error.start]:02x} at offset {error.start}"
        raise InputError.single(name, what, hint="save it as UTF-8") from error


def read_yaml(path: str | Path, *, max_bytes: int = MAX_BYTES) -> Document:
    """Read a YAML file with one document of plain values.

    Parameters
    ----------
    path
        The file.
    max_bytes
        The most that is read [B].

    Returns
    -------
    Document
        Its data, able to say where each value stands.

    Raises
    ------
    InputError
        When the file cannot be read or is not safe, plain YAML.
    """
    from kvplan.inputs.yaml_text import parse_yaml  # noqa: PLC0415 - reading JSON must not load yaml

    text = _content(path, max_bytes)
    return Document(parse_yaml(text, str(path)), str(path), text)


def read_json(path: str | Path, *, max_bytes: int = MAX_BYTES, non_finite: bool = False) -> Document:
    """Read a JSON file.

    Parameters
    ----------
    path
        The file.
    max_bytes
        The most that is read [B].
    non_finite
        Let NaN and Infinity pass, as configurations of models need it.

    Returns
    -------
    Document
        Its data, able to say where each value stands.

    Raises
    ------
    InputError
        When the file cannot be read or is not strict JSON.
    """
    text = _content(path, max_bytes)
    return Document(parse_json(text, str(path), non_finite=non_finite), str(path), text)


def write_atomically(path: str | Path, data: bytes | str, *, mode: int | None = None) -> None:
    """Write a file whole or not at all, keeping the mode and the links of one that is there.

    Devices and pipes are written to directly, there being nothing to replace.

    Parameters
    ----------
    path
        The file.
    data
        Its new content; text becomes UTF-8.
    mode
        Its mode; when absent, that of the file that is there, else the usual one.

    Raises
    ------
    InputError
        When the directory is missing or not writable, or the path is a directory.
    """
    target = Path(path).resolve()
    content = data.encode() if isinstance(data, str) else data
    if target.is_dir():
        raise InputError.single(str(path), "is a directory, not a file")
    if not target.parent.is_dir():
        raise InputError.single(str(path), f"cannot be written: there is no directory {str(Path(path).parent)!r}")
    try:
        # A device or a pipe cannot be replaced by a rename, and should not be.
        if target.exists() and not target.is_file():
            target.write_bytes(content)
        else:
            _replace(target, content, mode)
    except OSError as error:
        raise InputError.single(str(path), f"cannot be written: {_reason(error)}") from error


def make_directory(path: Path) -> None:
    """Make a directory and those above it, unless they are there.

    Parameters
    ----------
    path
        The directory.

    Raises
    ------
    InputError
        When something else has its name, or it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError.single(str(path), f"cannot be made: {_reason(error)}") from error


def _content(path: str | Path, max_bytes: int) -> str:
    """Read a text that must hold something."""
    text = read_text(path, max_bytes=max_bytes)
    if not text.strip():
        raise InputError.single(str(path), "is empty")
    return text


def _read_bytes(path: Path, max_bytes: int) -> bytes:
    """Read at most so many bytes, or say why not."""
    name = str(path)
    try:
        with path.open("rb") as file:
            # One byte more than allowed tells a file that is too big from one that just fits.
            content = file.read(max_bytes + 1)
    except FileNotFoundError as error:
        what = "is a link to nothing" if path.is_symlink() else "does not exist"
        raise InputError.single(name, what, hint=_missing_hint(path)) from error
    except IsADirectoryError as error:
        raise InputError.single(name, "is a directory, not a file") from error
    except (OSError, ValueError) as error:
        raise InputError.single(name, f"cannot be read: {_reason(error)}") from error
    if len(content) > max_bytes:
        raise InputError.single(name, "is too big", allowed=f"at most {format_binary(max_bytes)}")
    return content


def _missing_hint(path: Path) -> str:
    """Name files beside the missing one that are called alike, or the directory that is missing itself."""
    if not path.parent.is_dir():
        return f"there is no directory {str(path.parent)!r}"
    with suppress(OSError):
        return did_you_mean(path.name, {entry.name for entry in path.parent.iterdir()} - {path.name})
    return ""


def _reason(error: Exception) -> str:
    """Say in a few words why the system refused."""
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    return "the path holds a NUL byte"


def _replace(target: Path, content: bytes, mode: int | None) -> None:
    """Write beside the target, force it to disk, and rename."""
    # Beside the target, because a rename is atomic within one file system only.
    temporary = target.parent / f".kvplan-{secrets.token_hex(8)}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else mode)
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            elif target.exists():
                os.fchmod(file.fileno(), target.stat().st_mode & 0o7777)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    # An interrupt too must leave no temporary file behind.
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_directory(target.parent)


def _sync_directory(directory: Path) -> None:
    """Force the rename to disk where the file system can."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
