"""What the rated endurance of the drives lets a tier write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.core.prediction.flash import DAY_S, drive_writes_per_day
from kvplan.schema.ece import Endurance

if TYPE_CHECKING:
    from kvplan.core.ece.codes import ErasureCode


def endurance(
    raw_bytes: int,
    code: ErasureCode,
    rated_dwpd: float,
    write_bytes_per_s: float,
    write_amplification: float,
) -> Endurance:
    """Compare a write rate with what the drives are rated for.

    allowed = raw x DWPD / 86,400 s x d / (d + p) / WAF,
    demanded DWPD = write rate x (d + p) / d x WAF x 86,400 s / raw

    Parameters
    ----------
    raw_bytes
        Space of all drives [B].
    code
        Erasure code, which writes (d + p) / d bytes for each byte.
    rated_dwpd
        Drive writes per day over the warranty, from the drive's data sheet [1/day].
    write_bytes_per_s
        User writes asked for, around the clock [B/s].
    write_amplification
        Bytes written to flash for each byte written to the drive [1].

    Returns
    -------
    Endurance
        Rated and demanded drive writes [1/day], allowed rate [B/s].

    Notes
    -----
    Writes spread evenly over all drives, whole stripes only: small writes add read-modify-write.

    References
    ----------
    JEDEC JESD218, endurance rating of solid-state drives (TBW); Micron 9550 PRO 7.68 TB data sheet: 1 DWPD, 14,016 TBW.

    Examples
    --------
    >>> from kvplan.core.ece.codes import parse_code
    >>> node = endurance(16 * 7_680_000_000_000, parse_code("8+2P"), 1.0, 2.2756e9, 1.0)
    >>> round(node.allowed_write_bytes_per_s / 1e9, 2), round(node.demanded_drive_writes_per_day, 2)
    (1.14, 2.0)
    """
    # Parity and the drives' own moving of data multiply what a user's byte writes.
    raw_share = code.efficiency / write_amplification
    return Endurance(
        rated_drive_writes_per_day=rated_dwpd,
        allowed_write_bytes_per_s=raw_bytes * rated_dwpd / DAY_S * raw_share,
        demanded_drive_writes_per_day=drive_writes_per_day(
            write_bytes_per_s, 1 / code.efficiency, raw_bytes, write_amplification
        ),
    )
