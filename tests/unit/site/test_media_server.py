"""The server of boot media: heads, ranges, many at once, and nothing but the files of one directory."""

from __future__ import annotations

import http.client
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import enumerate as threads
from typing import TYPE_CHECKING

import pytest

from kvplan.errors import InputError
from kvplan.site.media.server import MediaHttpServer, Served, range_of, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONTENT = bytes(range(256)) * 40
SIZE = len(CONTENT)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a root with an image, and with what must not be served."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret").write_text("secret")
    root = tmp_path_factory.mktemp("root")
    (root / "kv" / "deep").mkdir(parents=True)
    (root / "kv" / "x.iso").write_bytes(CONTENT)
    (root / "kv" / "empty.iso").touch()
    (root / "kv" / ".hidden").write_text("hidden")
    (root / "kv" / "deep" / "y.iso").write_text("deep")
    (root / "top.iso").write_text("top")
    (root / "kv" / "link.iso").symlink_to(outside / "secret")
    (root / "away").symlink_to(outside)
    return root


@pytest.fixture(scope="module")
def log() -> list[Served]:
    """Give the log."""
    return []


@pytest.fixture(scope="module")
def server(root: Path, log: list[Served]) -> Iterator[MediaHttpServer]:
    """Serve the root."""
    with serving(root, "127.0.0.1", 0, log.append) as server:
        yield server


def _ask(
    server: MediaHttpServer, method: str, path: str, byte_range: str | None = None
) -> tuple[http.client.HTTPResponse, bytes]:
    """Ask once."""
    host, port = server.server_address[:2]
    with closing(http.client.HTTPConnection(str(host), port, timeout=10)) as connection:
        connection.request(method, path, headers={"Range": byte_range} if byte_range else {})
        response = connection.getresponse()
        return response, response.read()


def _address(server: MediaHttpServer) -> tuple[str, int]:
    """Return host and port of a server."""
    host, port = server.server_address[:2]
    return str(host), port


def _connected(server: MediaHttpServer) -> socket.socket:
    """Connect without saying anything."""
    return socket.create_connection(_address(server), timeout=10)


def test_a_whole_image(server: MediaHttpServer) -> None:
    response, body = _ask(server, "GET", "/kv/x.iso")
    assert (response.status, body) == (200, CONTENT)
    assert response.getheader("Accept-Ranges") == "bytes"
    assert response.getheader("Content-Length") == str(SIZE)


def test_the_head_of_an_image(server: MediaHttpServer) -> None:
    response, body = _ask(server, "HEAD", "/kv/x.iso", "bytes=0-9")
    assert (response.status, body) == (200, b"")
    assert response.getheader("Content-Length") == str(SIZE)
    assert response.getheader("Accept-Ranges") == "bytes"


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=100-299", 100, 299),
        (f"bytes=100-{SIZE * 2}", 100, SIZE - 1),
        ("bytes=10000-", 10_000, SIZE - 1),
        ("bytes=-16", SIZE - 16, SIZE - 1),
        (f"bytes={SIZE - 1}-", SIZE - 1, SIZE - 1),
    ],
)
def test_a_range(asked: str, first: int, last: int, server: MediaHttpServer) -> None:
    response, body = _ask(server, "GET", "/kv/x.iso", asked)
    assert (response.status, body) == (206, CONTENT[first : last + 1])
    assert response.getheader("Content-Range") == f"bytes {first}-{last}/{SIZE}"
    assert response.getheader("Content-Length") == str(last - first + 1)


@pytest.mark.parametrize("asked", [f"bytes={SIZE}-", f"bytes={SIZE}-{SIZE + 5}", "bytes=-0"])
def test_a_range_outside(asked: str, server: MediaHttpServer) -> None:
    response, body = _ask(server, "GET", "/kv/x.iso", asked)
    assert (response.status, body) == (416, b"")
    assert response.getheader("Content-Range") == f"bytes */{SIZE}"


@pytest.mark.parametrize("asked", ["bytes=5-2", "bytes=-", "bytes=0-1,5-6", "lines=1-2", "bytes=a-b", "0-5"])
def test_a_range_that_may_be_ignored_is(asked: str, server: MediaHttpServer) -> None:
    response, body = _ask(server, "GET", "/kv/x.iso", asked)
    assert (response.status, body) == (200, CONTENT)


def test_a_suffix_longer_than_the_file_is_the_file() -> None:
    assert range_of("bytes=-50", 10) == range(10)


