"""Time the physical design, the bill of materials and the workbook of fleets from the smallest to thousands of GPUs.

::

    python benchmarks/build.py
"""

from __future__ import annotations

from datetime import date
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

import kvplan
from kvplan.api import bill, design
from kvplan.bom.workbook import workbook
from kvplan.schema.price_book import QuoteTerms

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
TERMS = QuoteTerms(date=date(2026, 11, 30))
FLEETS = (
    (4, 32, "compact-4"),
    (8, 16, "standard-8"),
    (16, 128, "large-16"),
    (64, 512, "large-16"),
    (256, 2_048, "large-16"),
)
"""Storage nodes, GPUs and the profile that they belong to."""


def timed(what: str, work: Callable[[], T]) -> T:
    """Do some work and print what it took.

    Parameters
    ----------
    what
        Name to print.
    work
        The work.
    """
    start = perf_counter()
    done = work()
    print(f"  {what:10} {perf_counter() - start:7.3f} s")
    return done


def main() -> None:
    """Design, bill and write every fleet."""
    for nodes, gpus, profile in FLEETS:
        request = kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=gpus, nodes=nodes, profile=profile)
        plan = kvplan.size(request)
        print(f"{nodes} storage nodes, {gpus:,} GPUs")
        made = timed("design", partial(design, plan))
        billed = timed("bill", partial(bill, plan, made, terms=TERMS))
        book = timed("workbook", partial(workbook, plan, made, billed))
        print(f"  {len(made.cables):,} cables, {len(billed.lines):,} lines, workbook {len(book) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
