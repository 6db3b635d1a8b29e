"""An installer image of another release than the one that is to run.

What is installed is what the image holds. Kernels, drivers and packages are chosen for the release that `versions`
names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import same_release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare each image with its version."""
    for name in ("rhel", "ubuntu"):
        image, wanted = getattr(context.site.images, name).version, getattr(context.site.versions, name)
        if not same_release(image, wanted):
            yield Found(f"images.{name}", f"is {image}, versions.{name} is {wanted}", ("images", name, "version"))


CHECK = Check(
    id="KV-REL-003",
    severity="error",
    title="Images are of the releases that run",
    expected="`images` and `versions` name one release of each system",
    remedy="fetch the other image, or correct `versions`",
    manual="isoinfo -d -i FILE | grep 'Volume id'",
    source="derived: the image decides what is installed",
    run=run,
)
