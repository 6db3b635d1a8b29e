"""kvplan: size, quote and deploy shared KV-cache storage for LLM inference.

>>> import kvplan
>>> plan = kvplan.size(kvplan.Request(model="gpt-oss-120b", context_tokens=130_000, gpus=128))
>>> plan.profile.nodes
8
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.version import VERSION as __version__  # noqa: N811 - the name that packages use

if TYPE_CHECKING:
    from kvplan.api import bill, design, size
    from kvplan.catalogue.loader import Catalogue, load_catalogue
    from kvplan.errors import InputError, KvplanError, NoProfileFitsError
    from kvplan.schema.build import BuildOptions
    from kvplan.schema.plan import Plan
    from kvplan.schema.request import Request

__all__ = [
    "BuildOptions",
    "Catalogue",
    "InputError",
    "KvplanError",
    "NoProfileFitsError",
    "Plan",
    "Request",
    "__version__",
    "bill",
    "design",
    "load_catalogue",
    "size",
]

_HOMES = {
    "BuildOptions": "kvplan.schema.build",
    "Catalogue": "kvplan.catalogue.loader",
    "InputError": "kvplan.errors",
    "KvplanError": "kvplan.errors",
    "NoProfileFitsError": "kvplan.errors",
    "Plan": "kvplan.schema.plan",
    "Request": "kvplan.schema.request",
    "bill": "kvplan.api",
    "design": "kvplan.api",
    "load_catalogue": "kvplan.catalogue.loader",
    "size": "kvplan.api",
}


def __getattr__(name: str) -> object:
    """Load a public name when it is first used, so that `import kvplan` and `--help` stay instant."""
    if name not in _HOMES:
        message = f"module 'kvplan' has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module  # noqa: PLC0415 - only needed here

    return getattr(import_module(_HOMES[name]), name)
