"""Two leaves of a pair that run different releases.

The two leaves of a pair carry the same hosts. With one release on both, a fault that only one shows is the machine's
and not the release's, and one can be updated while the other carries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import switches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare the leaves of each pair."""
    first: dict[int, tuple[str, str]] = {}
    for loc, switch, device in switches(context):
        if device.pair:
            name, release = first.setdefault(device.pair, (switch.name, switch.cumulus))
            if release != switch.cumulus:
                yield Found(switch.name, f"runs {switch.cumulus}, {name} runs {release}", (*loc, "cumulus"))


CHECK = Check(
    id="KV-REL-001",
    severity="error",
    title="Leaves of a pair run one release",
    expected="one `cumulus` for both leaves of a pair",
    remedy="update one of the two",
    manual="nv show system version",
    source="NVIDIA Cumulus Linux documentation, upgrade of redundant pairs",
    run=run,
)
