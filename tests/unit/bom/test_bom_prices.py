"""Prices: only those that a book gives, in decimals, rounded at the line, with everything doubtful pointed out."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_quotes import DAY, book, findings, full_book, lines_of, quote

from kvplan.schema.price_book import QuoteTerms

DRIVE, CHASSIS = "drive/micron-e3s-7.68", "chassis/ASG-1115S-NE316R"
B3220 = "900-9D3B6-00CV-AA0"


def drive(*items: dict[str, Any], **terms: Any) -> Any:
    """Return the drives' line, priced by one book."""
    (line,) = lines_of(quote(book(*items), **terms), DRIVE)
    return line


def test_without_a_book_nothing_has_a_price_and_nothing_is_zero() -> None:
    made = quote()
    assert {(line.list_price, line.net_price, line.extended) for line in made.lines} == {(None, None, None)}
    assert (made.complete, made.missing) == (False, sum(group.lines for group in made.groups))
    assert [group.missing for group in made.groups] == [group.lines for group in made.groups]


def test_a_full_book_makes_the_total_complete() -> None:
    made = quote(full_book(quote()))
    priced = [line.extended for line in made.lines if line.priced and not line.optional]
    assert (made.complete, made.missing) == (True, 0)
    assert made.total == sum(price for price in priced if price is not None) > 0
    assert made.total == sum(group.total for group in made.groups)
    assert findings(made, "price-missing") == []
    assert (made.books[0].items, made.books[0].used) == (made.books[0].items, made.books[0].items)


@pytest.mark.parametrize(
    ("price", "discount", "net"),
    [
        ("10.00", "0", "10.00"),
        ("2.345", "0", "2.35"),
        ("1.005", "0", "1.01"),
        ("0.05", "0.5", "0.03"),
        ("99.99", "0.12", "87.99"),
        ("0", "0.12", "0.00"),
    ],
)
def test_net_is_rounded_half_up_at_the_line(price: str, discount: str, net: str) -> None:
    line = drive({"key": DRIVE, "list_price": Decimal(price)}, discount=Decimal(discount))
    assert (line.net_price, line.extended) == (Decimal(net), Decimal(net) * 128)


def test_yen_have_no_decimals() -> None:
    line = drive({"key": DRIVE, "list_price": "1001", "currency": "JPY"}, currency="JPY", discount=Decimal("0.5"))
    assert (line.net_price, line.extended) == (Decimal(501), Decimal(501 * 128))


@pytest.mark.parametrize(
    ("item", "terms", "expected"),
    [
        ({}, {}, ("0", "quote")),
        ({}, {"discount": Decimal("0.12")}, ("0.12", "quote")),
        ({}, {"discount": Decimal("0.12"), "group_discounts": {"storage": Decimal("0.2")}}, ("0.2", "group")),
        ({}, {"discount": Decimal("0.12"), "group_discounts": {"storage": Decimal(0)}}, ("0", "group")),
        ({"discount": "30%"}, {"group_discounts": {"storage": Decimal("0.2")}}, ("0.3", "book")),
        ({"discount": "0%"}, {"discount": Decimal("0.12")}, ("0", "book")),
    ],
)
def test_the_nearest_discount_wins(item: dict[str, Any], terms: dict[str, Any], expected: tuple[str, str]) -> None:
    line = drive({"key": DRIVE, "list_price": "100.00", **item}, **terms)
    assert (line.discount, line.discount_from) == (Decimal(expected[0]), expected[1])
    assert line.net_price == 100 * (1 - Decimal(expected[0]))


def test_a_spare_costs_what_the_part_costs() -> None:
    made = quote(book({"key": DRIVE, "list_price": "100.00"}), group_discounts={"spares": Decimal("0.1")})
    installed, spare = [line for line in made.lines if line.key == DRIVE]
    assert (installed.net_price, spare.net_price, spare.extended) == (Decimal(100), Decimal(90), Decimal(540))


@pytest.mark.parametrize(
    ("discounts", "net", "group"),
    [
        ({"storage": "0.2"}, 80, "storage"),
        ({"storage": "0.2", "spares": "0"}, 100, "spares"),
        ({}, 95, "storage"),
    ],
)
def test_a_spare_takes_the_discount_of_what_it_covers_unless_spares_have_one(
    discounts: dict[str, str], net: int, group: str
) -> None:
    made = quote(book({"key": DRIVE, "list_price": "100.00"}), discount=Decimal("0.05"), group_discounts=discounts)
    spare = next(line for line in made.lines if line.key == DRIVE and line.group == "spares")
    given = {item.id: item.discount_given for item in made.groups}
    assert spare.net_price == net
    assert spare.discount_group == group
    assert given["spares"] == ("spares" in discounts)


