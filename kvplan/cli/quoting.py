"""The terms of a quote as they are typed: day, currency, discounts, rates."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from decimal import Decimal

    from kvplan.errors import Problems
    from kvplan.schema.price_book import Day, PriceBook, QuoteTerms

EPOCH_VARIABLE = "SOURCE_DATE_EPOCH"
DEFAULT_CURRENCY = "EUR"
_ANY_DAY = date(2000, 1, 1)
"""Stands for a day that cannot be read, until that is said."""
PriceBooks = Annotated[
    list[Path] | None,
    typer.Option(
        "--price-book",
        help="Price book, YAML or CSV; repeatable, a later one wins.",
        metavar="FILE",
        show_default=False,
    ),
]
Prices = Annotated[
    list[Path] | None,
    typer.Option("--prices", help="CSV export with its prices filled in; wins over books.", metavar="FILE"),
]
Discounts = Annotated[
    list[str] | None,
    typer.Option(
        "--discount",
        help="12% of everything, or GROUP=20% of a group; repeatable.",
        metavar="PERCENT",
        show_default=False,
    ),
]
Currency = Annotated[
    str | None,
    typer.Option("--currency", help="Of the quote. Default: that of the price books, else EUR.", metavar="CODE"),
]
Rates = Annotated[
    list[str] | None,
    typer.Option(
        "--rate", help="What a unit of another currency is worth: USD=0.92; repeatable.", metavar="CODE=WORTH"
    ),
]
Date = Annotated[str | None, typer.Option("--date", help="Day of the quote. Default: today.", metavar="YYYY-MM-DD")]
ValidDays = Annotated[str, typer.Option("--valid-days", help="How long the quote holds.", metavar="DAYS")]
MaxPriceAge = Annotated[str, typer.Option("--max-price-age", help="Older prices are pointed out.", metavar="DAYS")]
SupportYears = Annotated[
    str | None,
    typer.Option("--support-years", help="Term of support and subscriptions. Default: 3 years.", metavar="YEARS"),
]
_NAMES = {
    "date": "--date",
    "currency": "--currency",
    "valid_days": "--valid-days",
    "max_price_age_days": "--max-price-age",
    "support_years": "--support-years",
    "discount": "--discount",
    "group_discounts": "--discount",
    "rates": "--rate",
}


@dataclass(frozen=True, slots=True)
class TermFlags:
    """The terms as they were typed; None where one was left out."""

    currency: str | None = None
    discount: Sequence[str] | None = None
    rate: Sequence[str] | None = None
    valid_days: str | None = None
    date: str | None = None
    max_price_age: str | None = None
    support_years: str | None = None

    def terms(self, books: Sequence[PriceBook] | None) -> QuoteTerms:
        """Build the terms.

        Parameters
        ----------
        books
            The price books, whose currency is that of the quote where none is named; None if they cannot be read.

        Returns
        -------
        QuoteTerms
            Defaults where nothing else was said; the day is today's, or that of `SOURCE_DATE_EPOCH`.

        Raises
        ------
        InputError
            With every option that cannot be read.
        """
        from kvplan.cli.parsing import Options
        from kvplan.schema.price_book import QuoteTerms

        asked = Options(_NAMES)
        asked.counts("30", valid_days=self.valid_days)
        asked.counts("90", max_price_age_days=self.max_price_age)
        asked.counts("3", support_years=self.support_years)
        currency = self._currency(books, asked.problems)
        rates = _rates(self.rate or (), asked.problems)
        if currency in rates:
            _refuse(asked.problems, "--rate", f"{currency} is the currency of the quote", allowed="other currencies")
        asked.plain(date=self._date(asked.problems), currency=currency, rates=rates)
        asked.plain(**_discounts(self.discount or (), asked.problems))
        return asked.build(QuoteTerms)

    def _date(self, problems: Problems) -> Day:
        """Return the day of the quote."""
        if self.date is None:
            return _today(problems)
        try:
            return date.fromisoformat(self.date.strip())
        except ValueError:
            _refuse(problems, "--date", f"{self.date!r} is no day", allowed="a day such as 2026-11-30")
            return _ANY_DAY

    def _currency(self, books: Sequence[PriceBook] | None, problems: Problems) -> str | None:
        """Return the currency of the quote, as asked, else that of the prices; None where it cannot be told."""
        from kvplan.schema.money import parse_currency

        if self.currency is not None:
            try:
                return parse_currency(self.currency)
            except ValueError as error:
                _refuse(problems, "--currency", str(error))
                return None
        if books is None:
            return None
        found = tuple(dict.fromkeys(currency for book in books for currency in book.currencies))
        if len(found) > 1:
            what, hint = f"is needed: the prices are in {', '.join(found)}", "and --rate for each other currency"
            _refuse(problems, "--currency", what, allowed="the currency of the quote", hint=hint)
            return None
        return found[0] if found else DEFAULT_CURRENCY


def _refuse(problems: Problems, option: str, what: str, *, allowed: str = "", hint: str = "") -> None:
    """Keep a problem of an option."""
    from kvplan.errors import Problem

    problems.found.append(Problem(option, what, allowed=allowed, hint=hint))


def _today(problems: Problems) -> date:
    """Return today's day, or the one that makes outputs repeatable."""
    given = os.environ.get(EPOCH_VARIABLE, "")
    if not given:
        return datetime.now(tz=UTC).astimezone().date()
    try:
        return datetime.fromtimestamp(int(given), tz=UTC).date()
    except (ValueError, OverflowError, OSError):
        _refuse(problems, EPOCH_VARIABLE, f"{given!r} is no time", allowed="seconds since 1970")
        return _ANY_DAY