def test_an_empty_file(server: MediaHttpServer) -> None:
    assert _ask(server, "GET", "/kv/empty.iso")[0].status == 200
    assert _ask(server, "GET", "/kv/empty.iso", "bytes=0-")[0].status == 416


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/kv",
        "/kv/",
        "/top.iso",
        "/kv/absent.iso",
        "/kv/deep/y.iso",
        "/kv/deep",
        "/kv/.hidden",
        "/kv/link.iso",
        "/away/secret",
        "/kv/../top.iso",
        "/../outside/secret",
        "/%2e%2e/secret",
        "/kv/..%2f..%2fsecret",
        "/kv/x.iso%00",
        "/kv/" + "x" * 300,
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_nothing_else_is_served(method: str, path: str, server: MediaHttpServer) -> None:
    response, body = _ask(server, method, path)
    assert response.status == 404
    assert b"secret" not in body


def test_a_query_is_left_out(server: MediaHttpServer) -> None:
    assert _ask(server, "GET", "/kv/x.iso?a=/../b")[1] == CONTENT


def test_nothing_is_taken(server: MediaHttpServer) -> None:
    assert _ask(server, "PUT", "/kv/x.iso")[0].status == 501


def test_a_connection_is_kept(server: MediaHttpServer) -> None:
    host, port = server.server_address[:2]
    with closing(http.client.HTTPConnection(str(host), port, timeout=10)) as connection:
        connection.connect()
        own = connection.sock.getsockname()
        for path, byte_range in (("/kv/x.iso", "bytes=0-9"), ("/kv/x.iso", f"bytes={SIZE}-"), ("/kv/x.iso", "")):
            connection.request("GET", path, headers={"Range": byte_range})
            connection.getresponse().read()
            assert connection.sock.getsockname() == own


def test_many_at_once(server: MediaHttpServer) -> None:
    ranges = [(start, start + 511) for start in range(0, SIZE - 512, 64)]

    def fetch(asked: tuple[int, int]) -> bytes:
        return _ask(server, "GET", "/kv/x.iso", f"bytes={asked[0]}-{asked[1]}")[1]

    with ThreadPoolExecutor(16) as pool:
        for (first, last), body in zip(ranges, pool.map(fetch, ranges), strict=True):
            assert body == CONTENT[first : last + 1]


def test_answers_are_logged(root: Path) -> None:
    log: list[Served] = []
    with serving(root, "127.0.0.1", 0, log.append) as server:
        _ask(server, "GET", "/kv/x.iso", "bytes=100-199")
        _ask(server, "HEAD", "/kv/x.iso")
        _ask(server, "GET", "/kv/absent.iso")
    # Each connection is answered by a thread of its own, and two may finish in either order.
    assert sorted(log, key=lambda served: served.status) == [
        Served("127.0.0.1", "HEAD", "/kv/x.iso", 200, 0, 0),
        Served("127.0.0.1", "GET", "/kv/x.iso", 206, 100, 100),
        Served("127.0.0.1", "GET", "/kv/absent.iso", 404, 0, 0),
    ]


def test_what_is_no_request_is_refused(root: Path) -> None:
    log: list[Served] = []
    with serving(root, "127.0.0.1", 0, log.append) as server, _connected(server) as connection:
        connection.sendall(b"nonsense\r\n\r\n")
        assert b"400" in connection.recv(1000)
    assert [(served.path, served.status) for served in log] == [("", 400)]


def test_a_client_that_goes_away_is_no_error(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log: list[Served] = []
    large = root / "kv" / "large.iso"
    with large.open("wb") as file:
        file.truncate(64 << 20)
    with serving(root, "127.0.0.1", 0, log.append) as server, _connected(server) as connection:
        connection.sendall(b"GET /kv/large.iso HTTP/1.1\r\nHost: x\r\n\r\n")
        connection.recv(1000)
    assert [served.status for served in log] == [200]
    assert 0 < log[0].sent_bytes < 64 << 20
    assert capfd.readouterr() == ("", "")


def test_nothing_stays_behind(root: Path) -> None:
    before = set(threads())
    with serving(root, "127.0.0.1", 0) as server:
        idle = _connected(server)
        idle.sendall(b"HEAD /kv/x.iso HTTP/1.1\r\nHost: x\r\n\r\n")
        assert idle.recv(1000)
        address = _address(server)
    with closing(idle):
        assert idle.recv(1000) == b""
    assert set(threads()) <= before
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=10)


def test_a_port_that_is_taken_is_named(root: Path, server: MediaHttpServer) -> None:
    host, port = _address(server)
    expected = f"{host}:{port}: cannot be listened at: address already in use"
    with pytest.raises(InputError, match=expected), serving(root, host, port):
        pass


def test_the_url_of_a_server(root: Path, server: MediaHttpServer) -> None:
    assert server.url == f"http://127.0.0.1:{server.server_address[1]}"
    try:
        with serving(root, "::1", 0) as six:
            assert six.url == f"http://[::1]:{six.server_address[1]}"
    except InputError:
        pytest.skip("no IPv6 here")
