"""The same calls against a service that others wrote: sushy-emulator, of the package sushy-tools."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import uuid
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from redfish_cases import image_below

from kvplan.deploy.redfish.controller import Controller
from kvplan.deploy.redfish.errors import RedfishError, Trouble
from kvplan.deploy.redfish.timing import Timing
from kvplan.site.media.server import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow
START = "import sys; from sushy_tools.emulator.main import main; sys.exit(main())"


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    configuration = tmp_path / "emulator.conf"
    system = {"uuid": str(uuid.uuid4()), "name": "stor01", "power_state": "Off", "nics": []}
    settings = {
        "SUSHY_EMULATOR_FAKE_DRIVER": True,
        "SUSHY_EMULATOR_LISTEN_IP": "127.0.0.1",
        "SUSHY_EMULATOR_LISTEN_PORT": port,
        "SUSHY_EMULATOR_STATE_DIR": str(tmp_path),
        "SUSHY_EMULATOR_FAKE_SYSTEMS": [system],
    }
    configuration.write_text("".join(f"{key} = {value!r}\n" for key, value in settings.items()), encoding="utf-8")
    command = [sys.executable, "-c", START, "--config", str(configuration)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as emulator:
        try:
            yield _answering(f"http://127.0.0.1:{port}")
        finally:
            emulator.terminate()


def test_a_foreign_service_is_led_through_an_installation(url: str, tmp_path: Path) -> None:
    root = tmp_path / "media"
    root.mkdir()
    path = image_below(root)
    timing = Timing(poll_s=0.2, retry_s=0.01, tries=2, power_s=60)
    with serving(root, "127.0.0.1", 0) as media, Controller(url, "ADMIN", "ADMIN", timing=timing) as controller:
        image = f"{media.url}{path}"
        assert controller.identify().power == "Off"
        controller.require_licence()
        assert [controller.insert(image), controller.insert(image)] == [True, False]
        with pytest.raises(RedfishError) as failure:  # it keeps every override for good
            controller.boot_once()
        assert failure.value.message_id == Trouble.BOOT_OVERRIDE_CONTINUOUS
        controller.boot_once(once_only=False)
        assert controller.boot_override()["target"] == "Cd"
        assert [controller.power("on"), controller.power("on")] == [True, False]
        assert [controller.eject(), controller.eject()] == [True, False]


def _answering(url: str) -> str:
    """Wait until the service answers."""
    end = time.monotonic() + 20
    while True:
        try:
            with urlopen(f"{url}/redfish/v1/", timeout=5):  # noqa: S310 - the emulator's own
                return url
        except URLError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