def _discounts(texts: Sequence[str], problems: Problems) -> dict[str, Any]:
    """Read discounts: `12%` for the quote, `storage=20%` for a group."""
    from kvplan.errors import did_you_mean
    from kvplan.schema.kit import GROUP_TITLES
    from kvplan.schema.money import parse_discount

    whole: dict[str, Any] = {}
    groups: dict[str, Decimal] = {}
    for name, value, text in _pairs(texts):
        if name and name not in GROUP_TITLES:
            what, allowed = f"{name!r} in {text!r} is no group", f"groups: {', '.join(GROUP_TITLES)}"
            _refuse(problems, "--discount", what, allowed=allowed, hint=did_you_mean(name, GROUP_TITLES))
            continue
        if name in groups or (not name and whole):
            _refuse(problems, "--discount", f"{text!r}: {name or 'the whole quote'} has a discount already")
            continue
        try:
            share = parse_discount(value)
        except ValueError as error:
            _refuse(problems, "--discount", str(error))
            continue
        if name:
            groups[name] = share
        else:
            whole["discount"] = share
    return {**whole, "group_discounts": groups}


def _rates(texts: Sequence[str], problems: Problems) -> dict[str, Decimal]:
    """Read rates such as `USD=0.92`: what one unit is worth in the quote's currency."""
    from kvplan.schema.money import parse_currency

    rates: dict[str, Decimal] = {}
    for name, value, text in _pairs(texts):
        try:
            currency = parse_currency(name)
            rate = _worth(value)
        except ValueError as error:
            allowed = "a currency and its worth, such as USD=0.92"
            _refuse(problems, "--rate", f"{text!r}: {error}" if name else f"{text!r} is no rate", allowed=allowed)
            continue
        if currency in rates:
            _refuse(problems, "--rate", f"{text!r}: {currency} has a rate already")
        rates[currency] = rate
    return rates


def _worth(text: str) -> Decimal:
    """Read a rate; one below zero is a number, but none that anything is worth."""
    from kvplan.schema.money import parse_rate

    rate = parse_rate(text.strip().removeprefix("-"))
    if text.strip().startswith("-"):
        message = f"{text!r} must be above 0"
        raise ValueError(message)
    return rate


def _pairs(texts: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Split texts such as `storage=20%` into name and value; the name is empty where there is none."""
    for text in texts:
        name, equals, value = text.partition("=")
        yield (name.strip(), value, text) if equals else ("", text, text)
