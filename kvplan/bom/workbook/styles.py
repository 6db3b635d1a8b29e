"""How cells look: a quiet palette, and formats put together from named fragments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvplan.render.fabric.palette import LIGHT
from kvplan.schema.money import minor_units
from kvplan.schema.roles import ROLE_NOUNS

if TYPE_CHECKING:
    from xlsxwriter import Workbook
    from xlsxwriter.format import Format

INK, MUTED, LINE, RULE = "#1F2933", "#66727F", "#DCE2E9", "#8795A5"
HEAD, BAND, INPUT, INPUT_INK, MISSING = "#E3EAF2", "#F1F4F8", "#FFF7DA", "#1B4F9C", "#FBE3BF"
_SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "KRW": "₩"}
_FRAGMENTS: dict[str, dict[str, Any]] = {
    "text": {"align": "left"},
    "wrap": {"align": "left", "text_wrap": True},
    "exact": {"num_format": "0.00####"},
    "count": {"num_format": "#,##0", "align": "right"},
    "one": {"num_format": "#,##0.0", "align": "right"},
    "any": {"num_format": "General", "align": "right"},
    "percent": {"num_format": "0.0####%", "align": "right"},
    "percent1": {"num_format": "0.0%", "align": "right"},
    "margin": {"num_format": '[>=10]">+1000%";[<0]-0%;+0%', "align": "right"},
    "date": {"num_format": "yyyy-mm-dd", "align": "left"},
    "title": {"font_size": 18, "bold": True, "font_color": INK, "align": "left", "valign": "vcenter"},
    "subtitle": {"font_color": MUTED, "align": "left"},
    "caption": {"font_size": 12, "bold": True, "font_color": INK, "align": "left", "valign": "bottom"},
    "head": {
        "bold": True, "bg_color": HEAD, "text_wrap": True, "valign": "vcenter", "bottom": 1, "bottom_color": RULE,
    },
    "head-right": {
        "bold": True, "bg_color": HEAD, "text_wrap": True, "valign": "vcenter", "bottom": 1, "bottom_color": RULE,
        "align": "right",
    },
    "cell": {"bottom": 4, "bottom_color": LINE},
    "flush": {"align": "left", "indent": 0},
    "inset": {"indent": 1},
    "deep": {"indent": 2},
    "strong": {"bold": True},
    "muted": {"font_color": MUTED},
    "small": {"font_size": 9},
    "group": {"bold": True, "bg_color": BAND, "bottom": 1, "bottom_color": LINE},
    "total": {"bold": True, "top": 1, "top_color": RULE, "bottom": 6, "bottom_color": RULE},
    "input": {"bg_color": INPUT, "font_color": INPUT_INK, "locked": False},
    "locked": {"locked": True},
    "missing": {"bg_color": MISSING},
    "wrong": {"bg_color": LIGHT["over"], "font_color": "#FFFFFF", "bold": True},
    "chosen": {"bold": True, "bg_color": "#E4F0E6"},
    "middle": {"align": "center", "valign": "vcenter"},
    "unit": {"font_size": 7, "font_color": MUTED, "align": "center", "valign": "vcenter"},
    "free": {
        "bg_color": "#F7F8FA", "bottom": 4, "bottom_color": "#E6EAEF", "left": 1, "left_color": LINE, "right": 1,
        "right_color": LINE,
    },
}  # fmt: skip
_FRAGMENTS |= {
    f"role-{role}": {"bg_color": LIGHT[role], "border": 1, "border_color": LIGHT[f"{role}-edge"]} for role in ROLE_NOUNS
}


def amount_format(currency: str) -> str:
    """Write the number format of amounts under a header that names the currency.

    >>> amount_format("EUR"), amount_format("JPY")
    ('#,##0.00', '#,##0')
    """
    digits = minor_units(currency)
    return f"#,##0{'.' if digits else ''}{'0' * digits}"


def price_format(currency: str) -> str:
    """Write the number format of list prices, which may be finer than the currency's amounts.

    Of a currency without cents there is no comma between thousands: saved as CSV, 9,750 could be read two ways.

    >>> price_format("EUR"), price_format("JPY")
    ('#,##0.00####', '0')
    """
    return f"{amount_format(currency)}####" if minor_units(currency) else "0"


def money_format(currency: str) -> str:
    """Write the number format of a currency, with its sign where one stands for it alone.

    >>> money_format("EUR"), money_format("CHF"), money_format("JPY")
    ('[$€] #,##0.00', '[$CHF] #,##0.00', '[$¥] #,##0')
    """
    return f"[${_SYMBOLS.get(currency, currency)}] {amount_format(currency)}"


class Styles:
    """Formats by fragments, later ones over earlier ones; each combination is made once."""

    def __init__(self, book: Workbook, currency: str) -> None:
        self._book = book
        self._known: dict[tuple[str, ...], Format] = {}
        self._fragments = _FRAGMENTS | {
            "money": {"num_format": money_format(currency), "align": "right"},
            "price": {"num_format": price_format(currency), "align": "right"},
        }

    def __call__(self, *fragments: str) -> Format:
        """Return the format made of some fragments."""
        if fragments not in self._known:
            properties: dict[str, Any] = {"font_size": 10, "font_color": INK, "valign": "top"}
            for fragment in fragments:
                properties |= self._fragments[fragment]
            self._known[fragments] = self._book.add_format(properties)
        return self._known[fragments]

    def difference(self, fragment: str) -> Format:
        """Return a format that states nothing but one fragment, for conditional formats."""
        key = ("", fragment)
        if key not in self._known:
            self._known[key] = self._book.add_format(_FRAGMENTS[fragment])
        return self._known[key]
