"""The process that is all devices of a rack, and what it can be told."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager, suppress
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kvplan.errors import KvplanError, UsageError, did_you_mean
from kvplan.serving import ClosingServer
from kvplan.serving import served as serving
from kvplan.twin.bmc import emulation as bmc_emulation
from kvplan.twin.bmc.machine import Machine
from kvplan.twin.bmc.profiles import PROFILES
from kvplan.twin.bmc.refusal import Refusal
from kvplan.twin.devices.client import CONTROL, ORDER
from kvplan.twin.devices.disorder import disturb_controller, disturb_switch
from kvplan.twin.devices.order import DevicesOrder
from kvplan.twin.devices.servers import Servers
from kvplan.twin.devices.switches import Switches
from kvplan.twin.nvue import emulation as nvue_emulation
from kvplan.twin.rack.lines import served
from kvplan.twin.rack.rack import Rack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kvplan.twin.bmc.emulation import Emulation

SERVED: Final = "served"
"""Directory of the packages."""
_PRESSES: Final = {"on": "On", "off": "ForceOff"}


class Control:
    """Does what devices are told.

    Parameters
    ----------
    order
        What they are.
    controllers
        The controllers.
    servers
        The servers behind them.
    switches
        The switches.
    """

    def __init__(self, order: DevicesOrder, controllers: Emulation, servers: Servers, switches: Switches) -> None:
        self._profiles = {server.name: server.profile for server in order.servers}
        self._controllers, self._servers, self._switches = controllers, servers, switches
        self._verbs: Mapping[str, Callable[[str, dict[str, Any]], Any]] = {
            "status": lambda _name, _more: {"servers": servers.status(), "switches": switches.status()},
            "bmc": self._disturb,
            "switch": self._disturb_switch,
            "power": self._press,
            "reset": lambda _name, _more: self._reset(),
        }

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what is asked.

        Parameters
        ----------
        request
            `verb`, `what` it is done to, and what belongs to it.

        Returns
        -------
        dict
            `result`, or `error` in a sentence.
        """
        verb, what = str(request.get("verb", "")), str(request.get("what", ""))
        try:
            return {"result": _named(self._verbs, verb, "verb")(what, request)}
        except Refusal as refusal:
            return {"error": refusal.text}
        except (KvplanError, LookupError, TypeError, ValueError) as error:
            return {"error": error.message if isinstance(error, KvplanError) else f"{verb} {what}: {error!r}"}

    def _disturb(self, name: str, more: dict[str, Any]) -> None:
        """Let something go wrong at a controller, or in its server."""
        state = _named(self._controllers.states, name, "server")
        if "drives" in more:
            self._servers.change_drives(name, tuple(map(str, more["drives"])))
            return
        with state.lock:
            disturb_controller(state, self._profiles[name], str(more["fault"]), more)

    def _disturb_switch(self, name: str, more: dict[str, Any]) -> None:
        """Let something go wrong at a switch."""
        switch = _named(self._switches.switches, name, "switch")
        with switch.lock:
            disturb_switch(switch, str(more["fault"]), more)

    def _reset(self) -> None:
        """Let every controller behave, and every switch be as new."""
        for name, state in self._controllers.states.items():
            with state.lock:
                disturb_controller(state, self._profiles[name], "", {})
        for switch in self._switches.switches.values():
            with switch.lock:
                switch.reset()

    def _press(self, name: str, more: dict[str, Any]) -> None:
        """Be the person at the button."""
        kind = _named(_PRESSES, str(more.get("to", "")), "power")
        _named(self._controllers.controllers, name, "server").press(kind)


def main(directory: Path) -> int:
    """Be the devices of a directory until told to end.

    Parameters
    ----------
    directory
        Where their order is, and where they listen.

    Returns
    -------
    int
        0, or 1 when they could not begin.
    """
    try:
        order = DevicesOrder.model_validate_json((directory / ORDER).read_text(encoding="utf-8"))
        with running(order, directory) as control, served(control, directory / f".{CONTROL}") as server:
            # It is there only once it listens.
            (directory / f".{CONTROL}").rename(directory / CONTROL)
            with suppress(SystemExit):
                server.serve_forever()
    except (KvplanError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    finally:
        (directory / CONTROL).unlink(missing_ok=True)
    return 0


@contextmanager
def running(order: DevicesOrder, directory: Path) -> Iterator[Control]:
    """Run all devices for as long as the context lasts.

    Parameters
    ----------
    order
        What they are.
    directory
        Where files for installed servers and packages are.

    Yields
    ------
    Control
        What they can be told.
    """
    rack = Rack.at(Path(order.rack))
    switches = Switches(order, rack.plan, rack.request)
    present = {node.name for node in rack.plan.nodes}
    orders = tuple(server for server in order.servers if server.name in present)
    servers = Servers(
        orders,
        rack.request,
        directory,
        user=order.user,
        known_hosts=rack.known_hosts,
        installer_s=order.installer_s,
    )
    with ExitStack() as stack:
        stack.callback(switches.speakers.end)
        switches.speakers.begin()
        stack.enter_context(packages_served(directory / SERVED, order.media, order.media_port))
        controllers = stack.enter_context(
            bmc_emulation.emulated(
                [Machine(server.name, server.serial, server.model) for server in orders],
                {server.name: PROFILES[server.profile] for server in orders},
                on_boot=servers.boot,
                on_stop=servers.stop,
                addresses={server.name: (server.address, server.port) for server in orders},
                credentials={server.name: (server.user, server.password) for server in orders},
                tls=True,
            )
        )
        stack.callback(servers.end)
        servers.begin(controllers.states)
        stack.enter_context(
            nvue_emulation.emulated(
                switches.switches.values(),
                switches.wiring,
                addresses={name: (address, nvue_emulation.PORT) for name, address in switches.addresses.items()},
                observed=switches.sessions,
                links=switches.links,
                heard=switches.heard,
                within=switches.within,
            )
        )
        yield Control(order, controllers, servers, switches)


class _Quiet(SimpleHTTPRequestHandler):
    """Hands out files and says nothing of it."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the overridden method
        """Write nothing."""


@contextmanager
def packages_served(root: Path, address: str, port: int) -> Iterator[str]:
    """Serve packages, in directories as deep as repositories have them.

    Parameters
    ----------
    root
        Their directory, which is made where it is missing.
    address
        Address to listen at.
    port
        Port to listen at.

    Yields
    ------
    str
        The address of the root.
    """
    root.mkdir(exist_ok=True)

    class Handler(_Quiet):
        """Hands out what is below the root."""

        def __init__(self, *request: Any) -> None:
            super().__init__(*request, directory=str(root))

    server = ClosingServer((address, port), Handler)
    with serving(server, "packages"):
        yield server.url


def _named(held: Mapping[str, Any], name: str, noun: str) -> Any:
    """Find something by name."""
    if name not in held:
        message = f"no {noun} {name} {did_you_mean(name, held)}".rstrip()
        raise UsageError(message)
    return held[name]
