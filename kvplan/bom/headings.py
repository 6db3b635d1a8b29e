"""Headings of the sheet of lines that are read back as a price book once the sheet is saved as CSV."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY: Final = "Key"
PART_NUMBER: Final = "Part number"
TERM: Final = "Term [months]"
LEAD_TIME: Final = "Lead time [days]"
PRICE_DATE: Final = "Price date"
VALID_UNTIL: Final = "Price valid until"
PRICE_BOOK: Final = "Price book"
OWN_DISCOUNT: Final = "Own discount [%]"
DISCOUNT: Final = "Discount [%]"
"""What a line takes off: its own discount or that of its group, and so nothing that a price book is to say."""
READ_BACK: Final[Mapping[str, str]] = MappingProxyType({
    KEY: "key",
    PART_NUMBER: "part_number",
    TERM: "term_months",
    LEAD_TIME: "lead_time_days",
    PRICE_DATE: "price_date",
    VALID_UNTIL: "valid_until",
    PRICE_BOOK: "price_source",
    OWN_DISCOUNT: "discount",
})  # fmt: skip
"""The column of a price book that each heading stands for; the list price names its currency, see `list_heading`."""


def list_heading(currency: str) -> str:
    """Write the heading of the list prices.

    >>> list_heading("EUR")
    'List [EUR]'
    """
    return f"List [{currency}]"
