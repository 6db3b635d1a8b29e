"""LLDP of the switches: frames on the rack's own links, so that a cable is seen by what comes over it."""

from __future__ import annotations

import selectors
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.twin.programs.node.neighbours import frame, heard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager

_PROTOCOL: Final = 0x88CC
_LIVES_S: Final = 120
"""How long a neighbour is remembered that is not heard again."""
_GREATEST: Final = 2048


class Wire:
    """A port of the kernel's, for LLDP alone.

    Parameters
    ----------
    interface
        Its name, in the namespace of the calling thread.
    """

    def __init__(self, interface: str) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_PROTOCOL))
        self._socket.bind((interface, _PROTOCOL))
        self.mac: str = self._socket.getsockname()[4].hex(":")

    def fileno(self) -> int:
        """Return what can be waited for."""
        return self._socket.fileno()

    def send(self, data: bytes) -> None:
        """Send a frame; a port that is down sends none."""
        with suppress(OSError):
            self._socket.send(data)

    def receive(self) -> bytes:
        """Return the frame that came; nothing where it is one that was sent here, or the port went down."""
        with suppress(OSError):
            data, sender = self._socket.recvfrom(_GREATEST)
            return b"" if sender[2] == socket.PACKET_OUTGOING else data
        return b""

    def close(self) -> None:
        """Listen no more."""
        self._socket.close()


class Link(NamedTuple):
    """A port that can be listened at: of which switch, what the switch calls it, and what the kernel does."""

    switch: str
    port: str
    interface: str


@dataclass(slots=True)
class _Ear:
    """A port that is listened at, and what was heard last: the name of a system, its port, and when."""

    link: Link
    wire: Wire
    heard: tuple[str, str] = ("", "")
    at_s: float = 0.0


class Speakers:
    """The LLDP daemons of the switches.

    Parameters
    ----------
    links
        Every port that has a link in the rack.
    within
        Enters the place of a switch.
    name_of
        The name that a switch gives itself.
    interval_of
        How often it tells its neighbours [s].
    opened
        Listens at an interface.
    """

    def __init__(
        self,
        links: Iterable[Link],
        within: Callable[[str], AbstractContextManager[None]],
        name_of: Callable[[str], str],
        interval_of: Callable[[str], float],
        opened: Callable[[str], Wire] = Wire,
    ) -> None:
        self._links, self._within, self._opened = tuple(links), within, opened
        self._name_of, self._interval_of = name_of, interval_of
        self._ears: list[_Ear] = []
        self._due = dict.fromkeys((link.switch for link in self._links), 0.0)
        self._bell: tuple[socket.socket, socket.socket] | None = None
        self._lock, self._over = Lock(), Event()
        self._thread = Thread(target=self._run, name="lldp")

    def begin(self) -> None:
        """Speak and listen from now on."""
        self._bell = socket.socketpair()
        for link in self._links:
            with self._within(link.switch):
                self._ears.append(_Ear(link, self._opened(link.interface)))
        self._thread.start()

    def end(self) -> None:
        """Fall silent."""
        self._over.set()
        self._ring()
        self._thread.join()
        for held in (*(ear.wire for ear in self._ears), *(self._bell or ())):
            held.close()

    def announce(self, switch: str) -> None:
        """Let a switch tell its neighbours at once, as after a change of its name.

        Parameters
        ----------
        switch
            The switch.
        """
        with self._lock:
            self._due[switch] = 0.0
        self._ring()

    def neighbours(self, switch: str) -> Mapping[str, tuple[str, str]]:
        """List the neighbours that a switch hears.

        Parameters
        ----------
        switch
            The switch.

        Returns
        -------
        dict
            Name and port of each, by the switch's port.
        """
        oldest = time.monotonic() - _LIVES_S
        with self._lock:
            return {
                ear.link.port: ear.heard
                for ear in self._ears
                if ear.link.switch == switch and ear.heard[0] and ear.at_s > oldest
            }

    def _run(self) -> None:
        """Tell what is due, and hear what comes."""
        with selectors.DefaultSelector() as selector:
            for bell in (self._bell or ())[1:]:
                selector.register(bell, selectors.EVENT_READ)
            for ear in self._ears:
                selector.register(ear.wire, selectors.EVENT_READ, ear)
            while not self._over.is_set():
                for key, _ in selector.select(max(self._speak() - time.monotonic(), 0)):
                    self._attend(key)

    def _attend(self, key: selectors.SelectorKey) -> None:
        """Hear what came on a port; a bell only wakes."""
        if key.data:
            self._hear(key.data)
        elif isinstance(key.fileobj, socket.socket):
            key.fileobj.recv(_GREATEST)

    def _speak(self) -> float:
        """Let each switch tell that is due; return when the next one is."""
        now = time.monotonic()
        with self._lock:
            due = [name for name, when in self._due.items() if when <= now]
            self._due |= {name: now + self._interval_of(name) for name in due}
            later = min(self._due.values(), default=now + _LIVES_S)
        for ear in self._ears:
            if ear.link.switch in due:
                self._tell(ear)
        return later

    def _tell(self, ear: _Ear) -> None:
        """Say on a port whose it is."""
        ear.wire.send(frame(ear.wire.mac, ear.link.port, self._name_of(ear.link.switch)))

    def _hear(self, ear: _Ear) -> None:
        """Take a frame; a neighbour that is new is answered at once, for it has not heard of this switch yet."""
        told = heard(ear.wire.receive())
        if "name" not in told:
            return
        seen = (told["name"], told.get("port", ""))
        with self._lock:
            is_new = ear.heard != seen
            ear.heard, ear.at_s = seen, time.monotonic()
        if is_new:
            self._tell(ear)

    def _ring(self) -> None:
        """Let the thread look at what is due, if there is one by now."""
        for bell in (self._bell or ())[:1]:
            bell.send(b"x")
