"""How a rule of switches says what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.schema.design import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kvplan.schema.base import Severity
    from kvplan.site.switches.reading import Scene

    Rule = Callable[[Scene], Iterator[Finding]]
    """A rule: what it finds in a scene."""

RENDER_AGAIN = "render the tree again, and change Site or Plan instead of the file"


def fault(number: int, where: str, text: str, remedy: str = RENDER_AGAIN, *, severity: Severity = "error") -> Finding:
    """Make a finding of a rule.

    Parameters
    ----------
    number
        Number of the rule.
    where
        File and place, or the place in the Site.
    text
        What is wrong.
    remedy
        What to do about it.
    severity
        How grave it is.

    Returns
    -------
    Finding
        With the id `KV-SWT-<number>`.

    Examples
    --------
    >>> fault(7, "switches/leaf-001a.yaml", "is called leaf").id
    'KV-SWT-007'
    """
    return Finding(id=f"KV-SWT-{number:03}", severity=severity, where=where, text=text, remedy=remedy)
