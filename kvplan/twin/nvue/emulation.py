"""A rack's switches for as long as a context lasts."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kvplan.serving import served
from kvplan.twin.nvue.operation import Operation
from kvplan.twin.nvue.server import NvueServer
from kvplan.twin.nvue.sessions import Fabric
from kvplan.twin.tls import certificate, context_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from kvplan.twin.nvue.switch import Switch
    from kvplan.twin.nvue.wiring import End, Wiring

PORT: Final = 8765
"""Where a switch listens."""
_LOOPBACK: Final = ("127.0.0.1", 0)
_POLL_S: Final = 0.1
"""How often each looks what is due, and whether it is to end [s]."""


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
    links: Callable[[str], Mapping[str, bool]] | None = None,
    heard: Callable[[str], Mapping[str, End]] | None = None,
    within: Callable[[str], AbstractContextManager[None]] | None = None,
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
    links
        Which ports of a switch have a link, where real ones are behind it; they are computed without.
    heard
        Name and port of the neighbour at each port of a switch, where frames are heard; they are computed without.
    within
        Enters the place where a switch listens, such as its network namespace; it is left as soon as it listens.

    Yields
    ------
    Emulation
        The addresses, and the rack.
    """
    fabric = Fabric({switch.name: switch for switch in switches}, wiring, links)
    listening = {name: (addresses or {}).get(name, _LOOPBACK) for name in fabric.switches}
    with ExitStack() as stack:
        made = certificate(stack, "nvue", [host for host, _ in listening.values()]) if tls else None
        context = context_of(made)
        running = Emulation(fabric, certificate=made)
        for name, switch in fabric.switches.items():
            with within(name) if within else nullcontext():
                server = NvueServer(listening[name], switch, Operation(fabric, name, observed, heard), context)
            stack.enter_context(served(server, f"nvue-{name}", _POLL_S))
            running.urls[name] = server.url
        yield running