def test_a_free_part_has_a_price_and_a_missing_one_has_none() -> None:
    made = quote(book({"key": DRIVE, "list_price": "0"}))
    missing = quote().missing - made.missing
    assert lines_of(made, DRIVE)[0].extended == Decimal("0.00")
    assert lines_of(made, CHASSIS)[0].extended is None
    assert missing == 2  # the drives and their spares
    assert not made.complete


def test_options_have_prices_but_are_in_no_total() -> None:
    made = quote(book({"key": "kit/training", "list_price": "1000.00"}))
    assert lines_of(made, "kit/training")[0].extended == 1000
    assert made.total == 0


# --- layers ------------------------------------------------------------------------------------------------------


def test_a_later_book_wins_and_leaves_the_rest() -> None:
    early = book({"key": DRIVE, "list_price": "1.00"}, {"key": CHASSIS, "list_price": "2.00"}, name="early")
    late = book({"key": DRIVE, "list_price": "3.00"}, name="late")
    made = quote(early, late)
    assert [lines_of(made, key)[0].price_book for key in (DRIVE, CHASSIS)] == ["late", "early"]
    assert [lines_of(made, key)[0].price_source for key in (DRIVE, CHASSIS)] == ["late", "early"]
    assert [(used.name, used.items, used.used) for used in made.books] == [("early", 2, 1), ("late", 1, 1)]


def test_the_key_comes_before_the_part_number() -> None:
    made = quote(book({"part_number": B3220, "list_price": "1.00"}, {"key": "adapter/b3220", "list_price": "2.00"}))
    assert lines_of(made, "adapter/b3220")[0].list_price == 2


def test_letter_case_and_blanks_of_part_numbers_do_not_matter() -> None:
    made = quote(book({"part_number": f" {B3220.lower()} ", "list_price": "5.00"}))
    assert lines_of(made, "adapter/b3220")[0].list_price == 5


def test_a_book_without_a_price_brings_part_number_and_lead_time() -> None:
    priced = book({"key": DRIVE, "list_price": "1.00"})
    told = book({"key": DRIVE, "part_number": "MTFD-1", "lead_time_days": 21}, name="told")
    (line,) = lines_of(quote(priced, told), DRIVE)
    assert (line.part_number, line.lead_time_days, line.list_price, line.price_source) == (
        "MTFD-1", 21, Decimal(1), "book",
    )  # fmt: skip


def test_a_part_number_that_differs_is_pointed_out() -> None:
    made = quote(book({"key": "adapter/b3220", "part_number": "900-9D3B6-00SV-AA0", "list_price": "1.00"}))
    assert lines_of(made, "adapter/b3220")[0].part_number == B3220
    assert findings(made, "price-part-number") == [
        f"1 part number of the book differs from the catalogue: adapter/b3220 is 900-9D3B6-00SV-AA0, here {B3220}"
    ]


@pytest.mark.parametrize(("given", "known"), [("MCP4Y10-N001", "pattern"), ("MCP4Y10-N00A", "book")])
def test_a_part_number_made_by_a_pattern_gives_way_to_that_of_a_book(given: str, known: str) -> None:
    made = quote(book({"key": "cable/mcp4y10/1m", "part_number": given, "list_price": "1.00"}))
    (line,) = lines_of(made, "cable/mcp4y10/1m")
    assert (line.part_number, line.part_number_known) == (given, known)
    assert findings(made, "price-part-number") == []


# --- currencies --------------------------------------------------------------------------------------------------


def test_a_price_in_another_currency_needs_a_rate() -> None:
    dollars = book({"key": DRIVE, "list_price": "100.00"}, currency="USD")
    without, with_rate = quote(dollars), quote(dollars, rates={"USD": Decimal("0.925")})
    (line,) = lines_of(with_rate, DRIVE)
    assert lines_of(without, DRIVE)[0].list_price is None
    assert "so that it counts as missing" in findings(without, "price-currency")[0]
    assert (line.list_price, line.net_price) == (Decimal("92.50"), Decimal("92.50"))
    assert "USD 100.00 at 0.925" in line.note
    assert findings(with_rate, "price-currency") == []
    assert with_rate.books[0].rate == Decimal("0.925")


