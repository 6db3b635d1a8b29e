"""What a start from a medium or from the own disk makes of a node, and how its power is told back."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from device_benches import NODES, FakeRack, order_in
from sites import deployment_of

from kvplan.site.media.server import serving
from kvplan.twin.bmc.emulation import Emulation, emulated
from kvplan.twin.bmc.machine import Machine
from kvplan.twin.bmc.profiles import CLEAN
from kvplan.twin.bmc.refusal import Refusal
from kvplan.twin.devices.media import write_media
from kvplan.twin.devices.servers import IDLE, Servers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

STORAGE, GPU = NODES


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make keys by counting, and look often."""
    made: list[str] = []

    def key(_path: Path, comment: str) -> tuple[str, str]:
        made.append(comment)
        return f"private {len(made)}\n", f"ssh-ed25519 public{len(made)} {comment}\n"

    monkeypatch.setattr("kvplan.twin.devices.servers.made_key", key)
    monkeypatch.setattr("kvplan.twin.devices.servers._LOOK_S", 0.02)


class Bench:
    """Two servers behind their controllers."""

    def __init__(self, rack: FakeRack, servers: Servers, controllers: Emulation, media: str) -> None:
        self.rack, self.servers, self.controllers, self.media = rack, servers, controllers, media

    def boot_from(self, name: str, medium: str, enabled: str = "Once") -> None:
        """Start a server from a medium."""
        state = self.controllers.states[name]
        slot = next(iter(state.slots.values()))
        slot.image, slot.connected = f"{self.media}/kv/{medium}.iso", True
        state.override |= {"enabled": enabled, "target": "Cd"}
        self.controllers.controllers[name].press("On")

    def doing(self, name: str) -> str:
        """Tell what a server is at."""
        return str(self.servers.status()[name]["doing"])


@contextmanager
def bench(place: Path, *, installer_s: float = 0.0) -> Iterator[Bench]:
    """Run two servers."""
    rack = FakeRack()
    orders = tuple(
        one.model_copy(update={"address": "127.0.0.1"}) for one in order_in(place).servers if one.name in NODES
    )
    (place / "installed").mkdir()
    (place / "installed" / f"{STORAGE}.json").write_text(json.dumps({"etc/motd": "hello\n"}), encoding="utf-8")
    (place / "known_hosts").write_text(f"10.0.0.1,{STORAGE},x old key\n10.0.0.2,{GPU} old key\n", encoding="utf-8")
    servers = Servers(
        orders,
        rack.request,
        place,
        user="kvplan",
        known_hosts=place / "known_hosts",
        installer_s=installer_s,
    )
    machines = [Machine(one.name, one.serial) for one in orders]
    write_media(deployment_of(8), place)
    with (
        serving(place, "127.0.0.1", 0) as media,
        emulated(machines, CLEAN, on_boot=servers.boot, on_stop=servers.stop) as controllers,
    ):
        servers.begin(controllers.states)
        try:
            yield Bench(rack, servers, controllers, media.url)
        finally:
            servers.end()


