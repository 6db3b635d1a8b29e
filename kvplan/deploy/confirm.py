"""Destruction, listed before it happens and agreed to by a person who knows what it is about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from kvplan.errors import UsageError
from kvplan.schema.deploying import Destroyed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from kvplan.deploy.journal import Entry
    from kvplan.site.deployment import Deployment, Server


_QUESTION: Final = "Type the cluster's name, {name}, to go on: "


def destroyed(deployment: Deployment, targets: Mapping[str, Collection[str]]) -> tuple[Destroyed, ...]:
    """List what a run destroys.

    Parameters
    ----------
    deployment
        What is deployed.
    targets
        The hosts of each phase that runs.

    Returns
    -------
    tuple of Destroyed
        Hosts whose boot drives are written over, then those whose data drives are.
    """
    finders = {"provision": _reinstalled, "storage": _wiped}
    return tuple(
        found
        for phase, find in finders.items()
        for server in deployment.servers
        if server.name in targets.get(phase, ())
        for found in find(server)
    )


def endangered(
    losses: Iterable[Destroyed], entries: Iterable[Entry], anew: Mapping[str, Collection[str]]
) -> tuple[Destroyed, ...]:
    """Leave out what was lost before: hosts on which the phase was ever done on the same drives.

    A later failure or another Plan does not put such drives in danger again: they hold data now.

    Parameters
    ----------
    losses
        What hosts may lose.
    entries
        The journal.
    anew
        The hosts of each phase on which a person wants it done anew.

    Returns
    -------
    tuple of Destroyed
        What a person has to agree to.
    """
    last = {(entry.phase, entry.host): entry.message for entry in entries if entry.step == "ok"}
    return tuple(
        loss
        for loss in losses
        if last.get((loss.phase, loss.host)) != loss.text or loss.host in anew.get(loss.phase, ())
    )


def agreed(
    given: str | None,
    *,
    name: str,
    plan_sha256: str,
    sha256_in: Callable[[Path], str | None],
    ask: Callable[[str], str] | None,
) -> None:
    """See that a person agrees: by the exact Plan on the command line, or by typing the cluster's name.

    Parameters
    ----------
    given
        What `--yes` was given: the Plan's sha256, or a file with that Plan.
    name
        The cluster's name.
    plan_sha256
        Hash of the Plan that is deployed.
    sha256_in
        Returns the hash of the Plan in a file, or None where there is none.
    ask
        Asks at the terminal; None where there is none.

    Raises
    ------
    UsageError
        When nobody agrees.
    """
    if given is not None:
        if plan_sha256 not in {given, sha256_in(Path(given))}:
            message = f"--yes {given} is not the Plan that is deployed"
            raise UsageError(message, hint=f"give the Plan's file, or its sha256: {plan_sha256}")
        return
    if ask is None:
        message = "this destroys data, and there is no terminal to ask at"
        raise UsageError(message, hint=f"--yes {plan_sha256}")
    if ask(_QUESTION.format(name=name)).strip() != name:
        message = "not confirmed; nothing was touched"
        raise UsageError(message)


def _reinstalled(server: Server) -> Iterator[Destroyed]:
    """Tell which drives the operating system goes on."""
    serials = server.site.boot_drives.serials
    yield Destroyed(phase="provision", host=server.name, serial=server.site.serial, what="reinstalled", drives=serials)


def _wiped(server: Server) -> Iterator[Destroyed]:
    """Tell which drives the storage cluster takes; by count and size where the Site does not know their numbers."""
    drives = server.site.data_drives
    if drives:
        named = drives.serials or (f"all {drives.count} data drives of {drives.size_gb:,} GB",)
        yield Destroyed(phase="storage", host=server.name, serial=server.site.serial, what="wiped", drives=named)
