"""Versions that do not go together: the catalogue's table of compatibility held against a Site."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.core.sizing.versions import outside
from kvplan.schema.design import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kvplan.schema.setting import Compatibility
    from kvplan.schema.site.site import Site
    from kvplan.schema.software import VersionRange

_PAIRS: Final = (
    ("dynamo", "vllm"),
    ("cache-backend", "dynamo"),
    ("cache-backend", "vllm"),
    ("dynamo", "cuda"),
    ("dynamo", "gpu-driver"),
    ("cuda", "gpu-driver"),
    ("gpu-driver", "cuda"),
    ("dynamo", "ubuntu"),
    ("doca", "rhel"),
    ("doca", "ubuntu"),
    ("doca", "rhel-kernel"),
    ("doca", "ubuntu-kernel"),
    ("storage-scale", "rhel"),
    ("storage-scale", "ubuntu"),
    ("storage-scale", "rhel-kernel"),
    ("storage-scale", "ubuntu-kernel"),
    ("rhel", "rhel-kernel"),
    ("ubuntu", "ubuntu-kernel"),
    ("cumulus", "cumulus"),
)
"""Pairs of products that the table speaks of; the place of a pair is its number."""
_OTHER: Final = "KV-VER-099"
_IDS: Final = {pair: f"KV-VER-{number:03}" for number, pair in enumerate(_PAIRS, 1)}

VERSION_RULES: Final[dict[str, str]] = {
    **{_IDS[first, second]: f"The {second} version fits {first}." for first, second in _PAIRS if first != second},
    _IDS["cumulus", "cumulus"]: "Every switch runs a Cumulus release whose dialect is known.",
    _OTHER: "Versions fit as a row of an own table of compatibility says.",
}
"""What each rule checks."""


class _Version(NamedTuple):
    """A version or a choice that a Site makes, and the fields that make it."""

    value: str
    where: tuple[str, ...]


def compatibility_faults(site: Site, rows: Iterable[Compatibility]) -> Iterator[Finding]:
    """Hold the versions of a Site against the table of what goes together.

    A row that is only assumed gives a warning, any other an error; where no row speaks of a version of the first
    product of a pair, that is told as information.

    Parameters
    ----------
    site
        The Site.
    rows
        The table.

    Yields
    ------
    Finding
        What does not fit; the id is that of the pair of products.
    """
    chosen = _chosen(site)
    for pair, of_pair in groupby(sorted(rows, key=_pair), key=_pair):
        yield from _pair_faults(pair, tuple(of_pair), chosen)


def _pair(row: Compatibility) -> tuple[str, str]:
    """Name the products of a row."""
    return row.first, row.second


def _chosen(site: Site) -> dict[str, tuple[_Version, ...]]:
    """List what a Site chooses, by product; switches of equal version are one choice."""
    chosen: dict[str, tuple[_Version, ...]] = {
        name.replace("_", "-"): (_Version(version, (f"versions.{name}",)),)
        for name, version in site.versions.model_dump().items()
    }
    by_version: dict[str, list[str]] = {}
    for switch in site.switches:
        by_version.setdefault(switch.cumulus, []).append(switch.name)
    chosen["cumulus"] = tuple(_Version(version, tuple(names)) for version, names in sorted(by_version.items()))
    chosen["cache-backend"] = (_Version(site.inference.cache_backend, ("inference.cache_backend",)),)
    return chosen


def _pair_faults(
    pair: tuple[str, str], rows: tuple[Compatibility, ...], chosen: dict[str, tuple[_Version, ...]]
) -> Iterator[Finding]:
    """Judge one pair of products."""
    for first in chosen[pair[0]]:
        speaking = [row for row in rows if _holds(first.value, row.first_range, row.first_exact)]
        if not speaking and not rows[0].first_exact:
            yield _unknown(pair, first)
        for row in speaking:
            seconds = (first,) if pair[0] == pair[1] else chosen[pair[1]]
            yield from (_fault(row, first, second) for second in seconds if _breaks(row, second.value))


def _holds(value: str, versions: VersionRange, exact: tuple[str, ...]) -> bool:
    """Tell whether a value is within a range, or one of the exact choices."""
    return value in exact if exact else not outside(value, versions.first, versions.last)


def _breaks(row: Compatibility, second: str) -> bool:
    """Tell whether the second product's value breaks a row."""
    return _holds(second, row.second_range, row.second_exact) != row.works


def _fault(row: Compatibility, first: _Version, second: _Version) -> Finding:
    """Say which versions do not fit, and which would."""
    wanted = " or ".join(row.second_exact) or outside(second.value, row.second_range.first, row.second_range.last)
    text = f"{row.first} {first.value} does not go with {row.second} {second.value}"
    return Finding(
        id=_IDS.get(_pair(row), _OTHER),
        severity="warning" if row.confidence == "assumed" else "error",
        where=", ".join(second.where),
        text=text if row.first != row.second else f"{row.first} {second.value} is outside what is known",
        remedy=(f"Choose {row.second} {wanted}" if row.works else f"Choose another {row.second}") + f" ({row.source}).",
    )


def _unknown(pair: tuple[str, str], first: _Version) -> Finding:
    """Say that the table does not know a version."""
    return Finding(
        id=_IDS.get(pair, _OTHER),
        severity="info",
        where=", ".join(first.where),
        text=f"no row tells which {pair[1]} goes with {pair[0]} {first.value}",
        remedy=f"Look it up in the release notes of {pair[0]}, and add a row to a `compatibility.yaml` of your own.",
    )
