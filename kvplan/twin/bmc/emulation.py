"""A rack's controllers for as long as a context lasts."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Final

from kvplan.twin.bmc.machine import Machine, State
from kvplan.twin.bmc.profiles import CLEAN, Profile
from kvplan.twin.bmc.server import Controller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_LOOPBACK: Final = ("127.0.0.1", 0)
_POLL_S: Final = 0.02
_KEY: Final = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30", "-subj", "/CN=bmc")


@dataclass(frozen=True, slots=True)
class Emulation:
    """What runs: address and state of each controller by the machine's name; the certificate, where TLS is spoken."""

    urls: dict[str, str] = field(default_factory=dict)
    states: dict[str, State] = field(default_factory=dict)
    certificate: Path | None = None


def ignore_boot(machine: Machine, image_url: str | None) -> None:
    """Let a machine start nothing."""


@contextmanager
def emulated(
    machines: Iterable[Machine],
    profile: Profile | Mapping[str, Profile] = CLEAN,
    *,
    on_boot: Callable[[Machine, str | None], None] = ignore_boot,
    addresses: Mapping[str, tuple[str, int]] | None = None,
    credentials: tuple[str, str] = ("ADMIN", "ADMIN"),
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
    addresses
        Address and port by the machine's name; a free port of loopback where there is none.
    credentials
        User and password of every controller.
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
        certificate = _certificate(stack, {host for host, _ in listening.values()}) if tls else None
        context = _context(certificate) if certificate else None
        running = Emulation(certificate=certificate)
        for machine in machines:
            own = profile if isinstance(profile, Profile) else profile[machine.name]
            state = State.new(machine, own, clock)
            server = Controller(listening[machine.name], state, credentials, on_boot, context)
            stack.enter_context(_served(server))
            running.urls[machine.name] = server.url
            running.states[machine.name] = state
        yield running


@contextmanager
def _served(server: Controller) -> Iterator[None]:
    """Serve in a thread that ends with the context."""
    thread = Thread(target=server.serve_forever, args=(_POLL_S,), name=f"bmc-{server.state.machine.name}")
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _certificate(stack: ExitStack, hosts: set[str]) -> Path | None:
    """Make a certificate that signs itself, with its key, for these addresses."""
    openssl = shutil.which("openssl")
    if openssl is None:
        return None
    path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kvplan-bmc-"))) / "bmc.pem"
    names = ",".join(f"IP:{host}" for host in sorted(hosts))
    files = ("-keyout", f"{path}.key", "-out", str(path))
    command = [openssl, "req", "-x509", *_KEY, "-addext", f"subjectAltName={names}", *files]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - fixed words and addresses
    return path


def _context(certificate: Path) -> ssl.SSLContext:
    """Speak TLS with a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, f"{certificate}.key")
    return context
