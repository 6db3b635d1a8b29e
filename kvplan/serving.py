"""HTTP servers that leave nothing behind: no connection, no thread."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator
    from http.server import BaseHTTPRequestHandler


class ClosingServer(ThreadingHTTPServer):
    """A server at one address, of IPv4 or IPv6; its connections end when it is closed.

    Parameters
    ----------
    address
        Host and port; port 0 takes a free one.
    handler
        Answers the requests of a connection.
    tls
        Speaks TLS, where it is given.
    """

    daemon_threads = False

    def __init__(
        self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], tls: ssl.SSLContext | None = None
    ) -> None:
        self._open: set[socket.socket] = set()
        self._scheme = "https" if tls else "http"
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, handler)
        if tls:
            # The handshake belongs to the thread of its connection: one that hangs must not keep the others out.
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    @property
    def url(self) -> str:
        """Its address, without a slash at the end."""
        host, port = self.server_address[:2]
        shown = f"[{host!s}]" if self.address_family == socket.AF_INET6 else str(host)
        return f"{self._scheme}://{shown}:{port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Note a connection, and serve it."""
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget a connection."""
        self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """End every connection, then wait for their threads."""
        for connection in tuple(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        super().server_close()


@contextmanager
def served(server: ClosingServer, name: str, poll_s: float = 0.05) -> Iterator[None]:
    """Serve in a thread that ends with the context.

    Parameters
    ----------
    server
        The server, which is closed at the end.
    name
        Name of the thread.
    poll_s
        How often it looks whether it is to end [s].

    Yields
    ------
    None
        While it serves.
    """
    thread = Thread(target=server.serve_forever, args=(poll_s,), name=name)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
