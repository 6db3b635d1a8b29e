"""A container image that may be another one tomorrow.

Without a tag, or with one that moves, two engines started a week apart run different code. Blocks that one writes may
not be what the other reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context

MOVING = frozenset(("", "latest", "main", "master", "edge", "nightly", "stable"))
"""Tags that are given to the next image too; none is one of them."""


def run(context: Context) -> Iterator[Found]:
    """Look for images without a tag that stays."""
    for loc, text in _images(context):
        tag = text.rpartition("/")[2].partition(":")[2]
        if "@" not in text and tag in MOVING:
            yield Found(".".join(loc), f"{text} may be another image tomorrow", loc)


def _images(context: Context) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every container image with its path."""
    inference = context.site.inference
    yield ("inference", "engines", "image"), inference.engines.image
    for name in ("etcd_image", "nats_image", "prometheus_image", "grafana_image"):
        yield ("inference", name), getattr(inference, name)


CHECK = Check(
    id="KV-REL-007",
    severity="warning",
    title="Container images are pinned",
    expected="a tag with a version, or a digest",
    remedy="name the version, or the digest that `podman inspect` shows",
    manual="podman inspect --format '{{.Digest}}' IMAGE",
    source="OCI distribution specification: tags move, digests do not",
    run=run,
)
