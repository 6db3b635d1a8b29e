"""The prefill table together with the rows of other tables that it needs."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from kvplan.catalogue.tables import PREFILL
from kvplan.core.prediction.prefill_table import PrefillTable

if TYPE_CHECKING:
    from kvplan.catalogue.loader import Catalogue


@lru_cache(maxsize=4)
def prefill_table(catalogue: Catalogue) -> PrefillTable:
    """Gather the rows of the prefill table, the models and GPUs they name, and the constants.

    Parameters
    ----------
    catalogue
        The catalogue with the user's tables, if any.

    Returns
    -------
    PrefillTable
        What the choice of a cold prefill asks for.

    Examples
    --------
    >>> from kvplan.catalogue.loader import load_catalogue
    >>> len(prefill_table(load_catalogue()).rows)
    44
    """
    rows = catalogue.records(PREFILL)
    models, gpus = {row.model for row in rows if row.model}, {row.gpu for row in rows if row.gpu}
    return PrefillTable(
        rows=rows,
        models={name: catalogue.model(name) for name in sorted(models)},
        gpus={name: catalogue.gpu(name) for name in sorted(gpus)},
        constants=catalogue.constants(),
    )
