"""Designs that several tests look at: 4, 8, 16, 64 and 256 nodes, and what is asked of any design."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from support import REFERENCE

from kvplan import Request, size
from kvplan.api import design
from kvplan.schema.build import BuildOptions

if TYPE_CHECKING:
    from kvplan import Plan
    from kvplan.schema.design import Design, Finding

SIZES: dict[int, dict[str, Any]] = {
    4: {"profile": "compact-4", "gpus": 32},
    8: {"profile": "standard-8", "gpus": 16},
    16: {"profile": "large-16", "gpus": 128},
    64: {"profile": "large-16", "nodes": 64, "gpus": 512},
    256: {"profile": "large-16", "nodes": 256, "gpus": 2048},
}
"""Requests by storage nodes; eight nodes with four client servers are the published system."""


@cache
def plan_of(nodes: int, gpus: int | None = None, /, **changes: Any) -> Plan:
    """Size the reference model on so many nodes."""
    request = {**REFERENCE, **SIZES[nodes], **changes}
    return size(Request.model_validate({**request, "gpus": gpus or request["gpus"]}))


@cache
def design_for(nodes: int) -> Design:
    """Design the Plan of so many nodes with default options."""
    return design(plan_of(nodes))


def built(nodes: int = 8, /, **sections: dict[str, Any]) -> Design:
    """Design a Plan with options, section by section."""
    return design(plan_of(nodes), BuildOptions.model_validate(sections))


def findings(designed: Design, finding_id: str) -> list[Finding]:
    """Return the findings of a rule."""
    return [finding for finding in designed.findings if finding.id == finding_id]
