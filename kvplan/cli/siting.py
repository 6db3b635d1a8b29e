"""A Plan and a Site, read from their files and brought together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kvplan.errors import Problem
    from kvplan.inputs.document import Document
    from kvplan.schema.site.site import Site
    from kvplan.site.deployment import Deployment


@dataclass(frozen=True, slots=True)
class Sited:
    """A Plan at its Site, the Site's file, and the directory that its secrets are looked for from."""

    deployment: Deployment
    document: Document
    directory: Path

    def checked(self) -> Deployment:
        """Return the deployment when files can be rendered from it.

        Returns
        -------
        Deployment
            The deployment.

        Raises
        ------
        InputError
            With every error that checks find in the Site and in the design.
        """
        from kvplan.checks.framework import Context
        from kvplan.checks.registry import own_checks
        from kvplan.checks.runner import examine
        from kvplan.errors import InputError, Problem

        grave = [check for check in own_checks() if check.severity == "error" and check.needs == "offline"]
        report = examine(Context(self.deployment), grave, plan="", document=self.document)
        if report.findings:
            raise InputError(
                Problem(found.place, f"{found.where}: {found.what}", hint=f"see {found.id}")
                for found in report.findings
            )
        return self.deployment

    def tree(self) -> dict[str, str]:
        """Render every file of the deployment as text, by path."""
        from kvplan.site.render import rendered_tree

        return rendered_tree(self.deployment)


def read_sited(plan_path: Path, site_path: Path, catalogue: list[Path] | None) -> Sited:
    """Read a Plan and a Site, and bring them together.

    Parameters
    ----------
    plan_path
        File with the Plan.
    site_path
        File with the Site.
    catalogue
        Directories with user tables.

    Returns
    -------
    Sited
        The deployment, and where the Site's values stand.

    Raises
    ------
    InputError
        With the problems of both files and of the tables at once.
    PlanStaleError
        When the Plan was written in another format version, or altered since.
    """
    from kvplan.api import deployment
    from kvplan.cli.shared import open_catalogue, read_plan
    from kvplan.errors import InputError, Problems

    problems = Problems()
    with problems.kept():
        plan = read_plan(plan_path)
    with problems.kept():
        site, document = _read_site(site_path)
    with problems.kept():
        tables = open_catalogue(catalogue)
    problems.raise_any()
    try:
        return Sited(deployment(plan, site, catalogue=tables), document, site_path.parent)
    except InputError as error:
        raise InputError(_placed(problem, document) for problem in error.problems) from error


def _read_site(path: Path) -> tuple[Site, Document]:
    """Read and validate a Site."""
    from kvplan.inputs.files import read_yaml
    from kvplan.inputs.validation import validate
    from kvplan.schema.site.site import Site

    document = read_yaml(path)
    return validate(Site, document), document


def _placed(problem: Problem, document: Document) -> Problem:
    """Say where in the Site a name stands that no table has; a release is asked for there, not by an option."""
    from kvplan.inputs.loc import key_path
    from kvplan.schema.build import BuildOptions

    loc = ("versions", "storage_scale") if problem.where == "--release" else ("build", *problem.where.split("."))
    if loc[0] == "build" and loc[1] not in BuildOptions.model_fields:
        return problem  # has its place already, in a table
    return replace(problem, where=document.where(loc), key=key_path(loc))
