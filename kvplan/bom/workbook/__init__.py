"""The quote as a workbook: thirteen sheets, live formulas, one file that a buyer can work in and print."""

from __future__ import annotations

from kvplan.bom.workbook.book import workbook

__all__ = ["workbook"]
