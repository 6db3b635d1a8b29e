"""An engine image whose tag names another version.

The image holds engine and back end. Flags and variables are written for the versions that `versions` names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.walk import same_release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context


def run(context: Context) -> Iterator[Found]:
    """Compare a tag that is a version."""
    image, versions = context.site.inference.engines.image, context.site.versions
    tag = re.match(r"v?(\d+\.\d+[\d.]*)", image.rpartition("/")[2].partition("@")[0].partition(":")[2])
    if tag and not any(same_release(tag[1], version) for version in (versions.dynamo, versions.vllm)):
        what = f"{image} is neither Dynamo {versions.dynamo} nor vLLM {versions.vllm}"
        yield Found("inference.engines.image", what, ("inference", "engines", "image"))


CHECK = Check(
    id="KV-REL-008",
    severity="warning",
    title="The engine's image is of the versions that run",
    expected="a tag that is the version of Dynamo or of vLLM, or none of a version's form",
    remedy="choose the image of that version, or correct `versions`",
    manual="podman run --rm IMAGE python3 -c 'import vllm; print(vllm.__version__)'",
    source="NVIDIA Dynamo release artefacts: tags are versions of Dynamo",
    run=run,
)
