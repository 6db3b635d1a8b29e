"""The colours of the page, light and dark: one place for the style sheet and for the test of their contrast.

Series are told apart by blue and orange, which every kind of colour blindness leaves apart, and beside that always by
shape, pattern or dashes and by a word.
"""

from __future__ import annotations

from typing import Final

LIGHT: Final[dict[str, str]] = {
    "page": "#ffffff",
    "panel": "#f5f7fa",
    "line": "#d8dee7",
    "shade": "#b4bdca",
    "text": "#18202c",
    "muted": "#545f70",
    "accent": "#0a5a9c",
    "accent-soft": "#e6f0f9",
    "first": "#0f6ab4",
    "second": "#c1510d",
    "third": "#0b7a60",
    "quiet": "#7b8798",
    "good": "#0a6349",
    "good-soft": "#e3f3ec",
    "doubtful": "#844700",
    "doubtful-soft": "#fcf0df",
    "bad": "#a11c38",
    "bad-soft": "#fbe8ec",
}
DARK: Final[dict[str, str]] = {
    "page": "#10141b",
    "panel": "#181e28",
    "line": "#313a49",
    "shade": "#4b5669",
    "text": "#e7ebf1",
    "muted": "#a6b1c1",
    "accent": "#84bdf5",
    "accent-soft": "#172b41",
    "first": "#6bb1f2",
    "second": "#f0a05a",
    "third": "#5fd0b0",
    "quiet": "#8390a3",
    "good": "#83dabb",
    "good-soft": "#12302a",
    "doubtful": "#f2c27c",
    "doubtful-soft": "#34270f",
    "bad": "#ffa2b1",
    "bad-soft": "#3c1820",
}
TEXT_PAIRS: Final[tuple[tuple[str, str], ...]] = (
    *((ink, paper) for ink in ("text", "muted", "accent") for paper in ("page", "panel")),
    ("accent", "accent-soft"),
    ("text", "accent-soft"),
    *((tone, f"{tone}-soft") for tone in ("good", "doubtful", "bad")),
    *(("text", f"{tone}-soft") for tone in ("good", "doubtful", "bad")),
    *((series, "page") for series in ("first", "second", "third")),
)
"""Colours that text is written in, each with what it is written on."""
MARK_PAIRS: Final[tuple[tuple[str, str], ...]] = tuple((ink, "page") for ink in ("first", "second", "third", "quiet"))
"""Colours of bars, lines and points, each with what it is drawn on."""
