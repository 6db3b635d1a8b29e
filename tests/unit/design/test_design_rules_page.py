"""The page of rules: every id that the code can give is on it, and no other."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_page_lists_every_rule() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "kvplan/core/design/rules").glob("*.py"))
    page = (ROOT / "docs/design-rules.md").read_text(encoding="utf-8")
    listed = {
        name
        for row in page.splitlines()
        if row.startswith("| `")
        for name in re.findall(r"`([a-z-]+)`", row.split("|")[1])
    }
    given = re.findall(r'id="([a-z-]+)"(?: if [^\n]* else "([a-z-]+)")?', code)
    assert listed == {name for names in given for name in names if name}
