"""The process that is all devices: started, told, disturbed, ended; and listening in another namespace."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from device_benches import NODES, SECRETS, FakeRack, order_in
from redfish_cases import ask, bench
from sites import deployment_of

from kvplan.twin.bmc.machine import Machine, State
from kvplan.twin.bmc.profiles import CLEAN, PROFILES
from kvplan.twin.devices import Devices, client, devices_order, disorder, namespaces, process
from kvplan.twin.devices.order import KINDS
from kvplan.twin.nvue.faults import Faults
from kvplan.twin.nvue.switch import Switch
from kvplan.twin.rack.plan import rack_plan
from kvplan.twin.rack.shell import RackError
from kvplan.twin.rack.ssh import relearn

if TYPE_CHECKING:
    from collections.abc import Iterator

STORAGE, GPU = NODES
LEAF = "leaf-001a"


def test_an_order_holds_all_that_devices_need(tmp_path: Path) -> None:
    order = devices_order(deployment_of(8), SECRETS, tmp_path, profiles={GPU: "openbmc"})
    assert type(order).model_validate_json(order.model_dump_json()) == order
    servers = {one.name: one for one in order.servers}
    assert servers[STORAGE].address == "172.24.64.8"
    assert (servers[STORAGE].user, servers[STORAGE].password) == ("ADMIN", "bmc_storage_001-made-up")
    assert (servers[STORAGE].profile, servers[GPU].profile) == (KINDS["supermicro-x13"], "openbmc")
    assert {*KINDS.values()} <= {*PROFILES}
    assert [switch.name for switch in order.switches if not switch.fabric] == ["oob-01"]


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a directory with an order that listens on loopback at free ports."""
    order = order_in(tmp_path)
    plain = order.model_copy(
        update={
            "media": "127.0.0.1",
            "media_port": 0,
            "servers": tuple(one.model_copy(update={"address": "127.0.0.1", "port": 0}) for one in order.servers),
            "switches": tuple(one.model_copy(update={"address": "127.0.0.1"}) for one in order.switches),
        }
    )
    (tmp_path / client.ORDER).write_text(plain.model_dump_json(), encoding="utf-8")
    monkeypatch.setattr("kvplan.twin.nvue.emulation.PORT", 0)
    monkeypatch.setattr("kvplan.twin.devices.switches.within", lambda _: nullcontext())
    monkeypatch.setattr("kvplan.twin.devices.switches.Switches._ports", lambda *_: ())
    monkeypatch.setattr("kvplan.twin.tls.shutil.which", lambda _: None)
    return tmp_path


class Standing:
    """What stands for a rack that stands."""

    plan = rack_plan(deployment_of(8), NODES)

    def __init__(self, directory: Path) -> None:
        self.known_hosts = directory / "known_hosts"
        self.fake = FakeRack()
        self.request = self.fake.request


@pytest.fixture
def rack(directory: Path, monkeypatch: pytest.MonkeyPatch) -> FakeRack:
    """Give a rack to the process."""
    standing = Standing(directory)
    monkeypatch.setattr("kvplan.twin.rack.rack.Rack.at", lambda _: standing)
    return standing.fake


@pytest.fixture
def devices(directory: Path, rack: FakeRack) -> Iterator[Devices]:
    """Run the process as a thread until it is told to end."""
    assert rack.asked == []
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(process.main(directory)))
    thread.start()
    devices = Devices.at(directory)
    devices.wait()
    yield devices
    devices.request("down")
    thread.join(20)
    assert codes == [0]
    assert not (directory / client.CONTROL).exists()


def test_devices_tell_how_they_are_and_do_as_told(devices: Devices, rack: FakeRack) -> None:
    status = devices.request("status")
    assert [*status["servers"]] == [*NODES]
    assert status["servers"][STORAGE]["power"] == "Off"
    assert [*status["switches"]] == [LEAF, "leaf-001b", "spine-001", "oob-01"]
    devices.request("power", STORAGE, to="on")
    assert rack.asked == [("on", STORAGE)]
    devices.request("power", STORAGE, to="off")
    assert rack.asked[1:] == [("off", STORAGE)]
    devices.request("bmc", STORAGE, fault="licence")
    devices.request("bmc", STORAGE, drives=["ONE", "TWO"])
    devices.request("switch", LEAF, fault="bgp")
    assert "lose_bgp=True" in devices.request("status")["switches"][LEAF]["faults"]
    rack.refuses = "on"
    with pytest.raises(RackError, match="The machine did not start: on does not work"):
        devices.request("power", GPU, to="on")


