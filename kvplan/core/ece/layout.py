"""What a geometry is asked for, and the recovery groups that follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kvplan.core.ece.codes import CODES, ErasureCode
from kvplan.core.ece.groups import recovery_group_nodes
from kvplan.core.ece.spares import default_spare_pdisks
from kvplan.errors import InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.software import StorageRelease


@dataclass(frozen=True, slots=True)
class GeometryInput:
    """What decides the geometry of a tier; hashable, so that equal questions are answered once.

    Attributes
    ----------
    nodes
        Storage nodes in all [nodes].
    drives_per_node
        Drives per node [drives].
    drive_bytes
        Size of one drive [B].
    code
        Erasure code of the vdisk set, one of `CODES`.
    block_bytes
        Block size of the vdisk set [B].
    spare_pdisks
        Spare space of each recovery group, [drives], as `mmvdisk` takes it; absent means IBM's default.
    release
        The storage software release with its limits.
    set_size_percent
        Share of each declustered array that the vdisk set takes [%].
    """

    nodes: int
    drives_per_node: int
    drive_bytes: int
    code: ErasureCode
    block_bytes: int
    spare_pdisks: int | None
    release: StorageRelease
    set_size_percent: int = 100

    def __post_init__(self) -> None:
        # Values that mean nothing are refused here; values that merely break a limit are computed and judged.
        problems = tuple(_problems(self))
        if problems:
            raise InputError(problems)


@dataclass(frozen=True, slots=True)
class RecoveryGroup:
    """One recovery group: servers, drives in each, and spare space in drives."""

    nodes: int
    drives_per_node: int
    spare_pdisks: int

    @property
    def pdisks(self) -> int:
        """Drives of the whole group [drives]."""
        return self.nodes * self.drives_per_node


_RANGES: Final = (
    ("nodes", 1, None),
    ("drives_per_node", 1, None),
    ("drive_bytes", 1, None),
    ("block_bytes", 1, None),
    ("spare_pdisks", 0, None),
    ("set_size_percent", 10, 100),
)
"""Field, least and greatest value with which there is anything to compute; limits judge the rest."""


def _problems(asked: GeometryInput) -> Iterator[Problem]:
    """Yield what is out of range, field by field."""
    for key, least, most in _RANGES:
        value = getattr(asked, key)
        if value is not None and (value < least or (most is not None and value > most)):
            allowed = f"at least {least}" if most is None else f"{least} to {most}"
            yield Problem("geometry", f"{value} is out of range", key=key, allowed=f"allowed: {allowed}")
    if asked.code not in CODES:
        names = ", ".join(code.name for code in CODES)
        yield Problem("geometry", f"{asked.code.name} is no erasure code", key="code", allowed=f"allowed: {names}")


def layout(asked: GeometryInput) -> tuple[RecoveryGroup, ...]:
    """Lay out the recovery groups of a tier, the largest first.

    Parameters
    ----------
    asked
        The geometry: nodes, drives per node, spares [drives] and release.

    Returns
    -------
    tuple of RecoveryGroup
        The groups, which share code, block size and drive size.

    Notes
    -----
    All servers are alike, as a recovery group demands.

    References
    ----------
    https://www.ibm.com/docs/en/storage-scale-ece/5.2.3?topic=selection-nodes-in-recovery-group

    Examples
    --------
    >>> from kvplan.core.ece.example import EXAMPLE
    >>> layout(EXAMPLE)
    (RecoveryGroup(nodes=8, drives_per_node=16, spare_pdisks=4),)
    """
    drives, spares = asked.drives_per_node, asked.spare_pdisks
    return tuple(
        RecoveryGroup(nodes, drives, default_spare_pdisks(nodes, drives) if spares is None else spares)
        for nodes in recovery_group_nodes(asked.nodes, drives, asked.release)
    )
