"""Every example runs, and says what its text promises."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def _run(*command: str) -> str:
    """Run a command with this interpreter's kvplan and return what it prints; it must succeed without a word."""
    outside = {"KVPLAN_CATALOGUE", "KVPLAN_PROFILES", "KVPLAN_DATA_DIR", "FORCE_COLOR"}
    environment = {name: value for name, value in os.environ.items() if name not in outside}
    environment |= {"KVPLAN": f"{sys.executable} -m kvplan", "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.slow
def test_reference(tmp_path: Path) -> None:
    printed = _run("sh", str(EXAMPLES / "reference.sh"), str(tmp_path))
    plan, survive = (
        json.loads((tmp_path / name).read_text(encoding="utf-8")) for name in ("plan.json", "survive.json")
    )
    assert (plan["profile"]["name"], plan["profile"]["erasure_code"]) == ("standard-8", "8+2P")
    tolerance = survive["profile"]["fault_tolerance"]
    assert (tolerance["node_failures"], tolerance["further_device_failures"]) >= (1, 1)
    for words in ("profile.read_bytes_per_s", "profile.erasure_code", "8+3P on 8 nodes"):
        assert words in printed


@pytest.mark.slow
def test_quote(tmp_path: Path) -> None:
    printed = _run("sh", str(EXAMPLES / "quote.sh"), str(tmp_path))
    for words in ("2 spines, 2 leaves", "incomplete", "report.html: standard-8, 8 nodes"):
        assert words in printed
    assert (tmp_path / "quote.xlsx").read_bytes().startswith(b"PK")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert '"leaf-001a":"swp1s0" -- "storage-001"' in (tmp_path / "topology.dot").read_text(encoding="utf-8")
    assert len(list((tmp_path / "netbox").glob("*.csv"))) > 8


@pytest.mark.slow
def test_site_tables_and_profile(tmp_path: Path) -> None:
    printed = _run("sh", str(EXAMPLES / "site.sh"), str(tmp_path))
    plan = json.loads((tmp_path / "site.json").read_text(encoding="utf-8"))
    assert plan["request"]["model"] == "example/acme-7b"
    assert [Path(name).name for name in plan["catalogue"]["user_tables"]] == ["models.yaml", "constants.yaml"]
    assert (plan["profile"]["name"], plan["profile"]["nodes"]) == ("edge-6", 6)
    assert plan["profile"]["fault_tolerance"]["node_failures"] == 2
    assert plan["constants"]["guidance.hit_share"]["value"] == 0.5
    assert "this site's chat fleet" in printed


def test_fleets() -> None:
    rows = list(csv.DictReader(io.StringIO(_run(sys.executable, str(EXAMPLES / "fleets.py")))))
    assert len(rows) == 18
    oss = {int(row["gpus"]): row["profile"] for row in rows if row["model"] == "openai/gpt-oss-120b"}
    assert oss == dict.fromkeys((16, 64, 128, 256), "standard-8") | dict.fromkeys((512, 1024), "large-16")


def test_no_example_is_left_out() -> None:
    tested = Path(__file__).read_text(encoding="utf-8")
    scripts = [path.name for path in EXAMPLES.iterdir() if path.suffix in {".sh", ".py"}]
    assert len(scripts) >= 3
    assert [name for name in scripts if name not in tested] == []
