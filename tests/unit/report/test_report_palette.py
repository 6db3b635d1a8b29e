"""The colours: readable in light and dark, and told apart by those who see colours differently."""

from __future__ import annotations

import re

import pytest
from reports import Page, page_of

from kvplan.render.report.palette import DARK, LIGHT, MARK_PAIRS, TEXT_PAIRS

SCHEMES = {"light": LIGHT, "dark": DARK}
DEFICIENCIES = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
"""Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB."""


def _linear(colour: str) -> tuple[float, ...]:
    """Read a colour as linear RGB."""
    shares = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)


def _luminance(linear: tuple[float, ...]) -> float:
    """Weigh linear RGB as WCAG 2 does."""
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _contrast(one: str, other: str) -> float:
    """Compare two colours as WCAG 2 does."""
    bright, dim = sorted((_luminance(_linear(one)), _luminance(_linear(other))), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def _seen(colour: str, deficiency: str) -> tuple[float, ...]:
    """Show a colour as somebody with a deficiency sees it."""
    linear = _linear(colour)
    return tuple(sum(a * b for a, b in zip(row, linear, strict=True)) for row in DEFICIENCIES[deficiency])


def test_the_measure_is_that_of_the_standard() -> None:
    assert _contrast("#000000", "#ffffff") == pytest.approx(21)
    assert _contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("ink", "paper"), TEXT_PAIRS)
def test_text_stands_out(scheme: str, ink: str, paper: str) -> None:
    colours = SCHEMES[scheme]
    assert _contrast(colours[ink], colours[paper]) >= 4.5


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("ink", "paper"), MARK_PAIRS)
def test_marks_stand_out(scheme: str, ink: str, paper: str) -> None:
    colours = SCHEMES[scheme]
    assert _contrast(colours[ink], colours[paper]) >= 3


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_series_that_share_a_chart_stay_apart(scheme: str, deficiency: str) -> None:
    colours = SCHEMES[scheme]
    seen = (_seen(colours["first"], deficiency), _seen(colours["second"], deficiency))
    assert max(abs(a - b) for a, b in zip(*seen, strict=True)) > 0.15


def test_both_schemes_name_the_same_colours_and_the_page_has_them_all() -> None:
    assert list(LIGHT) == list(DARK)
    style = next(Page(page_of()).of("style")).text
    assert set(re.findall(r"var\(--([a-z-]+)\)", style)) <= set(LIGHT)
    assert all(f"--{name}: {colour};" in style for scheme in (LIGHT, DARK) for name, colour in scheme.items())
