"""Networks of hosts: addresses, routes, RoCE, adapters, names and clocks; and the rules that hold for these files."""

from __future__ import annotations

from kvplan.site.hostnet.faults import ALL_RULES, RULES, host_faults
from kvplan.site.hostnet.files import host_files
from kvplan.site.hostnet.roce import rdma_name

__all__ = ["ALL_RULES", "RULES", "host_faults", "host_files", "rdma_name"]
