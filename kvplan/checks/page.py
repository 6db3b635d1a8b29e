"""The page of all checks, docs/checks.md."""

from __future__ import annotations

from kvplan.checks.registry import all_checks
from kvplan.render.check_view import catalogue_page


def checks_page() -> str:
    """Return docs/checks.md without its notice: every check with id, severity and title.

    Returns
    -------
    str
        Markdown, ending in a newline.

    Examples
    --------
    >>> checks_page().splitlines()[0]
    '# The checks'
    """
    return catalogue_page(check.page for check in all_checks())
