"""How a vdisk lays its blocks as tracks of strips into partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.core.arithmetic import ceil_div
from kvplan.core.ece.codes import CODES
from kvplan.units import KIB

if TYPE_CHECKING:
    from kvplan.core.ece.codes import ErasureCode

FINE_GRANULARITY_BYTES: Final[int] = 8 * KIB
COARSE_GRANULARITY_BYTES: Final[int] = 32 * KIB
TRAILER_BYTES: Final[int] = 64
"""The checksum trailer of each disk segment."""

ALIGNMENT_BYTES: Final[int] = 4096
UNASSIGNED_DIVISOR: Final[int] = 1000
MIN_UNASSIGNED_TRACKS: Final[int] = 32
MAX_UNASSIGNED_TRACKS: Final[int] = 4096


def checksum_granularity_bytes(code: ErasureCode, block_bytes: int) -> int:
    """Give the distance between two checksum trailers on flash: 8 KiB for small blocks, else 32 KiB.

    Parameters
    ----------
    code
        Erasure code: 8+xP counts as small up to 4 MiB, 4+xP up to 2 MiB, 16+xP never.
    block_bytes
        Block size of the vdisk [B].

    Returns
    -------
    int
        Checksum granularity [B].

    Notes
    -----
    SSD and NVMe; hard disks always have 32 KiB. On flash a larger block must be defined with
    `--checksum-granularity 32k`.

    References
    ----------
    IBM SpectrumScaleTools gnr_capacity_estimator 1.3, checksum granularity by block size, code and disk type.

    Examples
    --------
    >>> from kvplan.core.ece.codes import parse_code
    >>> [checksum_granularity_bytes(parse_code(code), 4 * 2**20) // 1024 for code in ("4+2P", "8+2P", "16+3P")]
    [32, 8, 32]
    """
    largest_fine = CODES[code].flash_block_bytes
    is_fine = largest_fine is not None and block_bytes <= largest_fine
    return FINE_GRANULARITY_BYTES if is_fine else COARSE_GRANULARITY_BYTES


def raw_strip_bytes(code: ErasureCode, block_bytes: int, granularity_bytes: int) -> int:
    """Give the space of one strip on disk: its data and its trailers, rounded up to 4 KiB.

    block / d + 4 KiB x ceil(64 B x ceil((block / d) / (granularity - 64 B)) / 4 KiB)

    Parameters
    ----------
    code
        Erasure code.
    block_bytes
        Block size of the vdisk [B].
    granularity_bytes
        Checksum granularity [B].

    Returns
    -------
    int
        Space on disk [B].

    Notes
    -----
    Blocks divide by the data strips: true for powers of two.

    References
    ----------
    IBM SpectrumScaleTools gnr_capacity_estimator 1.3 (tsgnrplan logic).

    Examples
    --------
    >>> from kvplan.core.ece.codes import parse_code
    >>> raw_strip_bytes(parse_code("8+2P"), 4 * 2**20, 8192) - 512 * 1024
    8192
    """
    data_bytes = block_bytes // code.data
    # Each segment gives its last 64 B to the trailer, so data fills less than the granularity.
    segments = ceil_div(data_bytes, granularity_bytes - TRAILER_BYTES)
    return data_bytes + ALIGNMENT_BYTES * ceil_div(segments * TRAILER_BYTES, ALIGNMENT_BYTES)


def unassigned_tracks(tracks: int) -> int:
    """Count the tracks of a vdisk that are kept without an address: 0.1 %, at least 32, at most 4096.

    Parameters
    ----------
    tracks
        Physical tracks of the vdisk [tracks].

    Returns
    -------
    int
        Tracks kept back [tracks].

    Notes
    -----
    The upper bound is that of the current on-disk format.

    References
    ----------
    IBM SpectrumScaleTools gnr_capacity_estimator 1.3 (tsgnrplan logic).

    Examples
    --------
    >>> unassigned_tracks(1_000), unassigned_tracks(100_000), unassigned_tracks(10_000_000)
    (32, 100, 4096)
    """
    return max(MIN_UNASSIGNED_TRACKS, min(MAX_UNASSIGNED_TRACKS, ceil_div(tracks, UNASSIGNED_DIVISOR)))


def vdisk_data_bytes(
    code: ErasureCode, block_bytes: int, granularity_bytes: int, partitions: int, partition_size_bytes: int
) -> int:
    """Give what a vdisk holds: whole tracks in whole groups of partitions, less the unassigned ones, x block size.

    floor(partitions / w) groups x floor(partition size / strip on disk) tracks

    Parameters
    ----------
    code
        Erasure code; each strip of a track lies in another partition.
    block_bytes
        Block size of the vdisk [B].
    granularity_bytes
        Checksum granularity [B].
    partitions
        Partitions given to the vdisk [partitions].
    partition_size_bytes
        Partition size [B].

    Returns
    -------
    int
        User data [B], never below 0.

    Notes
    -----
    Before file-system metadata.

    References
    ----------
    IBM SpectrumScaleTools gnr_capacity_estimator 1.3 (tsgnrplan logic).

    Examples
    --------
    >>> from kvplan.core.ece.codes import parse_code
    >>> vdisk_data_bytes(parse_code("8+2P"), 4 * 2**20, 32768, 10_592, 2 * 2**30) // 2**30
    16795
    """
    # A track takes one strip in each of `width` partitions: what is left over of them holds nothing.
    tracks = partitions // code.width * (partition_size_bytes // raw_strip_bytes(code, block_bytes, granularity_bytes))
    return max(0, tracks - unassigned_tracks(tracks)) * block_bytes