def test_a_converted_price_is_rounded_before_the_discount() -> None:
    line = drive(
        {"key": DRIVE, "list_price": "0.99", "currency": "USD"},
        rates={"USD": Decimal("0.5")},
        discount=Decimal("0.5"),
    )
    assert (line.list_price, line.net_price) == (Decimal("0.50"), Decimal("0.25"))


def test_a_rate_that_converts_nothing_is_pointed_out() -> None:
    made = quote(book({"key": DRIVE, "list_price": "1.00"}), rates={"USD": Decimal(1), "GBP": Decimal(1)})
    assert findings(made, "rate-unused") == ["2 rates convert no price: USD, GBP"]


def test_a_book_knows_the_currencies_of_its_prices() -> None:
    mixed = book({"key": DRIVE, "list_price": "1.00", "currency": "USD"}, {"key": CHASSIS, "list_price": "2.00"})
    assert mixed.currencies == ("USD", "EUR")
    assert quote(mixed).books[0].currency == "USD, EUR"


# --- terms -------------------------------------------------------------------------------------------------------

RHEL = "kit/rhel"


def test_a_price_for_another_term_is_not_used_and_that_is_said() -> None:
    made = quote(book({"key": RHEL, "list_price": "100.00", "term_months": 36}), support_years=5)
    (line,) = lines_of(made, RHEL)
    assert (line.term_months, line.list_price) == (60, None)
    assert findings(made, "price-term") == [
        f"1 price is for another term and so not used: {RHEL} for 36 months, here 60 months"
    ]
    assert made.missing == quote().missing
    assert findings(made, "price-unused") == []


def test_a_price_for_the_term_of_its_line_is_used() -> None:
    for years, term in ((None, 36), (5, 60)):
        made = quote(book({"key": RHEL, "list_price": "100.00", "term_months": term}), support_years=years)
        assert lines_of(made, RHEL)[0].list_price == 100
        assert findings(made, "price-term") == []


def test_a_price_with_a_term_is_for_no_line_without_one() -> None:
    made = quote(book({"key": DRIVE, "list_price": "100.00", "term_months": 36}))
    assert lines_of(made, DRIVE)[0].list_price is None
    assert f"{DRIVE} for 36 months, here no term" in findings(made, "price-term")[0]


def test_a_price_without_a_term_fits_any_but_is_doubted_where_the_quote_changes_it() -> None:
    plain = book({"key": RHEL, "list_price": "100.00"})
    usual, longer = quote(plain), quote(plain, support_years=5)
    assert lines_of(usual, RHEL)[0].list_price == lines_of(longer, RHEL)[0].list_price == 100
    assert findings(usual, "price-term") == findings(quote(plain, support_years=3), "price-term") == []
    assert findings(longer, "price-term") == [
        f"1 price is without a term, which this quote changes: {RHEL}, 60 months instead of 36"
    ]


def test_of_several_terms_the_one_of_the_line_is_taken() -> None:
    terms = (
        {"list_price": "10.00"},
        {"list_price": "36.00", "term_months": 36},
        {"list_price": "60.00", "term_months": 60},
    )
    made = quote(book(*({"key": RHEL, **term} for term in terms)), support_years=5)
    assert lines_of(made, RHEL)[0].list_price == 60
    assert findings(made, "price-term") == []


def test_a_price_for_another_term_gives_way_to_that_of_an_earlier_book() -> None:
    early = book({"key": RHEL, "list_price": "1.00"}, name="early")
    late = book({"key": RHEL, "list_price": "2.00", "term_months": 12}, name="late")
    assert lines_of(quote(early, late), RHEL)[0].price_book == "early"


# --- days --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("days", "name"),
    [
        ({"date": DAY - timedelta(days=91)}, "price-old"),
        ({"date": DAY + timedelta(days=1)}, "price-future"),
        ({"valid_until": DAY - timedelta(days=1)}, "price-expired"),
        ({"valid_until": DAY + timedelta(days=29)}, "price-expires"),
        ({"date": DAY - timedelta(days=90), "valid_until": DAY + timedelta(days=30)}, ""),
    ],
)
@pytest.mark.parametrize("own", [True, False])
def test_days_are_watched(days: dict[str, date], name: str, *, own: bool) -> None:
    item = {"key": DRIVE, "list_price": "1.00"}
    made = quote(book({**item, **days}) if own else book(item, **days))
    found = [
        finding.id for finding in made.findings if finding.id.startswith("price-") and finding.id != "price-missing"
    ]
    assert found == ([name] if name else [])


def test_a_price_without_a_day_is_pointed_out() -> None:
    assert findings(quote(book({"key": DRIVE, "list_price": "1.00"}, date=None)), "price-undated") == [
        f"1 price is without a date: {DRIVE}"
    ]


