"""Rules about addresses: every prefix must hold what is taken from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.schema.design import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kvplan.core.design.inputs import DesignInputs
    from kvplan.schema.design import Design


def _too_small(_inputs: DesignInputs, design: Design) -> Iterator[Finding]:
    """Report prefixes that are smaller than what is taken from them."""
    for entry in design.addresses:
        if entry.reach > entry.capacity:
            yield Finding(
                id="prefix-small",
                severity="error",
                where=f"{entry.name} {entry.prefix}",
                text=f"the design reaches place {entry.reach:,} of {entry.capacity:,}",
                remedy=f"a larger prefix for `addresses.{entry.option}`",
            )


RULES: Final[tuple[Callable[[DesignInputs, Design], Iterator[Finding]], ...]] = (_too_small,)
