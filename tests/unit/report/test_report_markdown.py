"""The report as Markdown: the same sections and numbers, without the drawings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports import document_of, source_of, stable

from kvplan.render.report.content import report

if TYPE_CHECKING:
    from collections.abc import Callable

    Golden = Callable[[str, str], None]


def test_the_document_of_the_published_system(golden: Golden) -> None:
    golden("report/published-system.md", stable(document_of()))


def test_it_has_every_section_and_no_markup() -> None:
    text = document_of()
    titles = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert [part.title for part in report(source_of()).parts] == [
        title for title in titles if title in {part.title for part in report(source_of()).parts}
    ]
    assert "<svg" not in text
    assert titles[-1] == "Provenance"


def test_drawings_are_told_in_words() -> None:
    text = document_of()
    assert "Use of each stage: Drives: reads" in text
    assert "Reads left with something lost: Nothing lost: 100 %" in text


def test_certainty_and_severity_are_words() -> None:
    text = document_of()
    assert "[derived, 1 assumed input]" in text
    assert "\n## Warnings: know these before you sign (" in text
    assert "| buys.hits_per_s |" in text
    assert text.count("| derived, 1 assumed input |") > 5
