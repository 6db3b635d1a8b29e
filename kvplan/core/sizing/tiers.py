"""Storage tiers worth judging: each profile at the node count and under the code that a request leads to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from kvplan.core.ece.codes import CODES, ErasureCode, parse_code
from kvplan.core.ece.geometry import geometry
from kvplan.core.ece.groups import recovery_group_nodes
from kvplan.core.ece.layout import GeometryInput
from kvplan.core.ece.tolerance import fault_tolerance, satisfies, survivable
from kvplan.core.network.sides import Calibration, StorageSide
from kvplan.core.network.stages import TierRates, tier_rates
from kvplan.units import MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.core.sizing.inputs import ProfileParts, SizingInputs
    from kvplan.schema.ece import Geometry
    from kvplan.schema.hardware import Drive, Nic, Server
    from kvplan.schema.profile import Profile
    from kvplan.schema.request import Request, Survive
    from kvplan.schema.software import StorageRelease


class Need(Protocol):
    """What a tier must give so that it needs no further node, but for what it must survive."""

    def nodes(self, tier: Tier, /) -> int:
        """Estimate how many nodes like the tier's are enough [nodes]."""

    def met(self, tier: Tier, /) -> bool:
        """Tell whether the tier is enough."""


@dataclass(frozen=True, slots=True)
class Tier:
    """A profile's recipe at one node count and code, with its geometry and its rates."""

    name: str
    parts: ProfileParts
    code: ErasureCode
    geometry: Geometry
    storage: StorageSide
    rates: TierRates
    forced: bool = False

    @property
    def nodes(self) -> int:
        """Storage nodes of the tier."""
        return self.geometry.nodes


def required(request: Request) -> Survive:
    """Return the tolerance that every tier must have: what was asked for, one node at least.

    Parameters
    ----------
    request
        The request; its `survive` may be absent.

    Returns
    -------
    Survive
        The failures [nodes, drives] to survive.

    References
    ----------
    IBM documentation on fault tolerance of ECE: maintenance takes a node away, so a tier that survives none cannot run.

    Examples
    --------
    >>> from kvplan.schema.request import Request
    >>> required(Request(model="gpt-oss-120b", context_tokens=1000, gpus=8))
    'node'
    """
    return request.survive or "node"


def tiers(inputs: SizingInputs, need: Need) -> tuple[Tier, ...]:
    """Return the tiers to judge, smallest first; among equals the more efficient code first.

    Each profile stands with its own code, or with the one that was asked for. Where `--survive` asks for more than
    that code survives, or survives only by growing, the profile also stands with every other code that survives it
    on fewer nodes, so that a small cluster under a stronger code can win over a larger one. A tier whose profile or
    node count was asked for is added to the others, marked as forced.
    """
    found = [tier for parts in inputs.profiles for tier in _tiers_of(parts, inputs, need)]
    forced = _forced_tier(inputs, need)
    if forced is not None:
        found = [tier for tier in found if (tier.name, tier.nodes) != (forced.name, forced.nodes)] + [forced]
    return tuple(sorted(found, key=lambda tier: (tier.nodes, -tier.code.efficiency)))


def build_tier(parts: ProfileParts, code: ErasureCode, nodes: int, inputs: SizingInputs) -> Tier:
    """Compute a recipe's geometry and rates at one node count under one code."""
    own_code = code.name == parts.profile.erasure_code
    name = parts.profile.name if own_code else f"{parts.profile.name} ({code.name})"
    rows = parts.drive, parts.server, parts.client_nic, parts.storage_nic
    return Tier(name, parts, code, *_computed(parts.profile, rows, code, nodes, inputs.release, inputs.calibration))


@lru_cache(maxsize=8192)
def _computed(
    profile: Profile,
    rows: tuple[Drive, Server, Nic, Nic],
    code: ErasureCode,
    nodes: int,
    release: StorageRelease,
    calibrated: Calibration,
) -> tuple[Geometry, StorageSide, TierRates]:
    """Compute once what requests share that judge the same recipe at the same node count."""
    drive, server, client_nic, storage_nic = rows
    layout = geometry(
        GeometryInput(
            nodes=nodes,
            drives_per_node=profile.node.drives,
            drive_bytes=drive.capacity_bytes,
            code=code,
            block_bytes=profile.block_mib * MIB,
            spare_pdisks=profile.spare_pdisks,
            release=release,
        )
    )
    storage = StorageSide(
        nodes=nodes,
        nodes_in_group=layout.nodes_per_recovery_group[-1],
        drives_per_node=profile.node.drives,
        drive=drive,
        server=server,
        client_nic=client_nic,
        client_nics=profile.node.client_nics,
        storage_nic=storage_nic,
        storage_nics=profile.node.storage_nics,
        code=code,
    )
    return layout, storage, tier_rates(storage, calibrated)


