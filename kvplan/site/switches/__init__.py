"""Configurations of the switches in the NVUE dialect of each, and the rules that the rendered files are judged by."""

from __future__ import annotations

from kvplan.site.switches.faults import ALL_RULES, RULES, switch_faults
from kvplan.site.switches.files import switch_files

__all__ = ["ALL_RULES", "RULES", "switch_faults", "switch_files"]
