"""Names of cells: short, valid in every spreadsheet program, and the same in every quote."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kvplan.schema.bom import Bom, BomLine
    from kvplan.schema.kit import GroupId

LINE_GROUP, LINE_COUNTED, LINE_EXTENDED = "LineGroup", "LineInTotal", "LineExtended"
"""Columns of the bill of materials."""
DISCOUNT, CURRENCY, TOTAL, MISSING = "Discount", "Currency", "Total", "LinesWithoutPrice"
BTU = "BtuPerHourPerWatt"
BTU_PER_HOUR_PER_W = 3.412


def discount_name(group: GroupId) -> str:
    """Name the cell that holds a group's discount.

    >>> discount_name("storage")
    'Discount_storage'
    """
    return f"{DISCOUNT}_{_word(group)}"


def rate_name(rate_id: str) -> str:
    """Name the cell that holds a spare rate.

    >>> rate_name("power-supplies")
    'Rate_power_supplies'
    """
    return f"Rate_{_word(rate_id)}"


def minimum_name(rate_id: str) -> str:
    """Name the cell that holds the fewest spares of a kind.

    >>> minimum_name("drives")
    'Minimum_drives'
    """
    return f"Minimum_{_word(rate_id)}"


def has_own_discount(bom: Bom, group: GroupId) -> bool:
    """Tell whether a group has a discount of its own; all others follow that of the quote."""
    found = next(item for item in bom.groups if item.id == group)
    return found.discount != bom.discount or any(
        line.discount_from == "group" for line in bom.lines if line.group == group
    )


def discount_formula(bom: Bom, line: BomLine) -> str:
    """Refer to the discount that a line takes.

    A group without one of its own follows the quote's, so its lines may refer to the group's all the same: whoever
    types a discount over it in the sheet then changes the whole group.
    """
    follows = line.discount_from == "quote" and has_own_discount(bom, line.group)
    return f"={DISCOUNT if follows else discount_name(line.group)}"


def _word(text: str) -> str:
    """Replace what a name may not hold."""
    return re.sub(r"\W", "_", text, flags=re.ASCII)
