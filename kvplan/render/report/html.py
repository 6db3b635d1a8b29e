"""The report as one HTML page: the blocks in templates that are handed in, escaped, with nothing left undefined."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup, escape

from kvplan.render.report.palette import DARK, LIGHT
from kvplan.render.report.typeset import typeset
from kvplan.render.report.words import known_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.render.report.blocks import Report
    from kvplan.schema.base import Severity

_PAGE = "page.html.j2"
_TONES: Final[dict[Severity | None, str]] = {"error": "bad", "warning": "doubtful", "info": "plain", None: "plain"}
_CODE = re.compile(r"`([^`]+)`")
_BLANK_LINES = re.compile(r"\n\s*\n+")


def page(report: Report, templates: Mapping[str, str]) -> str:
    """Write the report as one self-contained page.

    Parameters
    ----------
    report
        The report, arranged.
    templates
        Text of each template by its name; `page.html.j2` is the page.

    Returns
    -------
    str
        The page, ending in a newline; equal input gives equal bytes.
    """
    environment = Environment(
        loader=DictLoader(dict(templates)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.filters |= {"words": words, "known_words": known_words}
    written = environment.get_template(_PAGE).render(report=report, light=LIGHT, dark=DARK, tones=_TONES)
    return _BLANK_LINES.sub("\n", written).strip() + "\n"


def words(text: str) -> Markup:
    """Write a text for the page: signs as a printer sets them, what stands in backticks as code, all escaped.

    >>> str(words("R&D, see `kvplan explain <plan>`"))
    'R&amp;D, see <code>kvplan explain &lt;plan&gt;</code>'
    """
    pieces = _CODE.split(text)
    written = (
        Markup("<code>{}</code>").format(piece) if index % 2 else escape(typeset(piece))
        for index, piece in enumerate(pieces)
    )
    return Markup("").join(written)
