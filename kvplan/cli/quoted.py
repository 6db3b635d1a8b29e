"""What the verbs that quote a Plan read alike: Plan, build options, price books, terms; all problems come at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from kvplan.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kvplan.catalogue.loader import Catalogue
    from kvplan.cli.building import BuildFlags
    from kvplan.cli.quoting import TermFlags
    from kvplan.errors import Problem
    from kvplan.schema.bom import Bom
    from kvplan.schema.design import Design
    from kvplan.schema.plan import Plan

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class QuoteFlags:
    """The files and terms of a quote as they were typed; None where one was left out."""

    plan: Path
    build: BuildFlags
    terms: TermFlags
    price_books: list[Path] | None = None
    prices: list[Path] | None = None
    catalogue: list[Path] | None = None


@dataclass(frozen=True, slots=True)
class Quoted:
    """A Plan with its design and its bill of materials, and the tables that they were made with."""

    plan: Plan
    design: Design
    bom: Bom
    catalogue: Catalogue


def read_quote(flags: QuoteFlags, chosen: Callable[[], str]) -> tuple[str, Quoted]:
    """Read everything that was named, and make design and bill of materials.

    Parameters
    ----------
    flags
        Files and terms.
    chosen
        Checks the format that was asked for and returns it.

    Returns
    -------
    tuple of str and Quoted
        The format, and what it is to show.

    Raises
    ------
    InputError
        With the problems of all options and files at once.
    PlanStaleError
        When the Plan was written in another format version.
    """
    from kvplan.api import bill, design
    from kvplan.bom.books import read_price_books
    from kvplan.cli.shared import open_catalogue, read_plan

    problems: list[Problem] = []
    form = attempt(chosen, problems)
    plan = attempt(lambda: read_plan(flags.plan), problems)
    catalogue = attempt(lambda: open_catalogue(flags.catalogue), problems)
    build = attempt(flags.build.options, problems)
    books = attempt(lambda: read_price_books(flags.price_books or (), flags.prices or ()), problems)
    terms = attempt(lambda: flags.terms.terms(books or ()), problems)
    if not (form and plan and catalogue and build and terms) or books is None or problems:
        raise InputError(problems)
    built = design(plan, build, catalogue=catalogue)
    made = bill(plan, built, books=books, terms=terms, catalogue=catalogue)
    return form, Quoted(plan, built, made, catalogue)


def attempt(step: Callable[[], T], problems: list[Problem]) -> T | None:
    """Take a step, or keep its problems and go on, so that one run names everything.

    Parameters
    ----------
    step
        What is to be done.
    problems
        Where its problems are kept.

    Returns
    -------
    T or None
        What it gave; None where it found problems.
    """
    try:
        return step()
    except InputError as error:
        problems.extend(error.problems)
        return None
