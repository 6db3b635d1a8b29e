"""Names of cells: short, valid in every spreadsheet program, and the same in every quote."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kvplan.schema.bom import BomLine
    from kvplan.schema.kit import GroupId

LINE_GROUP, LINE_COUNTED, LINE_EXTENDED = "LineGroup", "LineInTotal", "LineExtended"
"""Columns of the bill of materials."""
DISCOUNT, CURRENCY, TOTAL = "Discount", "Currency", "Total"
LINES, MISSING = "LinesToPrice", "LinesWithoutPrice"
HEAT = "BtuPerHourPerWatt"


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


def discount_choice(line: BomLine) -> str:
    """Refer to the discount that a line takes when it has none of its own.

    Spares take that of what they cover, until somebody types one for all spares.

    >>> from kvplan.schema.bom import BomLine
    >>> line = BomLine(line="8.0", key="drive/x", group="spares", discount_group="storage", description="Drive",
    ...                quantity_per_parent=1, quantity=1, basis="", source="", confidence="assumed")
    >>> discount_choice(line)
    'IF(Discount_spares="",Discount_storage,Discount_spares)'
    """
    own, other = discount_name(line.group), discount_name(line.discount_group)
    return own if own == other else f'IF({own}="",{other},{own})'


def _word(text: str) -> str:
    """Replace what a name may not hold."""
    return re.sub(r"\W", "_", text, flags=re.ASCII)