def _tiers_of(parts: ProfileParts, inputs: SizingInputs, need: Need) -> Iterator[Tier]:
    """Yield a profile's tiers: its own code, and the others where tolerance asks for more."""
    request = inputs.request
    own = _grown(parts, _code_of(parts, inputs), inputs, need, required(request))
    yield own
    # A code that was asked for by name stands alone: the tool does not answer with another one.
    if request.survive is None or request.erasure_code is not None:
        return
    survives = satisfies(own.geometry.fault_tolerance, request.survive)
    # Growth that only the tolerance causes is what a stronger code can save; growth by need it cannot.
    if survives and own.nodes == _grown(parts, own.code, inputs, need, "node").nodes:
        return
    for code in (code for code in CODES if _may_survive(parts, code, inputs)):
        tier = _grown(parts, code, inputs, need, request.survive)
        if satisfies(tier.geometry.fault_tolerance, request.survive) and (tier.nodes < own.nodes or not survives):
            yield tier


def _may_survive(parts: ProfileParts, code: ErasureCode, inputs: SizingInputs) -> bool:
    """Tell whether a recipe can survive what is asked under a code, before the rest of the tier is computed."""
    counts, survive = parts.profile.nodes, inputs.request.survive
    # A recipe that grows can always reach the node count at which the code survives what it can at best.
    if counts.limit > counts.start:
        return survivable(code, survive)
    smallest_group = recovery_group_nodes(counts.start, parts.profile.node.drives, inputs.release)[-1]
    return satisfies(fault_tolerance(code, smallest_group), survive)


def _forced_tier(inputs: SizingInputs, need: Need) -> Tier | None:
    """Return the tier that was asked for by profile or node count, if one was.

    A node count alone belongs to the largest recipe that starts at or below it.
    """
    request = inputs.request
    if request.profile is None and request.nodes is None:
        return None
    if request.profile is not None:
        parts = next(parts for parts in inputs.profiles if parts.profile.name == request.profile)
    else:
        below = [parts for parts in inputs.profiles if parts.profile.nodes.start <= (request.nodes or 0)]
        parts = below[-1] if below else inputs.profiles[0]
    code = _code_of(parts, inputs)
    if request.nodes:
        return replace(build_tier(parts, code, request.nodes, inputs), forced=True)
    return replace(_grown(parts, code, inputs, need, required(request)), forced=True)


def _code_of(parts: ProfileParts, inputs: SizingInputs) -> ErasureCode:
    """Return the code that was asked for, else the recipe's."""
    return parse_code(inputs.request.erasure_code or parts.profile.erasure_code)


def _grown(parts: ProfileParts, code: ErasureCode, inputs: SizingInputs, need: Need, survive: Survive) -> Tier:
    """Return the smallest tier of a recipe that reads, holds and survives what is asked, up to its node limit."""
    counts = parts.profile.nodes
    tier = build_tier(parts, code, counts.start, inputs)
    if counts.limit == counts.start:
        return tier
    # No node count is enough, so none is tried: the largest stands for all, with the limit that it breaks.
    if not survivable(code, survive):
        return build_tier(parts, code, counts.limit, inputs)
    nodes = min(max(counts.start, need.nodes(tier)), counts.limit)
    if nodes != tier.nodes:
        tier = _shrunk(build_tier(parts, code, nodes, inputs), inputs, need, survive)
        nodes = tier.nodes
    # The estimate knows nothing of tolerance, nor of groups that split: the last steps are taken one by one.
    while nodes < counts.limit and not _suffices(tier, need, survive):
        nodes += 1
        tier = build_tier(parts, code, nodes, inputs)
    return tier


def _shrunk(tier: Tier, inputs: SizingInputs, need: Need, survive: Survive) -> Tier:
    """Take back nodes that the estimate gave too many: a node's share of usable space grows with its group."""
    while tier.nodes > tier.parts.profile.nodes.start:
        smaller = build_tier(tier.parts, tier.code, tier.nodes - 1, inputs)
        if not _suffices(smaller, need, survive):
            break
        tier = smaller
    return tier


def _suffices(tier: Tier, need: Need, survive: Survive) -> bool:
    """Tell whether a tier needs no further node."""
    return need.met(tier) and satisfies(tier.geometry.fault_tolerance, survive)
