"""The catalogue: one object that knows every table, reads what is asked for, and keeps what it has read."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from kvplan.catalogue.lookup import NameIndex
from kvplan.catalogue.rows import TableRow, rows_of
from kvplan.catalogue.sources import TableFile, digest, table_files
from kvplan.catalogue.tables import (
    BACKENDS,
    CATALOGUE_VERSION,
    COMPATIBILITY,
    CONSTANTS,
    DRIVES,
    GPUS,
    MODELS,
    NICS,
    RELEASES,
    SERVERS,
    SETTINGS,
    SOFTWARE,
    SWITCHES,
    WORKLOADS,
    RowT,
    Table,
    table_named,
)
from kvplan.schema.base import Constant, Record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kvplan.schema.hardware import Drive, Gpu, Nic, Server, Switch
    from kvplan.schema.model import ModelSpec
    from kvplan.schema.setting import Compatibility, Setting
    from kvplan.schema.software import CacheBackend, SoftwareSet, StorageRelease
    from kvplan.schema.workload import WorkloadPreset

_KEPT_CATALOGUES = 8


class Catalogue:
    """All tables, kvplan's own and the user's.

    A name may be an id, an alias, the end of an id, or a fragment that fits one row; see `NameIndex.find`. Every
    method that takes a name raises InputError when it fits none or several, and with every problem of the row when
    the row itself is wrong.

    Parameters
    ----------
    files
        The table files, kvplan's own before the user's.

    Attributes
    ----------
    version
        The day up to which kvplan's own tables were brought.
    user_tables
        The user's table files, as their directories were given.
    """

    def __init__(self, files: tuple[TableFile, ...]) -> None:
        self.version = CATALOGUE_VERSION
        self.user_tables = tuple(str(file.path) for file in files if file.layer)
        self._files = files
        self._rows: dict[str, dict[str, TableRow]] = {}
        self._names: dict[str, NameIndex] = {}
        self._records: dict[tuple[str, str], Any] = {}
        self._constants: dict[str, Constant] = {}

    @cached_property
    def sha256(self) -> str:
        """The hash over names and bytes of all table files, the user's included."""
        return digest(self._files)

    def ids(self, table: str) -> tuple[str, ...]:
        """List the ids of a table, in the order of its files."""
        return tuple(self._table(table_named(table)))

    def rows(self, table: str) -> tuple[Record, ...]:
        """Read a whole table."""
        return self.records(table_named(table))

    def records(self, table: Table[RowT]) -> tuple[RowT, ...]:
        """Read a whole table, typed."""
        return tuple(self._record(table, row_id) for row_id in self._table(table))

    def find(self, table: str, name: str) -> str:
        """Return the id of the row that a name means."""
        return self._index(table_named(table)).find(name)

    def where(self, table: str, name: str) -> str:
        """Say in which file and line a row stands."""
        return self._table(table_named(table))[self.find(table, name)].where

    def row(self, table: str, name: str) -> Record:
        """Return a row of any table."""
        record: Record = self._one(table_named(table), name)
        return record

    def model(self, name: str) -> ModelSpec:
        """Return a model."""
        return self._one(MODELS, name)

    def gpu(self, name: str) -> Gpu:
        """Return a GPU."""
        return self._one(GPUS, name)

    def server(self, name: str) -> Server:
        """Return a chassis."""
        return self._one(SERVERS, name)

    def drive(self, name: str) -> Drive:
        """Return a drive."""
        return self._one(DRIVES, name)

    def nic(self, name: str) -> Nic:
        """Return a network adapter."""
        return self._one(NICS, name)

    def switch(self, name: str) -> Switch:
        """Return a switch."""
        return self._one(SWITCHES, name)

    def backend(self, name: str) -> CacheBackend:
        """Return a cache back end."""
        return self._one(BACKENDS, name)

    def software(self, name: str) -> SoftwareSet:
        """Return a software set."""
        return self._one(SOFTWARE, name)

    def release(self, name: str) -> StorageRelease:
        """Return a storage release."""
        return self._one(RELEASES, name)

    def workload(self, name: str) -> WorkloadPreset:
        """Return a workload by its name."""
        return self._one(WORKLOADS, name)

    def constant(self, name: str) -> Constant:
        """Return a constant, without the id that its table keeps with it."""
        if name not in self._constants:
            row = self._one(CONSTANTS, name)
            self._constants[name] = Constant.model_validate(row.model_dump(exclude={"id"}))
        return self._constants[name]

    def constants(self) -> dict[str, Constant]:
        """Return all constants by id."""
        return {row_id: self.constant(row_id) for row_id in self.ids(CONSTANTS.name)}

    def settings(self) -> dict[str, Setting]:
        """Return all settings by id."""
        return {row.id: row for row in self.records(SETTINGS)}

    def compatibility(self) -> tuple[Compatibility, ...]:
        """Return the table of what goes together."""
        return self.records(COMPATIBILITY)

    def _one(self, table: Table[RowT], name: str) -> RowT:
        """Return the row that a name means, from memory when it was asked for before."""
        known: RowT | None = self._records.get((table.name, name))
        if known is not None:
            return known
        record = self._record(table, self._index(table).find(name))
        self._records[table.name, name] = record
        return record

    def _record(self, table: Table[RowT], row_id: str) -> RowT:
        """Return the row with an id, validated once."""
        key = (table.name, row_id)
        if key not in self._records:
            self._records[key] = self._table(table)[row_id].record(table.record)
        record: RowT = self._records[key]
        return record

    def _table(self, table: Table[Any]) -> dict[str, TableRow]:
        """Return the rows of a table, read when first asked for."""
        if table.name not in self._rows:
            self._rows[table.name] = rows_of(file for file in self._files if file.table == table.name)
        return self._rows[table.name]

    def _index(self, table: Table[Any]) -> NameIndex:
        """Return the names of a table, gathered when first asked for."""
        if table.name not in self._names:
            named = ((row.id, row.aliases) for row in self._table(table).values())
            self._names[table.name] = NameIndex.of(table.name, table.noun, named)
        return self._names[table.name]


def load_catalogue(user_dirs: Sequence[Path] = ()) -> Catalogue:
    """Return the catalogue with the user's tables over kvplan's own.

    Nothing is parsed yet; the same object comes back as long as the files are the same and unchanged.

    Parameters
    ----------
    user_dirs
        Directories with tables such as `models.yaml`; their rows extend kvplan's own and replace them by id.

    Returns
    -------
    Catalogue
        Every table, read when asked for.

    Raises
    ------
    InputError
        When a directory is missing or holds a file that is no table.

    Examples
    --------
    >>> load_catalogue().gpu("RTX-Pro-6000").memory_bytes
    102641958912
    """
    return _catalogue(table_files(user_dirs))


@lru_cache(maxsize=_KEPT_CATALOGUES)
def _catalogue(files: tuple[TableFile, ...]) -> Catalogue:
    """Build a catalogue once for the same files in the same state."""
    return Catalogue(files)
