"""Checking the catalogue as a whole: rows, names, sources, and what one table says of another."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from kvplan.catalogue.profiles import load_profiles
from kvplan.catalogue.tables import (
    BACKENDS,
    DRIVES,
    ENCLOSURES,
    GPUS,
    KIT,
    MEASUREMENTS,
    MODELS,
    NICS,
    PREFILL,
    RELEASES,
    SERVERS,
    SOFTWARE,
    SPARES,
    SWITCHES,
    TABLES,
    Table,
)
from kvplan.errors import InputError, Problem, did_you_mean
from kvplan.schema.kit import SPARED_KINDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kvplan.catalogue.loader import Catalogue
    from kvplan.schema.profile import Profile

_REFERENCES: tuple[tuple[Table[Any], str, Table[Any]], ...] = (
    (GPUS, "nic", NICS),
    (GPUS, "server", SERVERS),
    (SOFTWARE, "cache_backend", BACKENDS),
    (SOFTWARE, "storage_scale", RELEASES),
    (MEASUREMENTS, "model", MODELS),
    (MEASUREMENTS, "gpu", GPUS),
    (PREFILL, "model", MODELS),
    (PREFILL, "gpu", GPUS),
    # What has no enclosure cannot be racked or powered.
    (SERVERS, "id", ENCLOSURES),
    (SWITCHES, "id", ENCLOSURES),
    (KIT, "replaces", KIT),
)
"""Table, field, and the table whose ids the field may hold; empty means none."""


def verify(catalogue: Catalogue, profiles: Sequence[Profile] | None = None) -> tuple[Problem, ...]:
    """Check every row, every name, every source, and every reference from table to table.

    Parameters
    ----------
    catalogue
        The catalogue with the user's tables, if any.
    profiles
        The profiles to check against it; kvplan's own when absent.

    Returns
    -------
    tuple of Problem
        All of them, table by table; empty when the catalogue is sound.
    """
    # References are worth following only between rows that are sound, so the checks come in three steps.
    problems = [problem for table in TABLES.values() for problem in _table_problems(catalogue, table)]
    if not problems:
        problems += _reference_problems(catalogue)
    if not problems:
        checked = load_profiles() if profiles is None else profiles
        problems += [problem for profile in checked for problem in _profile_problems(catalogue, profile)]
    return tuple(problems)


def _table_problems(catalogue: Catalogue, table: Table[Any]) -> Iterator[Problem]:
    """Check the rows of one table by themselves."""
    names: defaultdict[str, list[str]] = defaultdict(list)
    try:
        ids = catalogue.ids(table.name)
    except InputError as error:
        yield from error.problems
        return
    for row_id in ids:
        try:
            row: Any = catalogue.row(table.name, row_id)
        except InputError as error:
            yield from error.problems
            continue
        if not row.source.strip():
            yield Problem(catalogue.where(table.name, row_id), "is empty", key="source", allowed="a public source")
        for name in {row_id.lower(), *(alias.lower() for alias in getattr(row, "aliases", ()))}:
            names[name].append(row_id)
    for name, owners in names.items():
        if len(owners) > 1:
            where = catalogue.where(table.name, owners[-1])
            yield Problem(where, f"{name!r} names several rows: {', '.join(owners)}", key="aliases")


def _reference_problems(catalogue: Catalogue) -> Iterator[Problem]:
    """Check the fields of rows that hold ids of other tables."""
    for table, field, target in _REFERENCES:
        for row in catalogue.records(table):
            where = catalogue.where(table.name, row.id)
            yield from _unknown_id(catalogue, target, getattr(row, field), where, field)
    devices = (*catalogue.ids(SERVERS.name), *catalogue.ids(SWITCHES.name))
    spared = (*sorted(SPARED_KINDS), *catalogue.ids(KIT.name))
    for kit in catalogue.records(KIT):
        yield from _unknown_names(kit.models, devices, catalogue.where(KIT.name, kit.id), "models", "server or switch")
    for spare in catalogue.records(SPARES):
        where = catalogue.where(SPARES.name, spare.id)
        yield from _unknown_names(spare.covers, spared, where, "covers", "kind of part or kit row")


def _unknown_names(names: Iterable[str], known: Collection[str], where: str, key: str, noun: str) -> Iterator[Problem]:
    """Name what a list of names holds and nothing else does."""
    for name in names:
        if name not in known:
            yield Problem(where, f"{name!r} is no {noun}", key=key, hint=did_you_mean(name, known))


def _profile_problems(catalogue: Catalogue, profile: Profile) -> Iterator[Problem]:
    """Check that the parts of a profile exist and fit the chassis."""
    node = profile.node
    where = f"profile {profile.name}"
    parts = (
        ("node.server", node.server, SERVERS),
        ("node.drive", node.drive, DRIVES),
        ("node.client_nic", node.client_nic, NICS),
        ("node.storage_nic", node.storage_nic, NICS),
        ("switch", profile.switch, SWITCHES),
    )
    missing = [problem for key, part, table in parts for problem in _unknown_id(catalogue, table, part, where, key)]
    yield from missing
    if missing:
        return
    server, drive = catalogue.server(node.server), catalogue.drive(node.drive)
    if node.drives > server.drive_bays:
        yield Problem(where, f"{node.drives} drives in {server.drive_bays} bays", key="node.drives")
    if server.drive_form_factor and drive.form_factors and server.drive_form_factor not in drive.form_factors:
        allowed = f"{server.id} takes {server.drive_form_factor}"
        yield Problem(where, f"{drive.id} comes as {', '.join(drive.form_factors)}", key="node.drive", allowed=allowed)


def _unknown_id(catalogue: Catalogue, table: Table[Any], row_id: str, where: str, key: str) -> Iterator[Problem]:
    """Name an id that its table does not hold."""
    yield from _unknown_names([row_id] if row_id else [], catalogue.ids(table.name), where, key, table.noun)
