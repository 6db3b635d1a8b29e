"""Money as people write it and as it is reckoned: decimals throughout, rounded half up to a currency's minor unit."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from kvplan.errors import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

DecimalMark = Literal[".", ","]
MAX_PRICE = Decimal(10) ** 12
_WITHOUT_CENTS = {"JPY", "KRW"}
_PLAIN = re.compile(r"[0-9]{1,40}(?:\.[0-9]{1,9})?")
_GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]{1,9}|[0-9]{1,3}(?:,[0-9]{3}){2,13}")
_COMMA = re.compile(r"[0-9]{1,40},[0-9]{1,9}|[0-9]{1,3}(?:[.\s'][0-9]{3})+,[0-9]{1,9}|[0-9]{1,3}(?:\.[0-9]{3}){2,13}")
_EITHER = re.compile(r"[1-9][0-9]{0,2}[.,][0-9]{3}")
_PERCENT = re.compile(r"(?P<number>-?[0-9]{1,3}(?:[.,][0-9]{1,9})?)\s*%")
_SHARE = re.compile(r"-?[0-9]{1,3}(?:[.,][0-9]{1,9})?")
_RATE = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")
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


def decimal_mark(texts: Iterable[str]) -> DecimalMark | None:
    """Tell which decimal mark the prices of a column have: the one that some prove while none proves the other.

    Parameters
    ----------
    texts
        The prices as they were written.

    Returns
    -------
    DecimalMark or None
        The mark; None where nothing decides, or they differ.

    Examples
    --------
    >>> decimal_mark(["1.005", "12.50"]), decimal_mark(["1.005", "12,50"]), decimal_mark(["1.005", "12"])
    ('.', ',', None)
    """
    proved: set[DecimalMark] = set()
    for text in texts:
        stripped = text.strip()
        if _EITHER.fullmatch(stripped) or stripped.isdigit():
            continue
        if _PLAIN.fullmatch(stripped) or _GROUPED.fullmatch(stripped):
            proved.add(".")
        elif _COMMA.fullmatch(stripped):
            proved.add(",")
    return proved.pop() if len(proved) == 1 else None


def parse_price(text: str, mark: DecimalMark | None = None) -> Decimal:
    """Read a price as people write it.

    Parameters
    ----------
    text
        Digits with a decimal point and, if any, commas between thousands; the other way round where `mark` is a comma.
    mark
        The decimal mark where it is known from elsewhere; then `1.005` can be read one way only.

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
    >>> parse_price("1234.50"), parse_price("1,234.50"), parse_price("0"), parse_price("1.234,5", ",")
    (Decimal('1234.50'), Decimal('1234.50'), Decimal('0'), Decimal('1234.5'))
    """
    stripped = text.strip()
    either = _EITHER.fullmatch(stripped)
    if mark == "," and (either or _COMMA.fullmatch(stripped)):
        number = re.sub(r"[.\s']", "", stripped).replace(",", ".")
    elif either and mark is None:
        whole, part = re.split("[.,]", stripped)
        message = f"{shown(text)} can be read two ways; write {whole}{part}.00 or {whole}.{part}0"
        raise ValueError(message)
    elif either or _PLAIN.fullmatch(stripped) or _GROUPED.fullmatch(stripped):
        number = stripped.replace(",", "")
    else:
        raise ValueError(_why_not(text, stripped))
    price = Decimal(number)
    if price > MAX_PRICE:
        message = f"{shown(text)} is too large; at most {MAX_PRICE:,}"
        raise ValueError(message)
    return price


def price_text(price: Decimal) -> str:
    """Write a price so that it can be read one way only, whatever stands beside it.

    >>> price_text(Decimal("12.5")), price_text(Decimal("1.005"))
    ('12.5', '1.0050')
    """
    plain = f"{price:f}"
    return f"{plain}0" if _EITHER.fullmatch(plain) else plain


def parse_discount(text: str) -> Decimal:
    """Read a discount: a percentage, or a share from 0 to below 1.

    Parameters
    ----------
    text
        Such as `12%` or `0.12`, with a decimal point or comma.

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
    # A discount has no thousands, so that a comma in it is a decimal one.
    number = Decimal((percent["number"] if percent else stripped).replace(",", "."))
    share = number / 100 if percent else number
    if percent is None and share >= 1:
        both = "1% or 100%" if share == 1 else f"{number}%"
        message = f"{shown(text)} can be read two ways; write {both}"
        raise ValueError(message)
    if not 0 <= share <= 1:
        message = f"{shown(text)} is not between 0 and 100 %"
        raise ValueError(message)
    return share


def percent_text(share: Decimal) -> str:
    """Write a share in percent, with as many decimals as it has.

    >>> percent_text(Decimal("0.125")), percent_text(Decimal("0.10")), percent_text(Decimal(1))
    ('12.5 %', '10 %', '100 %')
    """
    return f"{(100 * share).normalize():f} %"


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
    if not _RATE.fullmatch(stripped):
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
        whole, _, part = stripped.partition(",")
        digits = re.sub(r"[.\s']", "", whole)
        return f"{shown(text)} has a decimal comma or dots between thousands; write {digits}.{part or '00'}"
    if re.search(r"[A-Za-z]{2}|[€$£¥]", stripped) and re.search(r"\d", stripped):
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
