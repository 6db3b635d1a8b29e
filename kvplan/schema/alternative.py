"""Rows of the table of alternatives: what else could be the shared tier, and what is known of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kvplan.schema.base import Confidence, Record
from kvplan.schema.hardware import PositiveFloat, PositiveInt, Row

Share = Annotated[float, Field(gt=0, le=1)]
DirectPath = Literal["listed", "not listed"]
"""Whether NVIDIA names the client among those that cuFile reads into GPU memory from."""


class StorageAlternative(Row):
    """One way to build the shared tier (G4); what nobody has published stays empty.

    Data are cut into `data_strips` and protected by `parity_strips`, spread over what `strips_over` names.
    `fill_share` is how full the maker's own warning lets it become. `serving_margin` is how many strips beyond the
    data it insists on before it serves. With `from_plan` the figures are those of the Plan that it stands beside.
    """

    from_plan: bool = False
    own_hardware: bool = False
    scheme: str
    data_strips: PositiveInt | None = None
    parity_strips: PositiveInt | None = None
    strips_over: Literal["nodes", "drives"] | None = None
    fill_share: Share | None = None
    serving_margin: Annotated[int, Field(ge=0)] = 0
    node_loss: str
    read_bytes_per_s_per_node: PositiveFloat | None = None
    read_source: str = ""
    gpudirect: DirectPath | None = None
    supported_by: tuple[str, ...] = ()
    integration: str = ""


class BackendComparison(Record):
    """One alternative brought to the usable capacity of a Plan; absent values are not known.

    `nodes` counts nodes with the Plan's drives. `serves_without` nodes lost it goes on, `keeps_without` nodes lost
    the data are still there.
    """

    id: str
    title: str
    scheme: str
    usable_share: float | None
    usable_bytes: int
    raw_bytes: int | None
    nodes: int | None
    serves_without: int | None
    keeps_without: int | None
    read_bytes_per_s: float | None
    read_source: str
    gpudirect: DirectPath | None
    supported_by: tuple[str, ...]
    integration: str
    node_loss: str
    confidence: Confidence
    source: str
    note: str
