"""Fault tolerance by strips per node: the whole table, IBM's recommendations, alternatives and requirements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from kvplan.core.ece.codes import CODES, parse_code
from kvplan.core.ece.tolerance import fault_tolerance, satisfies

if TYPE_CHECKING:
    from kvplan.schema.request import Survive

# Nodes, then what each of the six codes survives (N nodes, D further devices). Rows 3 and 4 are printed in
# https://www.ibm.com/docs/en/storage-scale-ece/5.2.3?topic=selection-recommendations; the others follow from the rule.
TABLE = """
3      1N  1N     2D  3D     2D  3D
4      1N  1N+1D  2D  1N     2D  3D
5      1N  1N+1D  1N  1N     2D  3D
6      2N  1N+1D  1N  1N+1D  2D  3D
7      2N  3N     1N  1N+1D  2D  1N
8      2N  3N     1N  1N+1D  2D  1N
9      2N  3N     1N  1N+1D  1N  1N
10     2N  3N     2N  1N+1D  1N  1N+1D
11-17  2N  3N     2N  3N     1N  1N+1D
18     2N  3N     2N  3N     2N  1N+1D
19-32  2N  3N     2N  3N     2N  3N
"""


def _cells() -> list[tuple[str, int, str]]:
    """Unfold the table into code, nodes, cell."""
    cells = []
    for row in TABLE.split("\n")[1:-1]:
        span, *survived = row.split()
        low, _, high = span.partition("-")
        for nodes in range(int(low), int(high or low) + 1):
            cells += [(code.name, nodes, cell) for code, cell in zip(CODES, survived, strict=True)]
    return cells


def _count(cell: str, letter: str) -> int:
    """Read the number before a letter, 0 when the letter is absent."""
    found = re.search(rf"(\d){letter}", cell)
    return int(found[1]) if found else 0


def test_the_table_covers_all_nodes() -> None:
    assert len(_cells()) == 6 * 30


@pytest.mark.parametrize(("code", "nodes", "cell"), _cells())
def test_survived(code: str, nodes: int, cell: str) -> None:
    tolerance = fault_tolerance(parse_code(code), nodes)
    assert tolerance.node_failures == _count(cell, "N")
    assert tolerance.further_device_failures == _count(cell, "D")


@pytest.mark.parametrize(
    ("nodes", "codes"),
    [
        (3, ()),
        (4, ("4+3P",)),
        (5, ("4+3P",)),
        (6, ("4+2P", "4+3P", "8+3P")),
        (9, ("4+2P", "4+3P", "8+3P")),
        (10, ("4+2P", "4+3P", "8+2P", "8+3P")),
        (18, ("4+2P", "4+3P", "8+2P", "8+3P")),
        (19, ("4+2P", "4+3P", "8+2P", "8+3P")),
        (32, ("4+2P", "4+3P", "8+2P", "8+3P")),
    ],
)
def test_recommended_codes(nodes: int, codes: tuple[str, ...]) -> None:
    """By node count, IBM's ECE 5.2 recommendations as quoted in wutz/k8s-in-action, which have no row for 16+xP."""
    for code in CODES:
        tolerance = fault_tolerance(code, nodes)
        assert tolerance.ibm_codes == codes
        assert tolerance.ibm_recommended == (code.name in codes)


def test_strips_per_node_of_8_plus_2() -> None:
    counts = [fault_tolerance(parse_code("8+2P"), nodes).strips_per_node for nodes in (4, 5, 8, 10, 16, 32)]
    assert counts == [3, 2, 2, 1, 1, 1]


@pytest.mark.parametrize(
    ("code", "nodes", "texts"),
    [
        (
            "4+2P",
            4,
            [
                "4+3P survives one node and one drive for 10 points of capacity",
                "4+2P survives two nodes from 6 nodes in the recovery group",
            ],
        ),
        (
            "8+2P",
            8,
            [
                "8+3P survives one node and one drive for 7 points of capacity",
                "4+2P survives two nodes for 13 points of capacity",
                "4+3P survives three nodes for 23 points of capacity",
                "8+2P survives two nodes from 10 nodes in the recovery group",
            ],
        ),
        (
            "16+3P",
            16,
            [
                "8+2P survives two nodes for 4 points of capacity",
                "8+3P survives three nodes for 11 points of capacity",
                "16+3P survives three nodes from 19 nodes in the recovery group",
            ],
        ),
        (
            "4+3P",
            6,
            [
                "4+2P survives two nodes and has 10 points more capacity",
                "4+3P survives three nodes from 7 nodes in the recovery group",
            ],
        ),
        (
            "16+3P",
            18,
            [
                "16+2P survives two nodes and has 5 points more capacity",
                "8+3P survives three nodes for 11 points of capacity",
                "16+3P survives three nodes from 19 nodes in the recovery group",
            ],
        ),
        ("16+3P", 19, []),
        ("8+2P", 18, ["8+3P survives three nodes for 7 points of capacity"]),
        ("8+2P", 19, ["16+3P survives three nodes and has 4 points more capacity"]),
        ("8+2P", 3, ["8+2P survives one node from 5 nodes in the recovery group"]),
    ],
)
def test_alternatives(code: str, nodes: int, texts: list[str]) -> None:
    assert [alternative.text for alternative in fault_tolerance(parse_code(code), nodes).alternatives] == texts


def test_an_alternative_carries_its_own_figures() -> None:
    first, *_, last = fault_tolerance(parse_code("8+2P"), 8).alternatives
    assert (first.erasure_code, first.nodes, first.node_failures, first.further_device_failures) == ("8+3P", 8, 1, 1)
    assert first.code_efficiency == pytest.approx(8 / 11)
    assert (last.erasure_code, last.nodes, last.node_failures, last.further_device_failures) == ("8+2P", 10, 2, 0)


@pytest.mark.parametrize(
    ("code", "nodes", "survived"),
    [
        ("8+2P", 4, set()),
        ("8+2P", 8, {"node"}),
        ("8+3P", 8, {"node", "node+drive"}),
        ("8+2P", 10, {"node", "node+drive", "2-nodes"}),
        ("8+3P", 16, {"node", "node+drive", "2-nodes", "3-nodes"}),
        ("16+3P", 16, {"node", "node+drive"}),
    ],
)
def test_requirements(code: str, nodes: int, survived: set[Survive]) -> None:
    tolerance = fault_tolerance(parse_code(code), nodes)
    requirements: tuple[Survive, ...] = ("node", "node+drive", "2-nodes", "3-nodes")
    assert {requirement for requirement in requirements if satisfies(tolerance, requirement)} == survived
    assert satisfies(tolerance, None)
