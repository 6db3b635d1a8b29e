"""What the verbs that quote a Plan read alike: Plan, build options, price books, terms; all problems come at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvplan.catalogue.loader import Catalogue
    from kvplan.schema.bom import Bom
    from kvplan.schema.design import Design
    from kvplan.schema.plan import Plan


@dataclass(frozen=True, slots=True)
class Quoted:
    """A Plan with its design and its bill of materials, and the tables that they were made with."""

    plan: Plan
    design: Design
    bom: Bom
    catalogue: Catalogue


def read_quote(given: Mapping[str, Any]) -> Quoted:
    """Read everything that was named, and make design and bill of materials.

    Parameters
    ----------
    given
        The parameters of the verb by name.

    Returns
    -------
    Quoted
        The Plan, its design and its bill.

    Raises
    ------
    InputError
        With the problems of all options and files at once.
    PlanStaleError
        When the Plan was written in another format version.
    """
    from kvplan.api import bill
    from kvplan.bom.books import read_price_books
    from kvplan.cli.building import BuildFlags, read_design
    from kvplan.cli.options import gathered
    from kvplan.cli.quoting import TermFlags
    from kvplan.errors import Problems

    problems = Problems()
    books = None
    with problems.kept():
        built = read_design(given["plan"], gathered(BuildFlags, given), given["catalogue"])
    with problems.kept():
        books = read_price_books(given["price_book"] or (), given["prices"] or ())
    with problems.kept():
        terms = gathered(TermFlags, given).terms(books)
    problems.raise_any()
    made = bill(built.plan, built.design, books=books or (), terms=terms, catalogue=built.catalogue)
    return Quoted(built.plan, built.design, made, built.catalogue)
