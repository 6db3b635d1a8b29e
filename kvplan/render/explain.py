"""Explanations as a tree, as data, and as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.tree import Tree

from kvplan.render.figures import value_text
from kvplan.render.text import DEFAULT_WIDTH, captured, text_console
from kvplan.render.view import Grid, Section, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvplan.core.explanation import Explanation

HEADERS = ("field", "value", "unit", "formula", "inputs", "source", "confidence")


def explanation_text(explanations: Sequence[Explanation], *, width: int = DEFAULT_WIDTH, color: bool = False) -> str:
    """Draw each number as a tree of formula, inputs and sources."""
    console = text_console(width, color=color)
    for explanation in explanations:
        console.print(_tree(explanation))
    return captured(console)


def explanation_view(explanations: Sequence[Explanation]) -> View:
    """Arrange explanations as one table."""
    return (Section("Explanation", grid=Grid(HEADERS, tuple(explanation_rows(explanations)), "lrlllll")),)


def explanation_data(explanation: Explanation) -> dict[str, Any]:
    """Return a tree as plain data."""
    return {
        "field": explanation.path,
        "value": explanation.value,
        "unit": explanation.unit,
        "formula": explanation.formula,
        "source": explanation.source,
        "confidence": explanation.confidence,
        "inputs": [explanation_data(item) for item in explanation.inputs],
    }


def explanation_rows(explanations: Sequence[Explanation]) -> list[tuple[str, ...]]:
    """Return one flat row a number; its inputs are named, not followed."""
    return [
        (
            item.path,
            str(item.value),
            item.unit,
            item.formula,
            " ".join(part.path for part in item.inputs),
            item.source,
            item.confidence,
        )
        for item in explanations
    ]


def _tree(explanation: Explanation) -> Tree:
    """Build the tree of one number."""
    tree = Tree(f"[bold]{escape(explanation.path)}[/bold] = {value_text(explanation.value)} {escape(explanation.unit)}")
    if explanation.formula:
        tree.add(escape(f"= {explanation.formula}"))
    for item in explanation.inputs:
        tree.add(_tree(item))
    if explanation.source:
        tree.add(escape(f"source: {explanation.source} ({explanation.confidence})"))
    elif explanation.confidence == "assumed":
        tree.add("assumed")
    return tree
