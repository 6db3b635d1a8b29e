"""A rack's controllers for as long as a context lasts."""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kvplan.serving import served
from kvplan.twin.bmc.machine import Machine, State
from kvplan.twin.bmc.profiles import CLEAN, Profile
from kvplan.twin.bmc.server import Controller
from kvplan.twin.tls import certificate, context_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

_LOOPBACK: Final = ("127.0.0.1", 0)
_POLL_S: Final = 0.1
"""How often each looks what is due, and whether it is to end [s]."""


@dataclass(frozen=True, slots=True)
class Emulation:
    """What runs: address, state and server of each controller by the machine's name; the certificate, where TLS is."""

    urls: dict[str, str] = field(default_factory=dict)
    states: dict[str, State] = field(default_factory=dict)
    controllers: dict[str, Controller] = field(default_factory=dict)
    certificate: Path | None = None


def ignore_boot(machine: Machine, image_url: str | None) -> None:
    """Let a machine start nothing."""


def ignore_stop(machine: Machine) -> None:
    """Let nothing end with a machine's power."""


@contextmanager
def emulated(
    machines: Iterable[Machine],
    profile: Profile | Mapping[str, Profile] = CLEAN,
    *,
    on_boot: Callable[[Machine, str | None], None] = ignore_boot,
    on_stop: Callable[[Machine], None] = ignore_stop,
    addresses: Mapping[str, tuple[str, int]] | None = None,
    credentials: tuple[str, str] | Mapping[str, tuple[str, str]] = ("ADMIN", "ADMIN"),
    tls: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Emulation]:
    """Run a controller for each machine.

    Parameters
    ----------
    machines
        The machines; each is off at first.
    profile
        How the controllers behave, or how each does by the machine's name.
    on_boot
        Called whenever a machine starts, in the thread of the request, with the image that it was really served or
        None where it starts from its own drive. What it raises, the request is told.
    on_stop
        Called in the same thread whenever a machine loses its power, and before it starts again.
    addresses
        Address and port by the machine's name; a free port of loopback where there is none.
    credentials
        User and password of every controller, or of each by the machine's name.
    tls
        Whether to speak TLS with a certificate made for the occasion; without `openssl` it is plain HTTP.
    clock
        Seconds, for what takes the controllers time.

    Yields
    ------
    Emulation
        The addresses and states.
    """
    machines = tuple(machines)
    listening = {machine.name: (addresses or {}).get(machine.name, _LOOPBACK) for machine in machines}
    with ExitStack() as stack:
        made = certificate(stack, "bmc", [host for host, _ in listening.values()]) if tls else None
        context = context_of(made)
        running = Emulation(certificate=made)
        for machine in machines:
            own = profile if isinstance(profile, Profile) else profile[machine.name]
            state = State.new(machine, own, clock)
            known = credentials if isinstance(credentials, tuple) else credentials[machine.name]
            server = Controller(listening[machine.name], state, known, on_boot, on_stop, context)
            stack.enter_context(served(server, f"bmc-{machine.name}", _POLL_S))
            running.urls[machine.name] = server.url
            running.states[machine.name] = state
            running.controllers[machine.name] = server
        yield running
