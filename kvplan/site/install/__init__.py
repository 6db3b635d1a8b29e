"""Unattended installation: what the installers of RHEL and Ubuntu ask, and rules over it."""

from __future__ import annotations

from kvplan.site.install.faults import ALL_RULES, RULES, install_faults
from kvplan.site.install.files import install_files

__all__ = ["ALL_RULES", "RULES", "install_faults", "install_files"]
