"""LLDP of switches: who tells what to whom, and what is heard and forgotten."""

from __future__ import annotations

import socket
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from kvplan.twin.devices import lldp
from kvplan.twin.devices.lldp import Link, Speakers, Wire
from kvplan.twin.programs.node.neighbours import frame, heard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAC = "02:00:00:00:00:01"


class Pair(Wire):
    """An end of a cable between two interfaces of one test."""

    def __init__(self, end: socket.socket) -> None:
        self._socket, self.mac = end, MAC

    def receive(self) -> bytes:
        """Take a frame."""
        return self._socket.recv(2048)


class Rack:
    """Two switches with a cable between them, and one towards a host."""

    def __init__(self) -> None:
        one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        port, self.host = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.ends = {"a1": Pair(one), "b1": Pair(other), "b2": Pair(port)}
        self.names = {"a": "cumulus", "b": "leaf-b"}
        self.entered: list[str] = []
        self.speakers = Speakers(
            [Link("a", "swp1", "a1"), Link("b", "swp9", "b1"), Link("b", "swp2", "b2")],
            self.within,
            lambda name: self.names[name],
            lambda _: 3600.0,
            self.ends.__getitem__,
        )

    @contextmanager
    def within(self, name: str) -> Iterator[None]:
        """Note where one is."""
        self.entered.append(name)
        yield


@pytest.fixture
def rack() -> Iterator[Rack]:
    """Give two switches that speak."""
    rack = Rack()
    rack.speakers.begin()
    yield rack
    rack.speakers.end()
    rack.host.close()


def eventually(reads: Callable[[], Any]) -> Any:
    """Wait until something is so."""
    deadline = time.monotonic() + 10
    while not (value := reads()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return value


def test_switches_hear_each_other(rack: Rack) -> None:
    eventually(lambda: rack.speakers.neighbours("a") == {"swp1": ("leaf-b", "swp9")})
    eventually(lambda: rack.speakers.neighbours("b") == {"swp9": ("cumulus", "swp1")})
    assert rack.entered == ["a", "b", "b"]
    rack.names["a"] = "leaf-a"
    rack.speakers.announce("a")
    eventually(lambda: rack.speakers.neighbours("b") == {"swp9": ("leaf-a", "swp1")})


def test_a_host_that_is_new_is_told_at_once_and_hears_no_more_then(rack: Rack) -> None:
    told = heard(rack.host.recv(2048))  # as the switch begins
    assert (told["name"], told["port"]) == ("leaf-b", "swp2")
    for _ in range(2):
        rack.host.send(frame(MAC, "client1p0", "storage-001"))
    assert heard(rack.host.recv(2048)) == told
    eventually(lambda: rack.speakers.neighbours("b").get("swp2") == ("storage-001", "client1p0"))
    rack.host.send(b"no frame at all")
    rack.host.setblocking(False)  # noqa: FBT003 - the only way to say it
    eventually(lambda: rack.speakers.neighbours("b").get("swp9"))
    with pytest.raises(BlockingIOError):
        rack.host.recv(2048)


def test_neighbours_that_fall_silent_are_forgotten(rack: Rack, monkeypatch: pytest.MonkeyPatch) -> None:
    eventually(lambda: rack.speakers.neighbours("a"))
    monkeypatch.setattr(lldp, "_LIVES_S", 0)
    assert rack.speakers.neighbours("a") == {}


class FakeSocket:
    """What an interface of the kernel's does."""

    def __init__(self, *kind: int) -> None:
        assert kind[0] == socket.AF_PACKET
        self.came: list[tuple[bytes, int]] = [(b"mine", socket.PACKET_OUTGOING), (b"theirs", socket.PACKET_HOST)]
        self.closed = False

    def bind(self, address: tuple[str, int]) -> None:
        """Listen."""
        assert address == ("swp1", 0x88CC)

    def getsockname(self) -> tuple[Any, ...]:
        """Tell the MAC address."""
        return ("swp1", 0x88CC, 0, 1, bytes.fromhex("020000000001"))

    def fileno(self) -> int:
        """Return a number."""
        return 7

    def send(self, data: bytes) -> None:
        """Be down."""
        raise OSError(data)

    def recvfrom(self, size: int) -> tuple[bytes, tuple[Any, ...]]:
        """Hand out what came."""
        assert size == 2048
        if not self.came:
            message = "the network is down"
            raise OSError(message)
        data, kind = self.came.pop(0)
        return data, ("swp1", 0x88CC, kind, 1, b"")

    def close(self) -> None:
        """End."""
        self.closed = True


def test_a_wire_hears_others_only_and_bears_a_port_that_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kvplan.twin.devices.lldp.socket.socket", FakeSocket)
    wire = Wire("swp1")
    assert (wire.mac, wire.fileno()) == (MAC, 7)
    wire.send(b"frame")
    assert [wire.receive(), wire.receive(), wire.receive()] == [b"", b"theirs", b""]
    wire.close()
