"""The six Reed-Solomon codes of Storage Scale ECE, with the block sizes and node counts that go with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kvplan.errors import InputError, did_you_mean
from kvplan.units import KIB, MIB

if TYPE_CHECKING:
    from kvplan.schema.base import Confidence


@dataclass(frozen=True, slots=True, order=True)
class ErasureCode:
    """So many data strips and so many parity strips make one stripe.

    >>> code = ErasureCode(8, 2)
    >>> code.name, code.width, code.efficiency
    ('8+2P', 10, 0.8)
    """

    data: int
    parity: int

    @property
    def name(self) -> str:
        """Spelling of the code as IBM prints it."""
        return f"{self.data}+{self.parity}P"

    @property
    def width(self) -> int:
        """Strips of one stripe, w = d + p [strips]."""
        return self.data + self.parity

    @property
    def efficiency(self) -> float:
        """Share of raw space that holds data, d / (d + p) [1]; an upper bound of the usable fraction."""
        return self.data / self.width


@dataclass(frozen=True, slots=True)
class CodeFacts:
    """What is published about one code.

    Attributes
    ----------
    code
        The code itself.
    block_min_bytes, block_max_bytes
        Block sizes that vdisks of this code may have [B].
    block_confidence
        How well that range is known.
    flash_block_bytes
        Largest block that IBM advises on flash [B], also the largest with 8 KiB checksum granularity; absent when
        no advice is published.
    recommended_from_nodes
        Fewest nodes [nodes] at which IBM's published table names the code; absent where it has no row for it.

    References
    ----------
    Block range: mmvdisk manual page of 6.0.0.2 as quoted in threen134/cloudland, shared-storage-design.md; for 16+xP
    the range that IBM SpectrumScaleTools gnr_capacity_estimator accepts.
    Flash advice: IBM Spectrum Scale ECE 5.0.3 documentation, minimum hardware requirements.
    Node counts: IBM docs storage-scale-ece/5.2.3?topic=selection-recommendations and its 5.2.2 predecessor as quoted
    in wutz/k8s-in-action storage/gpfs-ece/day-0.md, which have no row for 16+2P and 16+3P.
    """

    code: ErasureCode
    block_min_bytes: int
    block_max_bytes: int
    block_confidence: Confidence
    flash_block_bytes: int | None
    recommended_from_nodes: int | None

    @property
    def advised_from_nodes(self) -> int:
        """IBM's count, and without one that from which each strip has a node of its own [nodes]."""
        return self.recommended_from_nodes or self.code.width


_TABLE = (
    CodeFacts(ErasureCode(4, 2), 512 * KIB, 8 * MIB, "vendor", 2 * MIB, 6),
    CodeFacts(ErasureCode(4, 3), 512 * KIB, 8 * MIB, "vendor", 2 * MIB, 4),
    CodeFacts(ErasureCode(8, 2), 512 * KIB, 16 * MIB, "vendor", 4 * MIB, 10),
    CodeFacts(ErasureCode(8, 3), 512 * KIB, 16 * MIB, "vendor", 4 * MIB, 6),
    CodeFacts(ErasureCode(16, 2), 1 * MIB, 16 * MIB, "assumed", None, None),
    CodeFacts(ErasureCode(16, 3), 1 * MIB, 16 * MIB, "assumed", None, None),
)

CODES: Final[dict[ErasureCode, CodeFacts]] = {facts.code: facts for facts in _TABLE}
"""Every code that can be sized, with what is published about it."""

_BY_NAME: Final = {code.name: code for code in CODES}


def parse_code(text: str, *, where: str = "--code") -> ErasureCode:
    """Read the name of an erasure code; letter case does not matter.

    Parameters
    ----------
    text
        A name such as `8+2P` or `8+2p`: data strips [strips], parity strips [strips].
    where
        The option or file that the text came from, for the error.

    Returns
    -------
    ErasureCode
        One of the six codes of `CODES`.

    Raises
    ------
    InputError
        When there is no such code.

    Notes
    -----
    3WayReplication and 4WayReplication exist too; they hold metadata and are not sized here.

    References
    ----------
    IBM SpectrumScaleTools gnr_capacity_estimator 1.3, which knows the same six codes.

    Examples
    --------
    >>> parse_code(" 8+2p ")
    ErasureCode(data=8, parity=2)
    """
    code = _BY_NAME.get(text.strip().upper())
    if code is None:
        raise InputError.single(
            where,
            f"{text!r} is no erasure code",
            allowed=f"allowed: {', '.join(_BY_NAME)}",
            hint=did_you_mean(text.strip(), _BY_NAME),
        )
    return code
