"""Versions of vLLM, and what the printed size of the GPU KV cache meant in each of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from kvplan.errors import InputError

LogRuleName = Literal["single-group", "smallest-block", "max-length-requests"]

_VERSION = re.compile(
    r"v?(?P<major>\d+)\.(?P<minor>\d+)(?:\.(?P<patch>\d+))?(?:\.\d+)*"
    r"(?P<pre>(?:[-._]?(?:alpha|beta|a|b|c|rc|dev)[-._]?\d*)*)"
    r"(?:[-._]?post\d+)?(?:\+[a-z0-9.]+)?",
    re.IGNORECASE,
)
_UNTAGGED = (0, 1)
"""A checkout without tags calls itself 0.1.dev<commits>: that says nothing about the release it is near."""


@dataclass(frozen=True, slots=True, order=True)
class EngineVersion:
    """A vLLM version in the order of releases: a pre-release comes before the release of the same number."""

    release: tuple[int, int, int]
    final: bool = True


@dataclass(frozen=True, slots=True)
class LogRule:
    """What "GPU KV cache size: N tokens" means from a version on; `text` is the rule as a person reads it."""

    name: LogRuleName
    since: EngineVersion
    text: str


HYBRID_MANAGER_SINCE = EngineVersion((0, 10, 0), final=False)
"""The first version whose KV cache manager can group layers of several kinds; before it every layer is kept in full."""

LOG_RULES = (
    LogRule(
        "single-group",
        EngineVersion((0, 0, 0)),
        "up to 0.9.x: tokens = blocks x block tokens, every layer kept in full",
    ),
    LogRule(
        "smallest-block",
        HYBRID_MANAGER_SINCE,
        "0.10.0 to 0.20.0: tokens = blocks // groups x smallest block tokens",
    ),
    LogRule(
        "max-length-requests",
        EngineVersion((0, 20, 1)),
        "from 0.20.1: tokens = int(maximum concurrency x max_model_len); 0.20.1 itself is unchecked",
    ),
)
"""In order. 0.20.0 and a 0.20.1 release candidate still print the second form (vllm-project/vllm#43308,
noonghunna/club-3090#46), the 0.20.2 wheel the third (`v1/core/kv_cache_utils.py`)."""

SECOND_STATE_SINCE = EngineVersion((0, 20, 0), final=False)
"""From here on, assumed, prefix caching keeps a second state a request and recurrent group ("align").

0.11.1 and 0.19.0 keep one (vllm-project/vllm#28228, #40691), 0.20.2rc1 and 0.24.0 two (noonghunna/club-3090#142, #652);
in which release between 0.19.0 and 0.20.2rc1 that changed is not known.
"""


@cache
def parse_version(text: str) -> EngineVersion:
    """Read a vLLM version.

    version = major.minor[.patch] with an optional pre-release, post-release or local part

    Parameters
    ----------
    text
        Version as vLLM prints it, for example `0.14.1`, `v0.29.1rc1` or `0.20.2rc1.dev129+g1234567`.

    Returns
    -------
    EngineVersion
        Comparable version [1].

    Raises
    ------
    InputError
        When the text is no version, or is that of a build without a tag (`0.1.dev21460`).

    Notes
    -----
    Valid for the numbering of vLLM, three whole numbers. A version without a patch number is its `.0`.

    References
    ----------
    PEP 440, https://peps.python.org/pep-0440/; a build without a tag: local-inference-lab/vllm#826.

    Examples
    --------
    >>> parse_version("0.20.1rc1.dev16") < parse_version("0.20.1") < parse_version("0.24")
    True
    """
    match = _VERSION.fullmatch(text.strip())
    if match is None:
        raise _unreadable(text, "is not a version of vLLM")
    release = int(match["major"]), int(match["minor"]), int(match["patch"] or 0)
    if release[:2] == _UNTAGGED and match["pre"]:
        raise _unreadable(text, "is a build without a release tag, which says nothing about its rules")
    return EngineVersion(release, final=not match["pre"])


def log_rule(version: EngineVersion) -> LogRule:
    """Return the meaning of the printed KV cache size in a version: the last rule that began at or before it.

    rule = the last of `LOG_RULES` with since <= version

    Parameters
    ----------
    version
        The engine's version [1].

    Returns
    -------
    LogRule
        Name, first version [1] and text of the rule.

    Notes
    -----
    For a model whose layers form one group, the first two rules agree and the third differs by less than a block for
    each request.

    References
    ----------
    vLLM 0.14.1 and 0.20.2 `v1/core/kv_cache_utils.py`; vllm-project/vllm PR#40694, #43308.

    Examples
    --------
    >>> [log_rule(parse_version(text)).name for text in ("0.9.2", "0.14.1", "0.33.0")]
    ['single-group', 'smallest-block', 'max-length-requests']
    """
    return next(rule for rule in reversed(LOG_RULES) if rule.since <= version)


def _unreadable(text: str, what: str) -> InputError:
    """Build the error for a version that cannot be used."""
    return InputError.single(
        "--vllm-version",
        f"{text!r} {what}",
        allowed="a release such as 0.14.1, 0.29.1rc1 or 0.33.0",
        hint="the engine prints it at start and `pip show vllm` shows it",
    )
