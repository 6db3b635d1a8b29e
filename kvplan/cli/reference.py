"""`kvplan reference`: which of the published figures hold."""

from __future__ import annotations

from kvplan.cli import options

EXAMPLES = options.examples("kvplan reference", "kvplan reference --format json")


def reference(*, catalogue: options.CatalogueDirs = None, format_: options.Format = "table") -> None:
    """Compute every published claim about the reference system anew.

    Verdicts: agrees; contradicts, when what was published beside it excludes it; depends, when it holds under a
    condition that it leaves out.
    """
    from kvplan.api import reference_claims
    from kvplan.cli.shared import checked_format, open_catalogue, show
    from kvplan.render.claims_view import claims_rows, claims_view

    chosen = checked_format(format_)
    report = reference_claims(catalogue=open_catalogue(catalogue))
    show(
        chosen,
        data=lambda: report.model_dump(mode="json"),
        view=lambda: claims_view(report),
        title="Published claims about the reference system",
        rows=lambda: claims_rows(report),
    )
