"""Engines, frontend and what watches them: units, environment, transfer configuration, ports, and their rules."""

from __future__ import annotations

from kvplan.site.inference.compatibility import VERSION_RULES, compatibility_faults
from kvplan.site.inference.faults import ALL_RULES, RULES, inference_faults
from kvplan.site.inference.files import inference_files

__all__ = ["ALL_RULES", "RULES", "VERSION_RULES", "compatibility_faults", "inference_faults", "inference_files"]
