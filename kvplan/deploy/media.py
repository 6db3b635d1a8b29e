"""The boot media that a run needs: seen to be there before it begins, and handed out while it lasts."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvplan.deploy.events import MediumSent
from kvplan.deploy.mediaserver import media_served, offered
from kvplan.errors import InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from pathlib import Path

    from kvplan.deploy.mediaserver import Fetched
    from kvplan.site.media.recipe import BootMedium


@dataclass(frozen=True, slots=True)
class Shelf:
    """The media of a deployment: where they are handed out, from which directory, and those that a run needs."""

    address: str
    port: int
    root: Path
    media: tuple[BootMedium, ...]

    def check(self, command: str) -> None:
        """See that every medium is there, or handed out by another server already.

        Parameters
        ----------
        command
            How media are built.

        Raises
        ------
        InputError
            With every medium that is missing.
        """
        absent = [medium for medium in self.media if not (self.root / medium.output).is_file()]
        elsewhere = offered(self.address, self.port, [f"/{medium.output}" for medium in absent])
        missing = [medium for medium in absent if f"/{medium.output}" not in elsewhere]
        if missing:
            hint = f"{command}; servers that are installed already need none: --from base"
            raise InputError(
                Problem(str(self.root / medium.output), f"the boot medium of {medium.server} is not there", hint=hint)
                for medium in missing
            )

    @contextmanager
    def handed_out(self, sink: Callable[[MediumSent], None]) -> Iterator[None]:
        """Hand media out as long as the context lasts; nothing happens where none is needed.

        Parameters
        ----------
        sink
            Told of each further tenth of a medium that a controller was sent, from the thread of its connection.

        Yields
        ------
        None
            While they are handed out.

        Raises
        ------
        InputError
            When they cannot be handed out, and nobody else does.
        """
        if not self.media:
            yield
            return
        servers = {f"/{medium.output}": medium.server for medium in self.media}

        def tell(fetched: Fetched) -> None:
            if fetched.path in servers:
                host = servers[fetched.path]
                sink(MediumSent(host, fetched.client, fetched.sent_bytes, fetched.size_bytes))

        with media_served(self.root, self.address, self.port, tell):
            yield


def needed(media: Iterable[BootMedium], hosts: Collection[str]) -> tuple[BootMedium, ...]:
    """Choose the media of servers that may be installed.

    Parameters
    ----------
    media
        All media of the deployment.
    hosts
        Those servers.

    Returns
    -------
    tuple of BootMedium
        Their media.
    """
    return tuple(medium for medium in media if medium.server in hosts)
