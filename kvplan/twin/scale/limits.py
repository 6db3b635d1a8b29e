"""What the simulated commands hold to, from the manuals of Storage Scale Erasure Code Edition 5.2 to 6.0.1.

Block sizes: mmvdisk vdiskset (those of 16+p are not public, so the widest of the others holds). Servers, drives and
arrays: "Minimum declustered array requirements" and "Recovery group server nodes". Memory: mmvdisk server.
"""

from __future__ import annotations

MIB = 1 << 20
KIB = 1 << 10

CODES = {
    "3wayreplication": (1, 2, 256 * KIB, 2 * MIB),
    "4wayreplication": (1, 3, 256 * KIB, 2 * MIB),
    "4+2p": (4, 2, 512 * KIB, 8 * MIB),
    "4+3p": (4, 3, 512 * KIB, 8 * MIB),
    "8+2p": (8, 2, 512 * KIB, 16 * MIB),
    "8+3p": (8, 3, 512 * KIB, 16 * MIB),
    "16+2p": (16, 2, 512 * KIB, 16 * MIB),
    "16+3p": (16, 3, 512 * KIB, 16 * MIB),
}
"""Data strips, redundant strips, smallest and largest block [B] by code."""

FINE_CHECKSUM_BLOCK = {4: 2 * MIB, 8: 4 * MIB, 16: 4 * MIB}
"""Largest block [B] that flash takes with 8 KiB checksums, by data strips."""

SERVERS = (3, 32)
LARGE_ARRAY = 12
FEWEST_SPARES = 3
MEMORY_SPREAD = 0.10
RAID_TRACKS = "131072"
WIDE_CODES_SINCE = (6, 0)
"""Recovery-group version that 16+p needs; a message tells when an older one is met."""

OVERHEAD = 0.0137
"""Share of a pdisk that is not to be had after spares, as observed on NVMe."""

LOG_SECONDS = 30.0
"""Simulated time to format a log vdisk on NVMe [s]: an assumption; emulated hard disks took 13 to 19 minutes."""


def size_bytes(text: str) -> int:
    """Read a size such as `4m`, `16M`, `625733G` or a number of bytes; raises ValueError.

    Parameters
    ----------
    text
        Number and binary suffix.

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    >>> size_bytes("4m")
    4194304
    """
    suffixes = "kmgtp"
    lower = text.lower()
    if lower[-1:] and lower[-1] in suffixes:
        return int(lower[:-1]) << 10 * (suffixes.index(lower[-1]) + 1)
    return int(lower)
