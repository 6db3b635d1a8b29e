"""Money as people write it and as it is reckoned: decimals throughout, rounded half up to a currency's minor unit."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from kvplan.errors import shown

MAX_PRICE = Decimal(10) ** 12
_WITHOUT_CENTS = {"JPY", "KRW"}
_PLAIN = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+\.\d{1,9}|\d{1,3}(?:,\d{3}){2,4}")
_COMMA = re.compile(r"\d{1,3}(?:[.\s']?\d{3})*,\d{1,2}|\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?|\d{1,3}(?:\.\d{3})+,\d+")
_EITHER = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_PERCENT = re.compile(r"(?P<number>-?\d{1,3}(?:\.\d{1,9})?)\s*%")
_SHARE = re.compile(r"-?\d{1,3}(?:\.\d{1,9})?")
_CURRENCY = re.compile(r"[A-Z]{3}")


def minor_units(currency: str) -> int:
    """Return how many decimals the amounts of a currency have.

    >>> minor_units("EUR"), minor_units("JPY")
    (2, 0)
    """
    return 0 if currency in _WITHOUT_CENTS else 2


def rounded(amount: Decimal, currency: str) -> Decimal:
    """Round half up to the currency's minor unit.

    >>> rounded(Decimal("2.345"), "EUR"), rounded(Decimal("2.5"), "JPY")
    (Decimal('2.35'), Decimal('3'))
    """
    return amount.quantize(Decimal(1).scaleb(-minor_units(currency)), rounding=ROUND_HALF_UP)


def parse_price(text: str) -> Decimal:
    """Read a price as people write it.

    Parameters
    ----------
    text
        Digits with a decimal point and, if any, commas between thousands.

    Returns
    -------
    Decimal
        The price.

    Raises
    ------
    ValueError
        When the text is negative, no number, or could mean two different prices; the message says how to write it.

    Examples
    --------
    >>> parse_price("1234.50"), parse_price("1,234.50"), parse_price("0")
    (Decimal('1234.50'), Decimal('1234.50'), Decimal('0'))
    """
    stripped = text.strip()
    if _EITHER.fullmatch(stripped):
        whole, part = re.split("[.,]", stripped)
        message = f"{shown(text)} can be read two ways; write {whole}{part}.00 or {whole}.{part}0"
        raise ValueError(message)
    if not _PLAIN.fullmatch(stripped) and not _GROUPED.fullmatch(stripped):
        raise ValueError(_why_not(text, stripped))
    price = Decimal(stripped.replace(",", ""))
    if price > MAX_PRICE:
        message = f"{shown(text)} is beyond {MAX_PRICE:,}"
        raise ValueError(message)
    return price


def parse_discount(text: str) -> Decimal:
    """Read a discount: a percentage, or a share from 0 to below 1.

    Parameters
    ----------
    text
        Such as `12%` or `0.12`.

    Returns
    -------
    Decimal
        The share [1].

    Raises
    ------
    ValueError
        When the text is neither, or not between 0 and 100 %.

    Examples
    --------
    >>> parse_discount("12%"), parse_discount("12.5 %"), parse_discount("0.12"), parse_discount("100%")
    (Decimal('0.12'), Decimal('0.125'), Decimal('0.12'), Decimal('1'))
    """
    stripped = text.strip()
    percent = _PERCENT.fullmatch(stripped)
    if percent is None and not _SHARE.fullmatch(stripped):
        message = f"{shown(text)} is no discount; write 12% or 0.12"
        raise ValueError(message)
    share = Decimal(percent["number"]) / 100 if percent else Decimal(stripped)
    if percent is None and share >= 1:
        message = f"{shown(text)} can be read two ways; write {stripped}%"
        raise ValueError(message)
    if not 0 <= share <= 1:
        message = f"{shown(text)} is not between 0 and 100 %"
        raise ValueError(message)
    return share


def parse_rate(text: str) -> Decimal:
    """Read what one unit of another currency is worth.

    Parameters
    ----------
    text
        A number with a decimal point.

    Returns
    -------
    Decimal
        The rate [1].

    Raises
    ------
    ValueError
        When the text is no number above 0.

    Examples
    --------
    >>> parse_rate("0.92")
    Decimal('0.92')
    """
    stripped = text.strip()
    if not _PLAIN.fullmatch(stripped):
        message = f"{shown(text)} is no number with a decimal point"
        raise ValueError(message)
    if not Decimal(stripped):
        message = f"{shown(text)} must be above 0"
        raise ValueError(message)
    return Decimal(stripped)


def parse_currency(text: str) -> str:
    """Read the code of a currency.

    Parameters
    ----------
    text
        Three letters, such as `EUR`.

    Returns
    -------
    str
        The code in capitals.

    Raises
    ------
    ValueError
        When the text is no such code.

    Examples
    --------
    >>> parse_currency("eur")
    'EUR'
    """
    code = text.strip().upper()
    if not _CURRENCY.fullmatch(code):
        message = f"{shown(text)} is no currency; write its three letters, such as EUR"
        raise ValueError(message)
    return code


def _why_not(text: str, stripped: str) -> str:
    """Say what keeps a text from being a price, and how to write it."""
    if stripped.startswith("-"):
        return f"{shown(text)} is below zero"
    if _COMMA.fullmatch(stripped):
        whole, _, part = stripped.rpartition(",") if "," in stripped else (stripped, "", "")
        digits = re.sub(r"[.\s']", "", whole)
        return f"{shown(text)} has a decimal comma or dots between thousands; write {digits}.{part or '00'}"
    if re.search(r"[A-Za-z€$£¥]", stripped) and re.search(r"\d", stripped):
        return f"{shown(text)} is no price: only digits, the currency stands in its own column"
    if re.search(r"\d", stripped):
        return f"{shown(text)} is no price; write it like 1234.50"
    return f"{shown(text)} is no price; leave it out where there is none"


def _price_of(value: Any) -> Any:
    """Take a price from a file: text as people write it, or a number."""
    return value if value is None or isinstance(value, Decimal) else parse_price(_written(value))


def _discount_of(value: Any) -> Any:
    """Take a discount from a file: text as people write it, or a number."""
    return value if value is None or isinstance(value, Decimal) else parse_discount(_written(value))


def _written(value: Any) -> str:
    """Write a number as it was typed: a float's shortest form is that, its binary value is not."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        message = f"must be a number or text, not {shown(value)}"
        raise ValueError(message)  # noqa: TRY004 - pydantic lets a TypeError pass
    return format(Decimal(repr(value)), "f")


Price = Annotated[Decimal, BeforeValidator(_price_of), Field(ge=0)]
"""A list price: text as people write it, or a number."""
Discount = Annotated[Decimal, BeforeValidator(_discount_of), Field(ge=0, le=1)]
"""A share taken off: `12%` or `0.12`."""
Currency = Annotated[str, AfterValidator(parse_currency)]
"""A currency by its three letters."""
Rate = Annotated[Decimal, Field(gt=0, le=10**6)]
"""What one unit of another currency is worth in the quote's currency."""