def eventually(reads: Callable[[], Any]) -> Any:
    """Wait until something is so."""
    deadline = time.monotonic() + 10
    while not (value := reads()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return value


def looked_thrice(rack: FakeRack) -> None:
    """Wait until the rack was asked for its power as often, so that what was seen has been shown."""
    seen = rack.looks
    eventually(lambda: rack.looks >= seen + 3)


def test_a_server_is_installed_from_its_own_medium_with_a_new_key(tmp_path: Path) -> None:
    with bench(tmp_path) as one:
        one.boot_from(STORAGE, STORAGE)
        eventually(lambda: one.rack.nodes[STORAGE]["on"])
        assert one.rack.asked == [("reinstall", STORAGE), ("on", STORAGE)]
        laid = one.rack.laid[STORAGE]
        assert laid["host_key"] == "private 1\n"
        assert laid["files"]["etc/motd"] == "hello\n"
        assert "serial=SNS0001\n" in laid["files"]["etc/kvplan/installed"]
        assert laid["files"]["home/kvplan/.ssh/authorized_keys"].startswith("ssh-ed25519 ")
        known = (tmp_path / "known_hosts").read_text(encoding="utf-8")
        assert known == f"10.0.0.1,{STORAGE},x ssh-ed25519 public1\n10.0.0.2,{GPU} old key\n"
        status = one.servers.status()[STORAGE]
        assert (status["power"], status["doing"]) == ("On", IDLE)
        assert status["boots"] == [f"{one.media}/kv/{STORAGE}.iso", "its own drive: no boot override is set"]
        one.controllers.controllers[STORAGE].press("ForceOff")
        one.boot_from(STORAGE, STORAGE)
        eventually(lambda: one.rack.nodes[STORAGE]["on"])
        assert one.rack.laid[STORAGE]["host_key"] == "private 2\n"


@pytest.mark.parametrize(
    ("medium", "drives", "why"),
    [
        (GPU, (), "the medium is that of the server SNC0001, and this is SNS0001"),
        (STORAGE, ("OTHER1", "OTHER2"), "serial BOOTS0001A matched 0 drives, must match one"),
    ],
)
def test_a_wrong_medium_or_drive_leaves_a_server_in_its_installer(
    tmp_path: Path, medium: str, drives: tuple[str, ...], why: str
) -> None:
    with bench(tmp_path) as one:
        one.servers.change_drives(STORAGE, drives)
        one.boot_from(STORAGE, medium)
        eventually(lambda: one.doing(STORAGE) == f"stays in its installer: {why}")
        assert one.rack.asked == []
        assert one.servers.status()[STORAGE]["power"] == "On"
        one.controllers.controllers[STORAGE].press("ForceOff")
        assert one.doing(STORAGE) == IDLE
        one.servers.change_drives(STORAGE, ())
        one.boot_from(STORAGE, STORAGE)
        eventually(lambda: one.rack.nodes[STORAGE]["on"])


def test_a_rack_that_refuses_leaves_a_server_in_its_installer(tmp_path: Path) -> None:
    with bench(tmp_path) as one:
        one.rack.refuses = "reinstall"
        one.boot_from(GPU, GPU)
        eventually(lambda: one.doing(GPU) == "stays in its installer: reinstall does not work")


def test_power_ends_an_installer_at_once(tmp_path: Path) -> None:
    with bench(tmp_path, installer_s=60) as one:
        one.boot_from(STORAGE, STORAGE)
        assert one.doing(STORAGE).startswith("installs from ")
        one.controllers.controllers[STORAGE].press("ForceOff")
        assert one.rack.asked == [("off", STORAGE)]
        assert (one.doing(STORAGE), one.servers.status()[STORAGE]["power"]) == (IDLE, "Off")


def test_an_override_that_stays_installs_again_and_again(tmp_path: Path) -> None:
    with bench(tmp_path, installer_s=0.01) as one:
        one.boot_from(STORAGE, STORAGE, "Continuous")
        eventually(lambda: one.rack.asked.count(("reinstall", STORAGE)) > 1)
        assert ("on", STORAGE) not in one.rack.asked
        one.controllers.states[STORAGE].slots["VirtualMedia1"].image = f"{one.media}/kv/gone.iso"
        eventually(lambda: one.rack.nodes[STORAGE]["on"])
        assert "is not served: HEAD answers 404" in one.servers.status()[STORAGE]["boots"][-1]


def test_without_a_medium_a_server_starts_what_is_on_its_disk(tmp_path: Path) -> None:
    with bench(tmp_path) as one:
        one.controllers.controllers[STORAGE].press("On")
        assert one.rack.asked == [("on", STORAGE)]
        one.controllers.controllers[STORAGE].press("ForceRestart")
        assert one.rack.asked[1:] == [("off", STORAGE), ("on", STORAGE)]


def test_controllers_show_the_power_that_nodes_have(tmp_path: Path) -> None:
    with bench(tmp_path) as one:
        one.controllers.controllers[STORAGE].press("On")
        one.rack.nodes[STORAGE]["on"] = False  # it died
        eventually(lambda: one.servers.status()[STORAGE]["power"] == "Off")
        one.rack.nodes[STORAGE]["on"] = True
        eventually(lambda: one.servers.status()[STORAGE]["power"] == "On")
        one.rack.refuses = "power"
        one.rack.nodes[STORAGE]["on"] = False
        looked_thrice(one.rack)
        assert one.servers.status()[STORAGE]["power"] == "On"
        one.rack.refuses = ""
        eventually(lambda: one.servers.status()[STORAGE]["power"] == "Off")


def test_power_that_is_just_changing_is_not_taken_back(tmp_path: Path) -> None:
    with bench(tmp_path) as one:
        state = one.controllers.states[GPU]
        with state.lock:
            state.acting, state.powered = True, True
        looked_thrice(one.rack)
        assert state.powered
        state.acting = False
        eventually(lambda: not state.powered)


def test_a_node_that_does_not_follow_is_told_to_who_pressed(tmp_path: Path) -> None:
    with bench(tmp_path) as one:
        one.rack.refuses = "on"
        with pytest.raises(Refusal, match="The machine did not start: on does not work"):
            one.controllers.controllers[STORAGE].press("On")
        one.rack.refuses = "off"
        state = one.controllers.states[STORAGE]
        state.profile = replace(CLEAN)
        with state.lock:
            state.powered = True
        with pytest.raises(Refusal, match="The machine did not stop: off does not work"):
            one.controllers.controllers[STORAGE].press("ForceOff")
        assert not state.acting
