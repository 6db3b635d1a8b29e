"""Let LibreOffice calculate a workbook anew, and change cells of one beforehand."""

from __future__ import annotations

import re
import shutil
import subprocess
from io import BytesIO
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile, ZipInfo

import pytest
from workbook_dump import opened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from openpyxl.workbook import Workbook

OFFICE = shutil.which("soffice")
needs_office = pytest.mark.skipif(OFFICE is None, reason="LibreOffice Calc (soffice) is not installed here")
_SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>
</oor:items>
"""
"""Calculate on load, always: by default LibreOffice shows the values that a file carries."""
_FORMULA = re.compile(r"(</f><v>)[^<]*(</v>)")


def recalculated(books: Mapping[str, bytes], folder: Path) -> dict[str, Workbook]:
    """Calculate several workbooks in one run and return them with their new values."""
    results = _converted(books, "xlsx", folder)
    return {name: opened((results / f"{name}.xlsx").read_bytes(), values=True) for name in books}


def as_csv(books: Mapping[str, bytes], sheet: int, folder: Path) -> dict[str, str]:
    """Save one sheet of several workbooks, counted from 1, as CSV as it is shown, as a person would."""
    form = f"csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,{sheet}"
    results = _converted(books, form, folder)
    return {name: next(results.glob(f"{name}-*.csv")).read_text(encoding="utf-8") for name in books}


def _converted(books: Mapping[str, bytes], form: str, folder: Path) -> Path:
    """Run LibreOffice over some workbooks and return the folder with the results."""
    profile, results = folder / "profile", folder / "results"
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_SETTINGS, encoding="utf-8")
    for name, data in books.items():
        (folder / f"{name}.xlsx").write_bytes(data)
    sources = [str(folder / f"{name}.xlsx") for name in books]
    command = [str(OFFICE), f"-env:UserInstallation={profile.as_uri()}", "--headless", "--convert-to", form]
    subprocess.run([*command, "--outdir", str(results), *sources], check=True, capture_output=True, timeout=180)
    return results


def with_zeroed_caches(data: bytes) -> bytes:
    """Replace the value that every formula carries by 0."""
    return _edited(data, lambda text: _FORMULA.sub(r"\g<1>0\g<2>", text))


def with_cells(data: bytes, cells: Mapping[str, Any]) -> bytes:
    """Type values into cells, given as `Sheet!A1` or by name, as a person would; no formula keeps a value."""
    book = opened(data)
    for place, value in cells.items():
        sheet, _, address = (place if "!" in place else book.defined_names[place].attr_text).partition("!")
        book[sheet.strip("'")][address.replace("$", "")] = value
    target = BytesIO()
    book.save(target)
    return target.getvalue()


def _edited(data: bytes, edit: Callable[[str], str]) -> bytes:
    """Change the text of all sheets."""
    target = BytesIO()
    with ZipFile(BytesIO(data)) as old, ZipFile(target, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            sheet = name.startswith("xl/worksheets/")
            new.writestr(ZipInfo(name), edit(part.decode()).encode() if sheet else part)
    return target.getvalue()
