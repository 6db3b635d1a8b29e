"""A rack of one machine's namespaces: nodes with their own systemd and SSH, and a fabric that carries packets."""

from __future__ import annotations

from kvplan.twin.rack.frr import frr_of
from kvplan.twin.rack.needs import missing
from kvplan.twin.rack.plan import RackPlan, rack_plan
from kvplan.twin.rack.rack import HERE, Rack
from kvplan.twin.rack.raising import raised
from kvplan.twin.rack.scope import REAL, STANDS_IN
from kvplan.twin.rack.shell import RackError

__all__ = [
    "HERE",
    "REAL",
    "STANDS_IN",
    "Rack",
    "RackError",
    "RackPlan",
    "frr_of",
    "missing",
    "rack_plan",
    "raised",
]
