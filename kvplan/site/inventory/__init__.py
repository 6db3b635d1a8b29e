"""The inventory for Ansible: groups, and every fact that a role needs, so that no role asks another host."""

from __future__ import annotations

from kvplan.site.inventory.files import inventory_files

__all__ = ["inventory_files"]
