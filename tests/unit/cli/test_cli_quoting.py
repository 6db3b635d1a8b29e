"""The terms of a quote: currencies, rates and days as they are typed, and why one is refused."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from kvplan.cli.quoting import TermFlags
from kvplan.errors import InputError
from kvplan.schema.price_book import PriceBook, PriceItem, QuoteTerms


def book(currency: str, *prices: str | None) -> PriceBook:
    """Give a book with a price in each currency; None is that of the book."""
    items = tuple(
        PriceItem(key=f"part-{number}", list_price=Decimal(1), currency=price) for number, price in enumerate(prices)
    )
    unpriced = PriceItem(key="told", currency="JPY", lead_time_days=3)
    return PriceBook(format_version="1.0", name="list", currency=currency, date=None, items=(*items, unpriced))


def refused(*books: PriceBook, **flags: Any) -> list[str]:
    """Return what is wrong with terms."""
    with pytest.raises(InputError) as caught:
        TermFlags(date="2026-11-30", **flags).terms(books)
    return [str(problem) for problem in caught.value.problems]


def test_nothing_given_is_the_default() -> None:
    terms = TermFlags(date="2026-11-30").terms(())
    assert terms == QuoteTerms(date=date(2026, 11, 30), currency="EUR")


def test_the_currency_is_that_of_the_prices_and_not_of_the_cover() -> None:
    assert TermFlags().terms((book("EUR", "USD", "USD"),)).currency == "USD"
    assert TermFlags().terms((book("EUR", None), book("EUR", None))).currency == "EUR"


def test_every_currency_of_the_rows_counts() -> None:
    (problem,) = refused(book("EUR", None, "USD"))
    assert problem.startswith(
        "--currency: is needed: the prices are in EUR, USD; the currency of the quote; and --rate"
    )


def test_a_rate_for_the_currency_of_the_quote_is_refused() -> None:
    message = "--rate: EUR is the currency of the quote; other currencies"
    assert refused(rate=["EUR=1.1"]) == [message]
    assert refused(book("CHF", "EUR"), rate=["EUR=1.1", "USD=0.9"]) == [message]
    assert refused(book("EUR", None), currency="usd", rate=["USD=1"]) == [message.replace("EUR", "USD")]
    assert TermFlags(currency="USD", rate=["EUR=1.1"]).terms((book("EUR", None),)).rates == {"EUR": Decimal("1.1")}


def test_no_rate_is_blamed_while_the_currency_cannot_be_told() -> None:
    assert [text.split(":")[0] for text in refused(currency="Euro", rate=["EUR=1"])] == ["--currency"]
    assert TermFlags(rate=["EUR=1"]).terms(None).currency == "EUR"


@pytest.mark.parametrize(
    ("rate", "why"),
    [("USD=-1", "must be above 0"), ("USD=0", "must be above 0"), ("USD=x", "is no number with a decimal point")],
)
def test_why_a_rate_is_refused(rate: str, why: str) -> None:
    value = rate.partition("=")[2]
    assert refused(rate=[rate]) == [f"--rate: '{rate}': '{value}' {why}; a currency and its worth, such as USD=0.92"]


def test_hints_are_of_the_size_that_is_asked_for() -> None:
    assert [text.rpartition(" ")[2] for text in refused(valid_days="x", max_price_age="y", support_years="z")] == [
        "30", "90", "3",
    ]  # fmt: skip


def test_a_wrong_day_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [problem.split(";")[0] for problem in refused_on(date="tomorrow")] == ["--date: 'tomorrow' is no day"]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    assert refused_on() == ["SOURCE_DATE_EPOCH: 'yesterday' is no time; seconds since 1970"]


def refused_on(**flags: Any) -> list[str]:
    """Return what is wrong with terms without a day of their own."""
    with pytest.raises(InputError) as caught:
        TermFlags(**flags).terms(())
    return [str(problem) for problem in caught.value.problems]
