"""Storage Scale: the cluster, its file system and cache fileset, clients, eviction, and the same for IBM's tools."""

from __future__ import annotations

from kvplan.site.scale.faults import RULES, scale_faults
from kvplan.site.scale.files import scale_files

__all__ = ["RULES", "scale_faults", "scale_files"]