def test_a_book_without_a_day_says_from_when_its_prices_are() -> None:
    first, last = DAY - timedelta(days=9), DAY - timedelta(days=2)
    items = [{"key": DRIVE, "list_price": "1.00", "date": last}, {"key": CHASSIS, "list_price": "1.00", "date": first}]
    (used,) = quote(book(*items, date=None)).books
    assert (used.date, used.first_date, used.last_date) == (None, first, last)


def test_a_quote_is_of_this_time() -> None:
    for day in (date(1999, 12, 31), date(2201, 1, 1), date.max):
        with pytest.raises(ValueError, match="is not between 2000-01-01 and 2200-12-31"):
            QuoteTerms(date=day)
    assert quote(date=date(2200, 12, 31), valid_days=730).valid_until.year == 2202


def test_older_prices_can_be_allowed() -> None:
    old = book({"key": DRIVE, "list_price": "1.00"}, date=DAY - timedelta(days=200))
    assert findings(quote(old, max_price_age_days=200), "price-old") == []


def test_the_quote_ends_after_so_many_days() -> None:
    assert quote(valid_days=14).valid_until == DAY + timedelta(days=14)


# --- prices for nothing ------------------------------------------------------------------------------------------


def test_prices_for_nothing_are_named_with_what_was_perhaps_meant() -> None:
    made = quote(
        book(
            {"key": "drive/micron-e3s-7.86", "list_price": "1.00"},
            {"key": "storage-node/ASG-1115S-NE316R", "list_price": "1.00"},
            {"part_number": "ZZZ", "list_price": "1.00"},
        )
    )
    assert findings(made, "price-unused") == [
        (
            "3 prices are for nothing in this quote: drive/micron-e3s-7.86 (did you mean 'drive/micron-e3s-7.68'?), "
            "storage-node/ASG-1115S-NE316R (this line takes no price: what is in it is priced), ZZZ"
        )
    ]
    assert made.total == 0


def test_a_price_of_what_comes_with_a_device_is_told_so_unless_a_spare_takes_it() -> None:
    made = quote(book({"key": "kit/cumulus", "list_price": "1.00"}, {"key": "kit/psu/sn5600", "list_price": "2.00"}))
    assert findings(made, "price-unused") == [
        "1 price is for nothing in this quote: kit/cumulus (this line takes no price: it comes with its device)"
    ]
    spare = next(line for line in made.lines if line.key == "kit/psu/sn5600" and line.group == "spares")
    assert spare.list_price == 2


def test_of_many_prices_for_nothing_a_few_are_named() -> None:
    made = quote(book(*({"part_number": f"ZZZ{number}", "list_price": "1.00"} for number in range(2000))))
    assert findings(made, "price-unused") == [
        "2,000 prices are for nothing in this quote: ZZZ0, ZZZ1, ZZZ2, ZZZ3 and 1996 more"
    ]


# --- what must always hold ---------------------------------------------------------------------------------------

PRICES = st.decimals(0, 10**7, places=4) | st.none()
SHARES = st.decimals(0, 1, places=4)
KEYS = sorted({line.key for line in quote().lines if line.priced})


@given(
    st.dictionaries(st.sampled_from(KEYS), st.tuples(PRICES, SHARES | st.none()), min_size=1),
    SHARES,
    st.sampled_from(["EUR", "JPY"]),
)
def test_the_total_is_the_sum_of_its_lines_to_the_cent(
    prices: dict[str, tuple[Decimal | None, Decimal | None]], discount: Decimal, currency: str
) -> None:
    items = ({"key": key, "list_price": price, "discount": own} for key, (price, own) in prices.items())
    made = quote(book(*items, currency=currency), currency=currency, discount=discount)
    step = Decimal(1) if currency == "JPY" else Decimal("0.01")
    counted = [line for line in made.lines if line.priced and not line.optional]
    for line in made.lines:
        price = prices.get(line.key, (None, None))[0] if line.priced else None
        assert (line.list_price, line.extended is None) == (price, price is None)
        if line.net_price is not None and line.list_price is not None and line.extended is not None:
            exact = line.list_price * (1 - line.discount)
            assert line.net_price % step == 0
            assert -step / 2 < line.net_price - exact <= step / 2
            assert line.extended == line.net_price * line.quantity
    assert made.total == sum(line.extended for line in counted if line.extended is not None)
    assert made.missing == sum(line.extended is None for line in counted)
    assert made.total == sum(group.total for group in made.groups)
