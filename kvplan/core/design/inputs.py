"""Everything the physical design needs, looked up beforehand, so that the design itself reads nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.schema.build import BuildOptions
    from kvplan.schema.cabling import CableFamily, Enclosure, Transceiver
    from kvplan.schema.hardware import Server, Switch
    from kvplan.schema.plan import CatalogueLock, Plan


@dataclass(frozen=True, slots=True)
class DesignInputs:
    """A Plan, how it is to be built, and the catalogue rows for everything that the Plan does not name.

    `enclosures` are keyed by the id of the server or switch; `lock` is the catalogue of today, which may be another
    one than the Plan's.
    """

    plan: Plan
    plan_sha256: str
    options: BuildOptions
    enclosures: Mapping[str, Enclosure]
    cables: tuple[CableFamily, ...]
    transceivers: tuple[Transceiver, ...]
    management_switch: Switch
    control_server: Server
    lock: CatalogueLock
