"""Boot media while a phase runs: served by this program, or by whoever is at that address already."""

from __future__ import annotations

import socket
from http.client import HTTPConnection
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from kvplan.deploy.mediaserver import Fetched, media_served
from kvplan.errors import InputError
from kvplan.site.media.server import serving

if TYPE_CHECKING:
    from pathlib import Path

HOST = "127.0.0.1"
SIZE = 1_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "kv").mkdir()
    (tmp_path / "kv" / "a.iso").write_bytes(bytes(SIZE))
    return tmp_path


def test_each_tenth_that_a_controller_was_sent_is_told(root: Path) -> None:
    told: list[Fetched] = []
    port = _free_port()
    with media_served(root, HOST, port, told.append) as own:
        assert own
        asked = [f"bytes={part}" for part in ("0-49", "50-99", "100-149", "150-599", "600-999")]
        assert _statuses(port, "/kv/a.iso", *asked) == [206] * 5
        assert _statuses(port, "/kv/b.iso") == [404]
    assert [part.sent_bytes for part in told] == [100, 600, 1_000]
    assert told[0] == Fetched(HOST, "/kv/a.iso", 100, SIZE)
    assert not _listens(port)


def test_without_a_listener_it_serves_all_the_same(root: Path) -> None:
    port = _free_port()
    with media_served(root, HOST, port):
        assert _statuses(port, "/kv/a.iso") == [200]


def test_a_web_server_of_the_site_is_left_to_serve(root: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "elsewhere", HOST, 0) as site:
        port = urlsplit(site.url).port or 0
        with media_served(root, HOST, port) as own:
            assert own is False
        assert _statuses(port, "/") == [404]


def test_an_address_that_nobody_serves_at_is_refused(root: Path) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match="cannot be listened at"), media_served(root, HOST, port):
            pass


def test_what_fails_in_the_phase_is_not_taken_for_a_taken_address(root: Path) -> None:
    port, failure = _free_port(), InputError.single("phase", "failed")
    with pytest.raises(InputError, match="phase"), media_served(root, HOST, port):
        raise failure
    assert not _listens(port)


def _free_port() -> int:
    """Find a port that nobody listens at."""
    with socket.socket() as held:
        held.bind((HOST, 0))
        port: int = held.getsockname()[1]
        return port


def _listens(port: int) -> bool:
    """Tell whether somebody listens."""
    with socket.socket() as asking:
        return asking.connect_ex((HOST, port)) == 0


def _statuses(port: int, path: str, *ranges: str) -> list[int]:
    """Ask for a file, or for ranges of it over one connection, and read all answers to their end."""
    connection = HTTPConnection(HOST, port, timeout=10)
    statuses = []
    try:
        for wanted in ranges or ("",):
            connection.request("GET", path, headers={"Range": wanted} if wanted else {})
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
    finally:
        connection.close()
    return statuses
