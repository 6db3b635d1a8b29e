"""What the command loads: help must be instant."""

from __future__ import annotations

import subprocess
import sys

import pytest

SHOW_MODULES = """
import sys
from kvplan.__main__ import main
code = main(sys.argv[1:])
print(*sorted(sys.modules), file=sys.stderr)
sys.exit(code)
"""
LATE = ("ansible_runner", "jinja2", "yaml", "kvplan.api", "kvplan.catalogue.loader", "kvplan.core")


def _loaded(*arguments: str) -> set[str]:
    """Run the command in a process of its own and name the modules that it loaded."""
    command = [sys.executable, "-c", SHOW_MODULES, *arguments]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return set(result.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [("--help",), ("size", "--help"), ("--version",)])
def test_help_loads_no_renderer_no_tables_and_no_engine(arguments: tuple[str, ...]) -> None:
    loaded = _loaded(*arguments)
    assert "kvplan.cli" in loaded
    assert [name for name in LATE if name in loaded] == []


def test_importing_the_package_loads_none_of_its_parts() -> None:
    code = "import sys, kvplan; print(*[name for name in sys.modules if name.startswith('kvplan.')])"
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert result.stdout.split() == ["kvplan.version"]
