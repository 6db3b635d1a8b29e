"""The whole tree: every part's files, a page that says what is what, and a manifest with the hash of each file."""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from kvplan.site.hostnet import host_files
from kvplan.site.inference import inference_files
from kvplan.site.install import install_files
from kvplan.site.inventory import inventory_files
from kvplan.site.media import media_files
from kvplan.site.scale import scale_files
from kvplan.site.switches import switch_files
from kvplan.site.templating import rendered
from kvplan.site.tree import MANIFEST, File, tree_of
from kvplan.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kvplan.schema.site.site import Site
    from kvplan.site.deployment import Deployment

MANIFEST_FORMAT_VERSION: Final = "1.0"
PARTS: Final[dict[str, Callable[[Deployment], Iterator[File]]]] = {
    "inventory": inventory_files,
    "install": install_files,
    "media": media_files,
    "switches": switch_files,
    "hosts": host_files,
    "scale": scale_files,
    "inference": inference_files,
}
"""What writes which part of the tree."""


def render_tree(deployment: Deployment) -> dict[str, File]:
    """Write everything that a deployment needs.

    Parameters
    ----------
    deployment
        What is deployed.

    Returns
    -------
    dict of File
        Files by path, in the order of paths; equal input gives equal bytes.
    """
    made = tree_of(chain.from_iterable(part(deployment) for part in PARTS.values()))
    readme = File("README.md", rendered("README.md.j2", deployment=deployment, counts=_counts(made)))
    tree = tree_of((*made.values(), readme))
    return tree_of((*tree.values(), _manifest(deployment, tree.values())))


def rendered_tree(deployment: Deployment) -> dict[str, str]:
    """Write everything that a deployment needs, as text alone.

    Parameters
    ----------
    deployment
        What is deployed.

    Returns
    -------
    dict of str
        The text of each file by path.
    """
    return {path: file.text for path, file in render_tree(deployment).items()}


def site_sha256(site: Site) -> str:
    """Hash a Site by what it says, whatever its comments and order.

    Parameters
    ----------
    site
        The Site.

    Returns
    -------
    str
        SHA-256 in hexadecimal.
    """
    return sha256(site.model_dump_json().encode()).hexdigest()


def _manifest(deployment: Deployment, files: Iterable[File]) -> File:
    """List every file with its hash and mode."""
    content: dict[str, Any] = {
        "format_version": MANIFEST_FORMAT_VERSION,
        "kvplan_version": VERSION,
        "plan_sha256": deployment.plan_sha256,
        "site": deployment.site.name,
        "site_sha256": site_sha256(deployment.site),
        "files": {file.path: {"sha256": file.sha256, "mode": f"{file.mode:04o}"} for file in files},
    }
    return File(MANIFEST, json.dumps(content, indent=1) + "\n")


def _counts(tree: Mapping[str, File]) -> dict[str, int]:
    """Count the files of each folder."""
    counts: dict[str, int] = {}
    for path in tree:
        folder = path.partition("/")[0]
        counts[folder] = counts.get(folder, 0) + 1
    return counts
