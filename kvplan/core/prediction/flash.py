"""What the tier does to its flash and its file system: how long context stays, wear, files, and how fast they go."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kvplan.core.prediction import retention

if TYPE_CHECKING:
    from collections.abc import Iterable

DAY_S: Final = 86_400


def retention_seconds(usable_bytes: float, low_watermark: float, write_bytes_per_s: float) -> float:
    r"""Return how long context stays in a tier that is emptied down to a watermark.

    .. math:: t = \ell U / w

    Parameters
    ----------
    usable_bytes
        Usable capacity U [B].
    low_watermark
        Share l of it down to which eviction deletes [1].
    write_bytes_per_s
        Rate w of new data [B/s], above 0.

    Returns
    -------
    float
        Time [s].

    Notes
    -----
    The least that a tier keeps, right after an eviction; a cache that purges between two watermarks hits like one of
    the size of the low one.

    References
    ----------
    As `kvplan.core.prediction.retention.retention_seconds`.

    Examples
    --------
    >>> round(retention_seconds(2.0e15, 1.0, 121e9) / 3600, 1), round(retention_seconds(2.0e15, 0.75, 121e9) / 3600, 1)
    (4.6, 3.4)
    """
    return retention.retention_seconds(low_watermark * usable_bytes, write_bytes_per_s)


def drive_writes_per_day(
    write_bytes_per_s: float, code_overhead: float, raw_bytes: float, amplification: float = 1.0
) -> float:
    r"""Return how often the drives are written full in a day.

    .. math:: D = 86400 \, w \, o \, a / R

    Parameters
    ----------
    write_bytes_per_s
        Rate w of new data, averaged over the day [B/s].
    code_overhead
        Bytes that the erasure code writes for each byte, o = (d + p) / d [1].
    raw_bytes
        Space R of all drives [B].
    amplification
        Bytes written to flash for each byte written to a drive, a [1].

    Returns
    -------
    float
        Drive writes per day [1/day], to compare with the rating in the drive's data sheet.

    Notes
    -----
    Writes spread evenly over all drives; whole stripes only.

    References
    ----------
    JEDEC JESD218; as `kvplan.core.ece.endurance.endurance` for a Plan's code.

    Examples
    --------
    256 GPUs of a chat workload on eight nodes of 24 drives of 15.36 TB, 8+3P:

    >>> round(drive_writes_per_day(121e9, 11 / 8, 8 * 24 * 15.36e12), 1)
    4.9
    """
    return DAY_S * write_bytes_per_s * code_overhead * amplification / raw_bytes


def files(stored_bytes: float, file_bytes: float) -> int:
    r"""Return how many files hold what is stored.

    .. math:: N = \lceil V / f \rceil

    Parameters
    ----------
    stored_bytes
        What is stored, V [B].
    file_bytes
        Bytes f of one file [B], above 0.

    Returns
    -------
    int
        Files [files]; each takes an inode.

    References
    ----------
    Division.

    Examples
    --------
    >>> files(1e15, 18 * 2**20)
    52981907
    """
    return math.ceil(stored_bytes / file_bytes)


def creates_per_s(write_bytes_per_s: float, file_bytes: float) -> float:
    r"""Return how many files are made in a second; a full tier deletes as many.

    .. math:: c = w / f

    Parameters
    ----------
    write_bytes_per_s
        Rate w of new data [B/s].
    file_bytes
        Bytes f of one file [B], above 0.

    Returns
    -------
    float
        Files a second [1/s].

    Notes
    -----
    Back ends write a temporary file and rename it: two changes of a directory for each file.

    References
    ----------
    Division.

    Examples
    --------
    What one engine that computes prompts of 10,000 tokens writes, in chunks of 256 and of 16 tokens:

    >>> round(creates_per_s(1.29e9, 18 * 2**20)), round(creates_per_s(1.29e9, 1.125 * 2**20))
    (68, 1094)
    """
    return write_bytes_per_s / file_bytes


def eviction_bytes_per_s(
    write_bytes_per_s: float, usable_bytes: float, high_watermark: float, low_watermark: float, purge_s: float
) -> float:
    r"""Return how fast eviction must delete to come from the high to the low watermark in time.

    .. math:: e = w + (h - \ell) U / t_p

    Parameters
    ----------
    write_bytes_per_s
        Rate w of new data, which goes on meanwhile [B/s].
    usable_bytes
        Usable capacity U [B].
    high_watermark
        Share h of it at which eviction starts [1].
    low_watermark
        Share l of it at which eviction stops [1].
    purge_s
        Time t_p that one eviction may take [s], above 0.

    Returns
    -------
    float
        Rate [B/s].

    Notes
    -----
    An evictor no faster than the writes never comes to its low watermark, and a slower one fills the tier. Over the
    file size this is files a second, as `creates_per_s`.

    References
    ----------
    Balance of what comes and what goes; llm-d's evictor starts at 85 % and stops at 70 % (llm-d/llm-d-kv-cache).

    Examples
    --------
    >>> eviction_bytes_per_s(20e9, 744e12, 0.85, 0.75, 3600) / 1e9
    40.6667
    """
    return write_bytes_per_s + (high_watermark - low_watermark) * usable_bytes / purge_s


@dataclass(frozen=True, slots=True)
class ChunkFiles:
    """What a chunk length means for the file system: bytes of a file [B], files in all, files made a second [1/s]."""

    chunk_tokens: int
    file_bytes: float
    files: int
    creates_per_s: float


def files_by_chunk(
    chunks_tokens: Iterable[int],
    bytes_per_token: float,
    stored_bytes: float,
    write_bytes_per_s: float,
    files_per_chunk: int = 1,
) -> tuple[ChunkFiles, ...]:
    r"""Return what each chunk length means for the file system, to choose one by its inodes and metadata load.

    .. math:: f = B c / r

    Parameters
    ----------
    chunks_tokens
        Chunk lengths c [tokens].
    bytes_per_token
        What is stored of each token, B [B/token].
    stored_bytes
        What is stored in all [B].
    write_bytes_per_s
        Rate of new data [B/s].
    files_per_chunk
        Files r that a chunk is spread over [1]: the ranks of an engine where each writes its own.

    Returns
    -------
    tuple of ChunkFiles
        One for each length, in the order given.

    Notes
    -----
    Chunks that are not full are left out: a prompt ends in one, and most back ends do not write it. A file shorter
    than the file system's block costs more than its bytes.

    References
    ----------
    Division; IBM Storage Scale keeps an inode for each file.

    Examples
    --------
    A petabyte of gpt-oss-120b, all layers in 16 bits, in millions of files:

    >>> [round(row.files / 1e6) for row in files_by_chunk((16, 64, 256, 1024), 73_728, 1e15, 20e9)]
    [848, 212, 53, 13]
    """
    sizes = [(chunk, bytes_per_token * chunk / files_per_chunk) for chunk in chunks_tokens]
    return tuple(
        ChunkFiles(chunk, size, files(stored_bytes, size), creates_per_s(write_bytes_per_s, size))
        for chunk, size in sizes
    )
