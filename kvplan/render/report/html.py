"""The report as one HTML page: the blocks in templates that are handed in, escaped, with nothing left undefined."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup, escape

from kvplan.render.report.content import report
from kvplan.render.report.palette import DARK, LIGHT
from kvplan.render.report.source import Source
from kvplan.render.report.typeset import typeset

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kvplan.schema.bom import Bom
    from kvplan.schema.design import Design
    from kvplan.schema.measurement import Measurement
    from kvplan.schema.plan import Plan

PAGE = "page.html.j2"
_CODE = re.compile(r"`([^`]+)`")
_BLANK_LINES = re.compile(r"\n\s*\n+")


def report_html(
    plan: Plan,
    design: Design,
    bom: Bom,
    *,
    templates: Mapping[str, str],
    measurements: Sequence[Measurement] = (),
) -> str:
    """Write the report as one self-contained page.

    Parameters
    ----------
    plan
        The Plan.
    design
        How it is built.
    bom
        What it takes and costs.
    templates
        Text of each template by its name; `page.html.j2` is the page.
    measurements
        What was published of the same model on the same GPU.

    Returns
    -------
    str
        The page, ending in a newline; equal input gives equal bytes.
    """
    source = Source(plan, design, bom, tuple(measurements))
    page = _environment(templates).get_template(PAGE)
    written = page.render(report=report(source), light=LIGHT, dark=DARK)
    return _BLANK_LINES.sub("\n", written).strip() + "\n"


def _environment(templates: Mapping[str, str]) -> Environment:
    """Set the templates up: every text is escaped, a name that does not exist is an error."""
    environment = Environment(
        loader=DictLoader(dict(templates)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.filters["words"] = words
    environment.filters["known"] = known
    return environment


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


def known(text: str) -> str:
    """Return the word of certainty that decides the sign beside it.

    >>> known("derived, 1 assumed input"), known("measured")
    ('assumed', 'measured')
    """
    return "assumed" if "assumed" in text else text.split(",", maxsplit=1)[0].replace(" ", "-")
