"""A rack's switches for as long as a context lasts."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Final

from kvplan.twin.nvue.operation import Operation
from kvplan.twin.nvue.server import NvueServer
from kvplan.twin.nvue.sessions import Fabric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kvplan.twin.nvue.switch import Switch
    from kvplan.twin.nvue.wiring import Wiring

PORT: Final = 8765
"""Where a switch listens."""
_LOOPBACK: Final = ("127.0.0.1", 0)
_POLL_S: Final = 0.02
_KEY: Final = (
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-days",
    "30",
    "-subj",
    "/CN=nvue",
)


@dataclass(frozen=True, slots=True)
class Emulation:
    """What runs: the address of each switch by its name, the rack, and the certificate, where TLS is spoken."""

    fabric: Fabric
    urls: dict[str, str] = field(default_factory=dict)
    certificate: Path | None = None


@contextmanager
def emulated(
    switches: Iterable[Switch],
    wiring: Wiring,
    *,
    addresses: Mapping[str, tuple[str, int]] | None = None,
    tls: bool = True,
    observed: Callable[[str], Mapping[str, str]] | None = None,
) -> Iterator[Emulation]:
    """Run the REST interface of each switch.

    Parameters
    ----------
    switches
        The switches.
    wiring
        The cables between them, and to hosts.
    addresses
        Address and port by name; a free port of loopback where there is none.
    tls
        Whether to speak TLS with a certificate made for the occasion; without `openssl` it is plain HTTP.
    observed
        States of BGP sessions of a switch, where a routing daemon runs behind it; they are computed without.

    Yields
    ------
    Emulation
        The addresses, and the rack.
    """
    fabric = Fabric({switch.name: switch for switch in switches}, wiring)
    listening = {name: (addresses or {}).get(name, _LOOPBACK) for name in fabric.switches}
    with ExitStack() as stack:
        certificate = _certificate(stack, {host for host, _ in listening.values()}) if tls else None
        context = _context(certificate) if certificate else None
        running = Emulation(fabric, certificate=certificate)
        for name, switch in fabric.switches.items():
            server = NvueServer(listening[name], switch, Operation(fabric, name, observed), context)
            stack.enter_context(_served(server))
            running.urls[name] = server.url
        yield running


@contextmanager
def _served(server: NvueServer) -> Iterator[None]:
    """Serve in a thread that ends with the context."""
    thread = Thread(target=server.serve_forever, args=(_POLL_S,), name=f"nvue-{server.switch.name}")
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
    path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kvplan-nvue-"))) / "nvue.pem"
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
