"""The catalogue rows of a bill of materials, read from the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.bom.scope import Tables
from kvplan.catalogue.tables import CABLES, KIT, SERVERS, SPARES, SWITCHES, TRANSCEIVERS

if TYPE_CHECKING:
    from kvplan.catalogue.loader import Catalogue


def tables_of(catalogue: Catalogue) -> Tables:
    """Read the tables that a bill of materials needs beside the Plan and the design.

    Parameters
    ----------
    catalogue
        The tables, the user's included.

    Returns
    -------
    Tables
        Kit and spares in their order, the others by id.
    """
    return Tables(
        kit=catalogue.records(KIT),
        spares=catalogue.records(SPARES),
        cables={row.id: row for row in catalogue.records(CABLES)},
        transceivers={row.id: row for row in catalogue.records(TRANSCEIVERS)},
        servers={row.id: row for row in catalogue.records(SERVERS)},
        switches={row.id: row for row in catalogue.records(SWITCHES)},
    )
