"""Published claims with what comes out when each is computed anew."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, get_args

from kvplan.render.view import Grid, Section, View
from kvplan.schema.claims import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.schema.claims import ClaimsReport, SettledClaim

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""The verdicts, in the order in which they are counted."""
_HEADERS = ("Claim", "Published", "Computed", "Verdict")


def claims_view(report: ClaimsReport) -> View:
    """Arrange the claims: figures side by side, then what each says and why the verdict is so."""
    rows = tuple((claim.id, claim.published, claim.computed, claim.verdict) for claim in report.claims)
    return (
        Section(
            "Published claims, computed anew",
            (f"{report.model} on {report.gpu}: {_counts(report)}",),
            Grid(_HEADERS, rows, "llll"),
        ),
        Section("Why", tuple(_reason(claim) for claim in report.claims)),
        Section("Sources", tuple(_sources(report.claims))),
    )


def claims_rows(report: ClaimsReport) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the claims as rows, for CSV."""
    headers = ("id", "claim", "published", "computed", "verdict", "why", "source", "confidence")
    data = [claim.model_dump(mode="json") for claim in report.claims]
    return headers, [tuple(str(row[header]) for header in headers) for row in data]


def _counts(report: ClaimsReport) -> str:
    """Count the verdicts."""
    counted = Counter(claim.verdict for claim in report.claims)
    return ", ".join(f"{counted[verdict]} {_PLURALS[verdict]}" for verdict in VERDICTS)


def _reason(claim: SettledClaim) -> str:
    """Say what was claimed and why the verdict is so."""
    return f"{claim.id}: {claim.claim}. {claim.verdict.capitalize()}: {claim.why}"


def _sources(claims: tuple[SettledClaim, ...]) -> Iterator[str]:
    """Say who published which claims."""
    for source in dict.fromkeys(claim.source for claim in claims):
        yield f"{source}: {', '.join(claim.id for claim in claims if claim.source == source)}"


_PLURALS: dict[Verdict, str] = {"agrees": "agree", "contradicts": "contradict", "depends": "depend"}
