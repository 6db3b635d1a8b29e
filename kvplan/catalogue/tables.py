"""Which tables there are, what a row of each is, and the version of their content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import Field

from kvplan.errors import InputError, did_you_mean
from kvplan.schema.alternative import StorageAlternative
from kvplan.schema.base import Constant, Record
from kvplan.schema.cabling import CableFamily, Enclosure, Transceiver
from kvplan.schema.claims import Claim
from kvplan.schema.hardware import Drive, Gpu, Nic, Server, Switch
from kvplan.schema.kit import KitRow, SpareRow
from kvplan.schema.measurement import Measurement
from kvplan.schema.model import ModelSpec
from kvplan.schema.prefill import PrefillRow
from kvplan.schema.setting import Compatibility, Setting
from kvplan.schema.software import CacheBackend, SoftwareSet, StorageRelease
from kvplan.schema.workload import WorkloadPreset

CATALOGUE_VERSION = "2026.11.30"
"""The day up to which the built-in tables were brought; it changes with every change of a row."""

RowT = TypeVar("RowT", bound=Record)


class ConstantRow(Constant):
    """A constant as its table holds it, with the id under which formulas name it."""

    id: str = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Table(Generic[RowT]):
    """One table: its file's name without ending, the record of a row, and what a row is called."""

    name: str
    record: type[RowT]
    noun: str


MODELS = Table("models", ModelSpec, "model")
GPUS = Table("gpus", Gpu, "GPU")
SERVERS = Table("servers", Server, "server")
DRIVES = Table("drives", Drive, "drive")
NICS = Table("nics", Nic, "network adapter")
SWITCHES = Table("switches", Switch, "switch")
BACKENDS = Table("backends", CacheBackend, "cache back end")
SOFTWARE = Table("software", SoftwareSet, "software set")
RELEASES = Table("releases", StorageRelease, "storage release")
ENCLOSURES = Table("enclosures", Enclosure, "enclosure")
CABLES = Table("cables", CableFamily, "cable family")
TRANSCEIVERS = Table("transceivers", Transceiver, "transceiver")
KIT = Table("kit", KitRow, "kit row")
SPARES = Table("spares", SpareRow, "spare rate")
MEASUREMENTS = Table("measurements", Measurement, "measurement")
SETTINGS = Table("settings", Setting, "setting")
COMPATIBILITY = Table("compatibility", Compatibility, "compatibility row")
ALTERNATIVES = Table("alternatives", StorageAlternative, "alternative")
PREFILL = Table("prefill", PrefillRow, "prefill row")
FIGURES = Table("figures", ConstantRow, "published figure")
CLAIMS = Table("claims", Claim, "claim")
WORKLOADS = Table("workloads", WorkloadPreset, "workload")
CONSTANTS = Table("constants", ConstantRow, "constant")

_ALL: tuple[Table[Any], ...] = (
    MODELS, GPUS, SERVERS, DRIVES, NICS, SWITCHES, BACKENDS, SOFTWARE, RELEASES,
    ENCLOSURES, CABLES, TRANSCEIVERS, KIT, SPARES, SETTINGS, COMPATIBILITY, MEASUREMENTS, ALTERNATIVES,
    PREFILL, FIGURES, CLAIMS, WORKLOADS, CONSTANTS,
)  # fmt: skip
TABLES: dict[str, Table[Any]] = {table.name: table for table in _ALL}
"""All tables by name, in the order in which they are listed and hashed."""


def table_named(name: str) -> Table[Any]:
    """Return a table by its name.

    Parameters
    ----------
    name
        Name such as `models`.

    Returns
    -------
    Table
        The table of that name.

    Raises
    ------
    InputError
        When there is no such table.

    Examples
    --------
    >>> table_named("gpus").noun
    'GPU'
    """
    if name not in TABLES:
        where, allowed = f"table {name!r}", f"tables: {', '.join(TABLES)}"
        raise InputError.single(where, "is unknown", allowed=allowed, hint=did_you_mean(name, TABLES))
    return TABLES[name]
