"""A switch image of another release than switches run.

Where an image is named, switches are installed from it by zero touch provisioning. They come up with its release, and
with files for another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import same_release, switches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare switches with the image."""
    image = context.site.images.cumulus
    for loc, switch, _ in switches(context) if image else ():
        if image and not same_release(image.version, switch.cumulus):
            yield Found(switch.name, f"runs {switch.cumulus}, the image is {image.version}", (*loc, "cumulus"))


CHECK = Check(
    id="KV-REL-006",
    severity="warning",
    title="The switch image is of the release that switches run",
    expected="`images.cumulus.version` equal to every switch's `cumulus`",
    remedy="fetch the other image, or correct `cumulus`",
    manual="nv show system version",
    source="NVIDIA Cumulus Linux documentation, zero touch provisioning",
    run=run,
)
