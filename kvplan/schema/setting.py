"""Rows of the tables that files are written from: a value for a parameter of some product, and versions that fit."""

from __future__ import annotations

from typing import Literal

from kvplan.schema.hardware import Row
from kvplan.schema.software import VersionRange

Area = Literal["switch", "host", "nic", "scale", "inference", "install"]
"""Which part of a deployment a setting belongs to."""
Product = Literal[
    "dynamo", "vllm", "cuda", "gpu-driver", "doca", "storage-scale", "rhel", "rhel-kernel", "ubuntu", "ubuntu-kernel",
    "cumulus", "cache-backend",
]  # fmt: skip
"""A product whose version a Site names, or which it chooses."""


class Setting(Row):
    """What a parameter is set to, where and why; its id is `area.name`.

    `applies_to` narrows it to roles, back ends or dialects, as its area means it; empty for all. `title` is the
    parameter as the product calls it.
    """

    area: Area
    value: str | int | float | bool
    unit: str = ""
    applies_to: tuple[str, ...] = ()


class Compatibility(Row):
    """Two products whose versions must fit: where the first is within its range, the second must be within its own.

    `exact` names a choice that is no version, such as a cache back end; `works` is False where the pair is known not
    to work.
    """

    first: Product
    first_range: VersionRange = VersionRange()
    first_exact: tuple[str, ...] = ()
    second: Product
    second_range: VersionRange = VersionRange()
    second_exact: tuple[str, ...] = ()
    works: bool = True
