"""The terms of a quote as they are typed: day, currency, discounts, rates."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from decimal import Decimal

    from kvplan.errors import Problem
    from kvplan.schema.price_book import PriceBook, QuoteTerms

EPOCH_VARIABLE = "SOURCE_DATE_EPOCH"
DEFAULT_CURRENCY = "EUR"
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
    """The terms as they were typed; None or empty where one was left out."""

    currency: str | None = None
    discounts: Sequence[str] = ()
    rates: Sequence[str] = ()
    valid_days: str | None = None
    day: str | None = None
    max_price_age: str | None = None
    support_years: str | None = None

    def terms(self, books: Sequence[PriceBook]) -> QuoteTerms:
        """Build the terms.

        Parameters
        ----------
        books
            The price books, whose currency is that of the quote where none is named.

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
        from kvplan.errors import InputError
        from kvplan.schema.price_book import QuoteTerms

        problems: list[Problem] = []
        asked = Options(_NAMES)
        asked.counts(
            valid_days=self.valid_days, max_price_age_days=self.max_price_age, support_years=self.support_years
        )
        asked.plain(date=self._date(problems), currency=self._currency(books, problems))
        asked.plain(**_discounts(self.discounts, problems), rates=_rates(self.rates, problems))
        try:
            terms = asked.build(QuoteTerms)
        except InputError as error:
            raise InputError((*problems, *error.problems)) from error
        if problems:
            raise InputError(problems)
        return terms

    def _date(self, problems: list[Problem]) -> date:
        """Return the day of the quote."""
        from kvplan.errors import Problem

        if self.day is None:
            return _today(problems)
        try:
            return date.fromisoformat(self.day.strip())
        except ValueError:
            problems.append(Problem("--date", f"{self.day!r} is no day", allowed="a day such as 2026-11-30"))
            return date.min

    def _currency(self, books: Sequence[PriceBook], problems: list[Problem]) -> str:
        """Return the currency of the quote: as asked, else that of the books."""
        from kvplan.errors import Problem
        from kvplan.schema.money import parse_currency

        if self.currency is not None:
            try:
                return parse_currency(self.currency)
            except ValueError as error:
                problems.append(Problem("--currency", str(error)))
        found = tuple(dict.fromkeys(book.currency for book in books))
        if len(found) > 1 and self.currency is None:
            what, hint = f"is needed: the price books are in {', '.join(found)}", "and --rate for each other currency"
            problems.append(Problem("--currency", what, allowed="the currency of the quote", hint=hint))
        return found[0] if found else DEFAULT_CURRENCY


def _today(problems: list[Problem]) -> date:
    """Return today's day, or the one that makes outputs repeatable."""
    from kvplan.errors import Problem

    given = os.environ.get(EPOCH_VARIABLE, "")
    if not given:
        return datetime.now(tz=UTC).astimezone().date()
    try:
        return datetime.fromtimestamp(int(given), tz=UTC).date()
    except (ValueError, OverflowError, OSError):
        problems.append(Problem(EPOCH_VARIABLE, f"{given!r} is no time", allowed="seconds since 1970"))
        return date.min


def _discounts(texts: Sequence[str], problems: list[Problem]) -> dict[str, Any]:
    """Read discounts: `12%` for the quote, `storage=20%` for a group."""
    from kvplan.errors import Problem, did_you_mean
    from kvplan.schema.kit import GROUP_TITLES
    from kvplan.schema.money import parse_discount

    whole: dict[str, Any] = {}
    groups: dict[str, Decimal] = {}
    for name, value, text in _pairs(texts):
        if name and name not in GROUP_TITLES:
            what, allowed = f"{name!r} in {text!r} is no group", f"groups: {', '.join(GROUP_TITLES)}"
            problems.append(Problem("--discount", what, allowed=allowed, hint=did_you_mean(name, GROUP_TITLES)))
            continue
        if name in groups or (not name and whole):
            problems.append(Problem("--discount", f"{text!r}: {name or 'the whole quote'} has a discount already"))
            continue
        try:
            share = parse_discount(value)
        except ValueError as error:
            problems.append(Problem("--discount", str(error)))
            continue
        if name:
            groups[name] = share
        else:
            whole["discount"] = share
    return {**whole, "group_discounts": groups}


def _rates(texts: Sequence[str], problems: list[Problem]) -> dict[str, Decimal]:
    """Read rates such as `USD=0.92`: what one unit is worth in the quote's currency."""
    from kvplan.errors import Problem
    from kvplan.schema.money import parse_currency, parse_rate

    rates: dict[str, Decimal] = {}
    for name, value, text in _pairs(texts):
        try:
            currency = parse_currency(name)
            rate = parse_rate(value)
        except ValueError as error:
            allowed = "a currency and its worth, such as USD=0.92"
            problems.append(
                Problem("--rate", f"{text!r}: {error}" if name else f"{text!r} is no rate", allowed=allowed)
            )
            continue
        if currency in rates:
            problems.append(Problem("--rate", f"{text!r}: {currency} has a rate already"))
        rates[currency] = rate
    return rates


def _pairs(texts: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Split texts such as `storage=20%` into name and value; the name is empty where there is none."""
    for text in texts:
        name, equals, value = text.partition("=")
        yield (name.strip(), value, text) if equals else ("", text, text)
