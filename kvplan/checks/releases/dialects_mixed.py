"""Switches of one fabric that speak two dialects.

Releases before and after the change write the same thing in different words. Files are right for each, but whoever
compares two switches, or moves a file from one to the other, is misled.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import switches
from kvplan.core.sizing.versions import release_key
from kvplan.schema.roles import FABRIC_ROLES
from kvplan.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare fabric switches with the release that brought the new dialect."""
    since = str(context.deployment.setting("switch.new_dialect_from"))
    sides = defaultdict(list)
    for _, switch, device in switches(context):
        if device.role in FABRIC_ROLES:
            sides[release_key(switch.cumulus) >= release_key(since)].append(switch)
    if len(sides) == len((True, False)):
        fewer = min(sides.values(), key=len)
        yield Found(
            listed([switch.name for switch in fewer]), f"on another side of {since} than the rest", ("switches",)
        )


CHECK = Check(
    id="KV-REL-002",
    severity="warning",
    title="The fabric speaks one dialect",
    expected="every switch of the fabric on the same side of the change of dialect",
    remedy="update the older switches",
    manual="nv show system version",
    source="NVIDIA NVUE schemas of Cumulus Linux 5.14 and 5.15",
    run=run,
)