@pytest.mark.parametrize(
    ("verb", "what", "more", "error"),
    [
        ("explode", "", {}, "no verb explode"),
        ("bmc", "storage-01", {"fault": ""}, "no server storage-01 did you mean 'storage-001'?"),
        ("bmc", STORAGE, {"fault": "license"}, "no fault license did you mean 'licence'?"),
        ("bmc", STORAGE, {}, "fault"),
        ("switch", "leaf", {"fault": ""}, "no switch leaf"),
        ("switch", LEAF, {"fault": "bpg"}, "no fault bpg did you mean 'bgp'?"),
        ("power", STORAGE, {"to": "of"}, "no power of"),
        ("power", "storage-002", {"to": "on"}, "no server storage-002"),
    ],
)
def test_what_cannot_be_done_is_said(devices: Devices, verb: str, what: str, more: dict[str, str], error: str) -> None:
    with pytest.raises(RackError, match=error.replace("?", r"\?")):
        devices.request(verb, what, **more)


def test_devices_that_cannot_begin_say_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert process.main(tmp_path) == 1
    assert client.ORDER in capsys.readouterr().err
    with pytest.raises(RackError, match=r"the devices do not answer after 0\.1 s"):
        Devices.at(tmp_path).wait(seconds=0.1)


def test_packages_are_served_from_any_depth(tmp_path: Path) -> None:
    (tmp_path / "rpm/repodata").mkdir(parents=True)
    (tmp_path / "rpm/repodata/repomd.xml").write_text("<repomd/>", encoding="utf-8")
    with process.packages_served(tmp_path, "127.0.0.1", 0) as url:
        connection = HTTPConnection("127.0.0.1", urlsplit(url).port, timeout=10)
        connection.request("GET", "/rpm/repodata/repomd.xml")
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (HTTPStatus.OK, b"<repomd/>")
        connection.close()


@pytest.mark.parametrize(
    ("fault", "more", "statuses"),
    [
        ("busy", {"times": 2}, [503, 503, 200]),
        ("sessions", {}, [503, 503]),
        ("licence", {}, [200]),
        ("", {}, [200]),
    ],
)
def test_controllers_answer_as_they_are_disturbed(fault: str, more: dict[str, int], statuses: list[int]) -> None:
    with bench() as one:
        disorder.disturb_controller(one.state, "clean", fault, more)
        assert [ask(one.url, "GET", "/redfish/v1/Systems/1").status for _ in statuses] == statuses
        disorder.disturb_controller(one.state, "clean", "", {})
        assert ask(one.url, "GET", "/redfish/v1/Systems/1").status == HTTPStatus.OK


def test_a_controller_forgets_its_override_and_its_licence_until_it_is_mended() -> None:
    state = State.new(Machine("one", "S1"), CLEAN, lambda: 0.0)
    disorder.disturb_controller(state, "clean", "override", {"times": 2})
    disorder.disturb_controller(state, "clean", "licence", {})
    assert (state.losses_left, state.licensed) == (2, False)
    disorder.disturb_controller(state, "clean", "", {})
    assert (state.losses_left, state.licensed) == (0, True)


@pytest.mark.parametrize(
    ("fault", "more", "faults"),
    [
        ("bgp", {}, Faults(lose_bgp=True)),
        ("busy", {"times": 5}, Faults(busy=5)),
        ("apply", {}, Faults(fail_apply="switchd did not start")),
        ("slow", {"seconds": 4}, Faults(apply_s=4)),
        ("save", {}, Faults(refuse_save=True)),
        ("confirm", {}, Faults(ignore_confirm=True)),
        ("storm", {"port": "swp1s0"}, Faults(storm={"swp1s0"})),
    ],
)
def test_switches_are_disturbed_and_mended(fault: str, more: dict[str, Any], faults: Faults) -> None:
    switch = Switch("leaf", "5.15.0")
    disorder.disturb_switch(switch, fault, more)
    assert switch.faults == faults
    disorder.disturb_switch(switch, "", {})
    assert switch.faults == Faults()


def test_a_node_that_was_installed_anew_is_known_by_its_new_key(tmp_path: Path) -> None:
    path = tmp_path / "known_hosts"
    path.write_text("10.0.0.1,one,one-adm ssh-ed25519 A\n10.0.0.2,two ssh-ed25519 B\n", encoding="utf-8")
    relearn(path, "two", "ssh-ed25519 C two\n")
    assert path.read_text(encoding="utf-8") == "10.0.0.1,one,one-adm ssh-ed25519 A\n10.0.0.2,two ssh-ed25519 C\n"


def test_a_thread_enters_a_namespace_and_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entered: list[str] = []
    monkeypatch.setattr(namespaces, "NAMED", tmp_path)
    monkeypatch.setattr(namespaces, "_OWN", tmp_path / "own")
    monkeypatch.setattr(namespaces, "_set", lambda held: entered.append(str(Path(f"/proc/self/fd/{held}").readlink())))
    for name in ("own", "leaf"):
        (tmp_path / name).touch()
    with namespaces.within("leaf"):
        assert entered == [str(tmp_path / "leaf")]
    assert entered == [str(tmp_path / "leaf"), str(tmp_path / "own")]
    with pytest.raises(FileNotFoundError), namespaces.within("other"):
        pass


def test_what_is_no_namespace_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(namespaces, "NAMED", tmp_path)
    (tmp_path / "leaf").touch()
    with pytest.raises(OSError, match="Invalid argument"), namespaces.within("leaf"):
        pass
