"""Sites with nothing wrong, sites with one thing wrong, and what a check finds in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from designs import plan_of
from sites import site_data

from kvplan.api import deployment
from kvplan.checks.framework import Context
from kvplan.checks.registry import check_of
from kvplan.schema.site.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kvplan.checks.framework import Found


def clean_data(nodes: int = 8) -> dict[str, Any]:
    """Return a Site in which no check finds anything, as data of one's own."""
    return site_data(plan_of(nodes))


def context_with(
    change: Callable[[dict[str, Any]], object] | None = None,
    nodes: int = 8,
    *,
    plan_changes: Mapping[str, Mapping[str, Any]] | None = None,
    tree: Mapping[str, str] | None = None,
) -> Context:
    """Return what checks look at: a Site with a change to its data, a Plan with changes to its records."""
    data = clean_data(nodes)
    if change:
        change(data)
    plan = plan_of(nodes)
    for record, fields in (plan_changes or {}).items():
        plan = plan.model_copy(update={record: getattr(plan, record).model_copy(update=dict(fields))})
    return Context(deployment(plan, Site.model_validate(data)), lambda: tree or {})


def found_by(check_id: str, context: Context) -> list[Found]:
    """Return what one check finds."""
    return list(check_of(check_id).run(context))
