"""Storage Scale: the cluster, its file system and cache fileset, clients, eviction, and the same for IBM's tools."""

from __future__ import annotations

from kvplan.site.scale.faults import ALL_RULES, RULES, scale_faults
from kvplan.site.scale.files import scale_files

__all__ = ["ALL_RULES", "RULES", "scale_faults", "scale_files"]
