"""The connection to a controller: Basic authentication only, so that no session is ever left open."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from kvplan.deploy.redfish.errors import RedfishError, Trouble

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from kvplan.deploy.redfish.timing import Timing

_CONNECT_S: Final = 10
_READ_S: Final = 60
_CONNECT_TRIES: Final = 3
_ABSENT: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED)


class Link:
    """A controller, what it controls, and plain requests to it; opened by the first of them."""

    def __init__(
        self, address: str, credentials: tuple[str, str], kind: str, *, verify: bool | Path, timing: Timing
    ) -> None:
        self.address = address
        self.kind = kind
        self.timing = timing
        self._sushy = _sushy()
        self.http_error: type[Exception] = self._sushy.exceptions.HTTPError
        self._credentials = credentials
        # One try each: how often to try again is decided here, by the clock that was given.
        inner = self._sushy.connector.Connector(
            _url(address),
            verify=verify if isinstance(verify, bool) else str(verify),
            server_side_retries=1,
            default_request_timeout=_READ_S,
            connect_timeout=_CONNECT_S,
        )
        self._connector = _PatientConnector(inner, self._sushy.exceptions, timing)

    def close(self) -> None:
        """Close the connection."""
        self._connector.close()

    @contextmanager
    def told(self) -> Iterator[None]:
        """Turn what sushy raises into the error of this package.

        Yields
        ------
        None
            While requests are made.

        Raises
        ------
        RedfishError
            For whatever sushy raised, and for answers that lack what the standard wants in them.
        """
        try:
            yield
        except self._sushy.exceptions.SushyError as error:
            raise RedfishError.of(self.address, error) from error
        except (LookupError, TypeError, ValueError) as error:
            what = f"{self.address} shows what the standard does not: {type(error).__name__} {error}"
            raise RedfishError(Trouble.NOT_REDFISH, what) from error

    @cached_property
    def root(self) -> Any:
        """The service."""
        auth = self._sushy.auth.BasicAuth(*self._credentials)
        return self._sushy.Sushy(_url(self.address), auth=auth, connector=self._connector)

    @cached_property
    def system(self) -> Any:
        """The server: of several systems the first that can be told what to boot."""
        for member in self.root.get_system_collection().get_members():
            if "Boot" in member.json:
                return member
        what = f"{self.address} shows no system that can be told what to boot"
        raise RedfishError(Trouble.NO_SYSTEM, what)

    @cached_property
    def managers(self) -> tuple[str, ...]:
        """The paths of the controllers that answer here."""
        return tuple(member.path for member in self._managers)

    @cached_property
    def collections(self) -> tuple[str, ...]:
        """The paths of the collections of virtual drives, wherever they are shown."""
        owners = (*self._managers, self.system)
        return tuple(
            dict.fromkeys(owner.json["VirtualMedia"]["@odata.id"] for owner in owners if "VirtualMedia" in owner.json)
        )

    @cached_property
    def _managers(self) -> list[Any]:
        """The controllers that answer here."""
        members: list[Any] = self.root.get_manager_collection().get_members()
        return members

    def drive(self, path: str) -> Any:
        """Take a virtual drive as sushy's, which knows what some controllers want of an insertion."""
        kind = self._sushy.resources.manager.virtual_media.VirtualMedia
        return kind(self._connector, path, redfish_version=self.root.redfish_version, root=self.root)

    def read(self, path: str) -> tuple[dict[str, Any], str | None]:
        """Read a resource and its version, as they are now."""
        response = self._connector.get(path)
        body: dict[str, Any] = response.json()
        return body, response.headers.get("ETag") or body.get("@odata.etag")

    def find(self, path: str) -> dict[str, Any] | None:
        """Read a resource that may not exist."""
        try:
            return self.read(path)[0]
        except self.http_error as error:
            if status_of(error) in _ABSENT:
                return None
            raise

    def change(self, path: str, body: Mapping[str, Any], version: str | None = None) -> None:
        """Change a resource, if it is still at the version that was read."""
        # By a header of our own: given as `etag`, sushy would try without it when it is refused.
        self._connector.patch(path, data=dict(body), headers={"If-Match": version} if version else None)

    def act(self, path: str, body: Mapping[str, Any]) -> None:
        """Carry out an action."""
        self._connector.post(path, data=dict(body))


class _PatientConnector:
    """A connector of sushy's that asks again while the controller is busy."""

    def __init__(self, inner: Any, exceptions: Any, timing: Timing) -> None:
        self._inner = inner
        self._exceptions = exceptions
        self._timing = timing

    def __getattr__(self, name: str) -> Any:
        """Be the connector in all else."""
        return getattr(self._inner, name)

    def get(self, *args: Any, **kwargs: Any) -> Any:
        """Read."""
        return self._asked(self._inner.get, args, kwargs, (self._exceptions.ConnectionError,))

    def patch(self, *args: Any, **kwargs: Any) -> Any:
        """Change."""
        return self._asked(self._inner.patch, args, kwargs)

    def post(self, *args: Any, **kwargs: Any) -> Any:
        """Act."""
        return self._asked(self._inner.post, args, kwargs)

    def _asked(self, ask: Callable[..., Any], args: Any, kwargs: Any, passing: tuple[type[Exception], ...] = ()) -> Any:
        """Ask again after 503, which says that nothing was done; a few times after what passes besides."""
        for attempt in range(1, self._timing.tries):
            try:
                return ask(*args, **kwargs)
            except self._exceptions.ServerSideError as error:
                if status_of(error) != HTTPStatus.SERVICE_UNAVAILABLE:
                    raise
            except passing:
                if attempt >= _CONNECT_TRIES:
                    raise
            self._timing.sleep(self._timing.retry_s)
        return ask(*args, **kwargs)


def status_of(error: Exception) -> int:
    """Read the status of a refusal."""
    return int(getattr(error, "status_code", 0) or 0)


def _url(address: str) -> str:
    """Write an address as a URL.

    >>> _url("10.0.0.1"), _url("fd00::1"), _url("http://127.0.0.1:80/")
    ('https://10.0.0.1', 'https://[fd00::1]', 'http://127.0.0.1:80')
    """
    if "://" in address:
        return address.rstrip("/")
    return f"https://[{address}]" if address.count(":") > 1 else f"https://{address}"


def _sushy() -> Any:
    """Import sushy, which takes long and is an extra."""
    try:
        import sushy  # noqa: PLC0415 - takes half a second, and most of kvplan works without
        import sushy.auth  # noqa: PLC0415
        import sushy.connector  # noqa: PLC0415
        import sushy.resources.manager.virtual_media  # noqa: PLC0415
    except ImportError as error:
        what = "the Python package sushy is not installed"
        raise RedfishError(Trouble.SUSHY_MISSING, what) from error
    # What it warns of is handled here; without a handler it would go to the terminal.
    logging.getLogger("sushy").addHandler(logging.NullHandler())
    return sushy
