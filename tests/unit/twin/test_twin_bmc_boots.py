"""What an emulated machine starts from: its image only where override, media and their server are all right."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler
from threading import Thread
from typing import TYPE_CHECKING

import pytest
from redfish_cases import ISO, Bench, ask, bench, image_below

from kvplan.site.media.server import serving
from kvplan.twin.bmc.profiles import CLEAN, PROFILES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kvplan.twin.bmc.profiles import Profile

RESET = "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset"
INSERT = "/redfish/v1/Managers/1/VirtualMedia/VirtualMedia1/Actions/VirtualMedia.InsertMedia"
ONCE = {"Enabled": "Once", "Target": "Cd", "Mode": "UEFI"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    path = image_below(tmp_path)
    (tmp_path / "kv" / "no.iso").write_bytes(bytes(len(ISO)))
    (tmp_path / "kv" / "short.iso").write_bytes(b"CD001")
    with serving(tmp_path, "127.0.0.1", 0) as server:
        yield f"{server.url}{path}"


def test_the_right_override_and_image_start_the_image_once(served: str) -> None:
    with bench() as one:
        _prepare(one, served)
        for kind in ("On", "ForceRestart"):
            ask(one.url, "POST", RESET, {"ResetType": kind})
    assert one.started == [served, None]
    assert one.state.boots[1].why_not == "no boot override is set"


def test_a_continuous_override_starts_the_image_again_and_again(served: str) -> None:
    with bench() as one:
        _prepare(one, served, ONCE | {"Enabled": "Continuous"})
        for kind in ("On", "GracefulRestart", "PowerCycle"):
            ask(one.url, "POST", RESET, {"ResetType": kind})
    assert one.started == [served] * 3


def test_a_machine_that_is_on_is_not_started_by_on(served: str) -> None:
    with bench() as one:
        _prepare(one, served)
        for kind in ("On", "On", "GracefulShutdown", "ForceOff"):
            assert ask(one.url, "POST", RESET, {"ResetType": kind}).status == 204
    assert one.started == [served]


@pytest.mark.parametrize(
    ("profile", "override", "why"),
    [
        ("clean", {}, "no boot override is set"),
        ("clean", ONCE | {"Target": "Hdd"}, "target Hdd does not reach the virtual drive"),
        ("only-usbcd-boots", ONCE, "target Cd does not reach the virtual drive"),
        ("clean", ONCE | {"Mode": "Legacy"}, "the override's mode is Legacy"),
        ("mode-resets", {"Enabled": "Once", "Target": "Cd"}, "the override's mode is Legacy"),
        ("ami-override-lost", ONCE, "no boot override is set"),
    ],
)
def test_a_wrong_override_starts_the_drive(served: str, profile: str, override: dict[str, str], why: str) -> None:
    with bench(PROFILES[profile]) as one:
        _prepare(one, served, override)
        ask(one.url, "POST", RESET, {"ResetType": "On"})
    assert one.started == [None]
    assert one.state.boots[0].why_not == why


def test_no_image_starts_the_drive() -> None:
    with bench() as one:
        _override(one, ONCE)
        ask(one.url, "POST", RESET, {"ResetType": "On"})
    assert one.state.boots[0] == (None, "no image is connected")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("gone.iso", "is not served: HEAD answers 404"),
        ("no.iso", "is no ISO 9660 image"),
        ("short.iso", "holds 5 bytes, which is no image"),
    ],
)
def test_a_wrong_image_starts_the_drive(served: str, name: str, why: str) -> None:
    wrong = served.replace("a.iso", name)
    assert _started_from(wrong) == f"{wrong} {why}"


def test_a_server_that_is_not_there_starts_the_drive() -> None:
    assert "is not served: " in _started_from("http://127.0.0.1:9/kv/a.iso")


def test_a_server_without_ranges_starts_the_drive(tmp_path: Path) -> None:
    path = image_below(tmp_path)
    with _plain_server(tmp_path, says_ranges=False) as url:
        assert _started_from(f"{url}{path}").endswith("is not served by ranges")
    with _plain_server(tmp_path, says_ranges=True) as url:
        assert _started_from(f"{url}{path}").endswith("is not served by ranges: a range answers 200")


def _started_from(image: str, profile: Profile = CLEAN) -> str:
    """Start a machine from an image, and say why it did not."""
    with bench(profile) as one:
        _prepare(one, image)
        ask(one.url, "POST", RESET, {"ResetType": "On"})
    assert one.started == [None]
    return one.state.boots[0].why_not


def _prepare(one: Bench, image: str, override: dict[str, str] = ONCE) -> None:
    """Insert an image and set the override."""
    assert ask(one.url, "POST", INSERT, {"Image": image}).status == 204
    _override(one, override)


def _override(one: Bench, override: dict[str, str]) -> None:
    """Set the override."""
    boot = {f"BootSourceOverride{key}": value for key, value in override.items()}
    assert ask(one.url, "PATCH", body={"Boot": boot}).status == 200


@contextmanager
def _plain_server(root: Path, *, says_ranges: bool) -> Iterator[str]:
    """Serve whole files only, and say that ranges are served all the same."""
    kind = _Boasting if says_ranges else _Whole
    server = HTTPServer(("127.0.0.1", 0), partial(kind, directory=str(root)))
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Whole(SimpleHTTPRequestHandler):
    """Whole files."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the overridden method
        """Say nothing."""


class _Boasting(_Whole):
    """Whole files, said to be served by ranges."""

    def end_headers(self) -> None:
        """Say so."""
        self.send_header("Accept-Ranges", "bytes")
        super().end_headers()
