"""The phases of a deployment, in their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kvplan.errors import InputError, did_you_mean
from kvplan.schema.base import Constant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase: what it does, to the hosts of which groups, whether it destroys, and how long a host takes.

    One that is `whole` runs on all its hosts or on none, for it makes one thing of them.

    `minutes` has an entry for each group of the inventory; hosts of all groups work at the same time, but for
    `one_by_one`, where a host waits for the one before it.
    """

    name: str
    title: str
    changes: str
    minutes: Mapping[str, Constant]
    destroys: bool = False
    one_by_one: bool = False
    whole: bool = False

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of the inventory that it works on."""
        return tuple(self.minutes)

    @property
    def playbook(self) -> str:
        """The name of its playbook."""
        return f"{self.name}.yml"

    def exists(self, playbooks: Path) -> bool:
        """Tell whether it has a playbook.

        Parameters
        ----------
        playbooks
            Directory of the playbooks.

        Returns
        -------
        bool
            Whether the file is there.
        """
        return (playbooks / self.playbook).is_file()

    def hosts(self, groups: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """List its hosts.

        Parameters
        ----------
        groups
            Hosts of each group of the inventory.

        Returns
        -------
        tuple of str
            Names, those of the first group first.
        """
        return tuple(host for group in self.groups for host in groups.get(group, ()))

    def expected_minutes(self, groups: Mapping[str, tuple[str, ...]]) -> float:
        """Estimate how long it takes.

        Parameters
        ----------
        groups
            Hosts of each group of the inventory.

        Returns
        -------
        float
            Time [min]; 0 where it has no hosts.
        """
        times = {group: constant.value for group, constant in self.minutes.items() if groups.get(group)}
        if self.one_by_one:
            return sum(len(groups[group]) * time for group, time in times.items())
        return max(times.values(), default=0.0)


def _minutes(**groups: float) -> dict[str, Constant]:
    """Give each group the time that a host of it is assumed to take."""
    source = "assumed, until a run on hardware was timed"
    return {
        group: Constant(value=value, unit="min", source=source, confidence="assumed") for group, value in groups.items()
    }


PHASES: Final = (
    Phase(
        "preflight",
        "Look at everything",
        "nothing",
        _minutes(storage=1, gpu=1, control=1, switches=1, bmc=1),
    ),
    Phase("switches", "Configure the switches", "the switches' configuration", _minutes(switches=4), one_by_one=True),
    Phase(
        "provision",
        "Install the operating systems",
        "the boot drives of each server",
        _minutes(storage=35, gpu=35, control=35),
        destroys=True,
    ),
    Phase(
        "base",
        "Prepare the hosts",
        "packages, kernel, adapters, network, time and trust of each host",
        _minutes(storage=25, gpu=25, control=10),
    ),
    Phase(
        "storage",
        "Build the storage cluster",
        "the data drives of each storage node",
        _minutes(storage=60),
        destroys=True,
        whole=True,
    ),
    Phase("clients", "Mount the file system", "GPU drivers and the Storage Scale client", _minutes(gpu=25)),
    Phase(
        "inference",
        "Start the engines",
        "services of the GPU servers and the control node",
        _minutes(gpu=15, control=5),
    ),
    Phase("verify", "Measure against the Plan", "nothing but test data", _minutes(gpu=30)),
)


def phase(name: str, where: str) -> Phase:
    """Find a phase by its name.

    Parameters
    ----------
    name
        Its name.
    where
        The option that names it.

    Returns
    -------
    Phase
        The phase.

    Raises
    ------
    InputError
        When there is none.

    Examples
    --------
    >>> phase("storage", "--only").destroys
    True
    """
    found = {candidate.name: candidate for candidate in PHASES}
    if name not in found:
        hint = did_you_mean(name, found)
        raise InputError.single(where, f"no phase is called {name!r}", allowed=", ".join(found), hint=hint)
    return found[name]


def chosen(
    playbooks: Path, *, only: str | None = None, start: str | None = None, end: str | None = None
) -> tuple[Phase, ...]:
    """Choose the phases to run: those that have a playbook.

    Parameters
    ----------
    playbooks
        Directory of the playbooks.
    only
        The one phase to run.
    start
        The phase to begin with.
    end
        The phase to end with.

    Returns
    -------
    tuple of Phase
        The phases in their order; none where the last one comes before the first.

    Raises
    ------
    InputError
        When there is no such phase, or it has no playbook, or none has.
    """
    there = [candidate for candidate in PHASES if candidate.exists(playbooks)]
    if not there:
        raise InputError.single(str(playbooks), "holds no playbook of any phase")
    if only:
        return (_among(there, only, "--only"),)
    first = there.index(_among(there, start, "--from")) if start else 0
    last = there.index(_among(there, end, "--to")) if end else len(there) - 1
    return tuple(there[first : last + 1])


def _among(there: Sequence[Phase], name: str, option: str) -> Phase:
    """Find a phase that has a playbook."""
    found = phase(name, option)
    if found not in there:
        allowed = ", ".join(candidate.name for candidate in there)
        raise InputError.single(option, f"phase {name} has no playbook in this kvplan", allowed=allowed)
    return found


def groups_in(tree: Path) -> dict[str, tuple[str, ...]]:
    """Read the groups of a rendered inventory.

    Parameters
    ----------
    tree
        Root of the rendered tree.

    Returns
    -------
    dict of tuple of str
        Hosts by group; those of a group of groups are the hosts of all of them.
    """
    from kvplan.inputs.files import read_yaml  # noqa: PLC0415 - phases are listed without reading YAML

    found: dict[str, tuple[str, ...]] = {}
    _gather("all", read_yaml(tree / "inventory" / "hosts.yml").data["all"], found)
    return found


def _gather(name: str, group: Mapping[str, Any], found: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Gather the hosts of a group and of the groups in it."""
    inner = [_gather(child, content, found) for child, content in (group.get("children") or {}).items()]
    found[name] = (*(group.get("hosts") or ()), *(host for hosts in inner for host in hosts))
    return found[name]
