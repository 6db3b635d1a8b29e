"""The REST interface of a simulated switch: revisions as each release has them, and who is let in."""

from __future__ import annotations

import http.client
import json
import threading
import time
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest
from nvue_cases import Clock

from kvplan.twin.nvue import validation
from kvplan.twin.nvue.emulation import emulated
from kvplan.twin.nvue.refusal import ApplyError
from kvplan.twin.nvue.switch import Switch
from kvplan.twin.nvue.validation import Issue, checker, shape_issues
from kvplan.twin.nvue.wiring import Wiring

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.twin.nvue.trees import Tree

USER, WORD = "cumulus", "Word-of-the-factory"
SURE = {"auto-prompt": {"ays": "ays_yes"}}
APPLY = {"state": "apply", **SURE}
NAMED = {"system": {"hostname": "leaf"}}


class Asker:
    """Asks one switch."""

    def __init__(self, url: str, switch: Switch, clock: Clock) -> None:
        self.address = url.partition("//")[2]
        self.switch, self.clock = switch, clock
        self.headers = _basic(WORD)

    def __call__(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(self.address)
        text = body if isinstance(body, str) else None if body is None else json.dumps(body)
        connection.request(method, path, text, self.headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, json.loads(data) if data else None

    def revision(self, change: Tree) -> str:
        """Make a revision."""
        _, made = self("POST", "/nvue_v1/revision")
        (name,) = made
        found = name.replace("/", "%2F")
        assert self("PATCH", f"/nvue_v1/?rev={found}", change)[0] == 200
        return str(found)

    def move(self, name: str, **wish: Any) -> Any:
        """Change the state of a revision, and return what is answered."""
        status, found = self("PATCH", f"/nvue_v1/revision/{name}", wish)
        return found["state"] if status == 200 else status

    def state(self, name: str) -> Any:
        return self("GET", f"/nvue_v1/revision/{name}")[1]["state"]


def _basic(word: str, user: str = USER) -> dict[str, str]:
    return {"Authorization": "Basic " + b64encode(f"{user}:{word}".encode()).decode()}


def asker(version: str, **given: Any) -> Any:
    clock = Clock()
    switch = Switch("leaf", version, password=WORD, clock=clock, **given)
    return clock, switch


@pytest.fixture
def ask(request: pytest.FixtureRequest) -> Iterator[Asker]:
    clock, switch = asker(getattr(request, "param", "5.11.1"))
    with emulated([switch], Wiring({}), tls=False) as running:
        yield Asker(running.urls["leaf"], switch, clock)


@pytest.mark.parametrize(
    ("ask", "name", "deleted", "patched"),
    [
        ("5.9.2", "changeset%2Fcumulus%2F0001", (200, {}), {"hostname": "leaf", "timezone": "Etc/UTC"}),
        ("5.10.0", "1", (204, None), {"timezone": "Etc/UTC"}),
    ],
    indirect=["ask"],
)
def test_each_release_names_and_answers_in_its_way(ask: Asker, name: str, deleted: Any, patched: Any) -> None:
    made = ask.revision(NAMED)
    assert made == name
    system = f"/nvue_v1/system?rev={made}"
    assert ask("DELETE", f"/nvue_v1/system/aaa/user/nobody?rev={made}") == deleted
    status, answered = ask("PATCH", system, {"timezone": "Etc/UTC"})
    assert (status, patched.items() <= answered.items(), len(answered) == len(patched)) == (
        200,
        True,
        ask.switch.is_numbered,
    )
    assert ask.move(made, **APPLY) == "applied_and_saved"
    assert ask("DELETE", f"/nvue_v1/revision/{made}")[0] == (409 if ask.switch.is_numbered else 405)


def test_differences_are_shown_either_way(ask: Asker) -> None:
    made = ask.revision({**NAMED, "interface": {"swp1": {"type": "swp"}, "eth0": {"type": None}}})
    root = "/nvue_v1/?filled=false&rev"
    assert ask("GET", f"{root}={made}&diff=applied")[1] == {**NAMED, "interface": {"swp1": {"type": "swp"}}}
    assert ask("GET", f"{root}=applied&diff={made}")[1] == {"interface": {"eth0": {"type": "eth"}}}
    assert ask("GET", f"/nvue_v1/interface/swp1?rev={made}")[1]["link"]["mtu"] == 9216
    assert ask("GET", f"/nvue_v1/interface/swp1?rev={made}&filled=false")[1] == {"type": "swp"}
    assert ask("GET", f"{root}=startup")[1] == ask.switch.startup
    assert ask("GET", "/nvue_v1/revision")[1].keys() == {made}


def test_who_is_let_in(ask: Asker) -> None:
    where = ("GET", "/nvue_v1/revision")
    for headers in ({}, _basic("wrong"), _basic(WORD, "nobody"), {"Authorization": "Basic !"}, {"Authorization": "x"}):
        ask.headers = headers
        assert ask(*where)[0] == 401
    ask.switch.password_changed = False
    ask.headers = _basic(WORD)
    assert ask(*where)[0] == 403
    ask.switch.change_password(USER, "Another-1")
    assert ask(*where)[0] == 401
    ask.headers = _basic("Another-1")
    assert ask(*where)[0] == 200
    ask.switch.faults.busy = 1
    assert [ask(*where)[0], ask(*where)[0]] == [503, 200]


def test_a_password_is_in_force_with_its_revision(ask: Asker) -> None:
    made = ask.revision({"system": {"aaa": {"user": {USER: {"password": "Another-1"}}}}})
    config = ask("GET", f"/nvue_v1/?rev={made}")[1]
    assert "Another-1" not in json.dumps(config)
    assert config["system"]["aaa"]["user"][USER]["hashed-password"].startswith("$6$")
    ask.move(made, **APPLY)
    assert ask("GET", "/nvue_v1/revision")[0] == 401
    ask.headers = _basic("Another-1")
    assert ask("GET", "/nvue_v1/revision")[0] == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/elsewhere", None, 404),
        ("GET", "/nvue_v1/nothing", None, 404),
        ("GET", "/nvue_v1/nothing?rev=applied", None, 404),
        ("GET", "/nvue_v1/?rev=9", None, 404),
        ("GET", "/nvue_v1/interface/swp9/counters/qos/pfc-stats", None, 404),
        ("POST", "/nvue_v1/system", {}, 404),
        ("PATCH", "/nvue_v1/system", {}, 400),
        ("PATCH", "/nvue_v1/?rev=1", "[]", 400),
        ("PATCH", "/nvue_v1/?rev=1", "{", 400),
        ("PATCH", "/nvue_v1/revision/1", {"state": "magic"}, 400),
        ("PATCH", "/nvue_v1/revision/1", {"state": "confirm_yes"}, 409),
        ("PATCH", "/nvue_v1/?rev=applied", {}, 409),
    ],
)
def test_what_is_refused(ask: Asker, method: str, path: str, body: Any, status: int) -> None:
    ask.revision(NAMED)
    assert ask(method, path, body)[0] == status


def test_a_revision_is_invalid_with_place_and_message(ask: Asker) -> None:
    made = ask.revision({"interface": {"swp1": {"link": {"mtu": 9300}}, "swp2": {"nome": 1}}})
    assert ask.move(made, **APPLY) == "invalid"
    told = ask("GET", f"/nvue_v1/revision/{made}")[1]["transition"]["issue"]
    assert {one["data"]["location"] for one in told.values()} == {"interface/swp1/link/mtu", "interface/swp2/nome"}
    assert ask.switch.running["interface"] == {"eth0": {"type": "eth"}}
    assert ask.move(ask.revision(NAMED), state="apply") == "ays_fail"


def test_without_the_schema_the_shape_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(validation, "import_module", none)
    check = checker((5, 15))
    assert check({"interface": {"lo": {"ipv4": {}}}, "systen": {}}) == [Issue("systen", validation._UNKNOWN)]
    assert [one.path for one in shape_issues({"interface": {"lo": {"ipv4": {}}}}, (5, 14))] == ["interface/lo/ipv4"]
    assert shape_issues({"interface": {"swp1": {"ip": {}, "link": {"mtu": 9216}}}}, (5, 14)) == []


def test_the_timer_takes_back_what_nobody_confirmed_though_nobody_asks() -> None:
    applied: list[Any] = []
    clock, switch = asker("5.11.1", on_applied=applied.append)
    with emulated([switch], Wiring({}), tls=False) as running:
        ask = Asker(running.urls["leaf"], switch, clock)
        made = ask.revision(NAMED)
        assert ask.move(made, **APPLY, **{"state-controls": {"confirm": 60}}) == "confirm"
        assert ask("GET", "/nvue_v1/system/hostname?rev=applied")[1] == "leaf"
        assert ask.move(ask.revision(NAMED), **APPLY) == 409
        asked = len(switch.requests)
        clock.sleep(60)
        end = time.monotonic() + 5
        while len(applied) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        assert len(switch.requests) == asked
        assert [one["system"].get("hostname") for one in applied] == ["leaf", None]
        assert ask.state(made) == "confirm_fail"
        assert ask.move(made, state="confirm_yes", **SURE) == 409
    assert switch.running == switch.startup


def test_a_change_is_confirmed_refused_or_saved(ask: Asker) -> None:
    timed = {**APPLY, "state-controls": {"confirm": 60}}
    before = ask.switch.running
    made = ask.revision(NAMED)
    ask.move(made, **timed)
    assert ask.move(made, state="confirm_no") == "confirm_fail"
    assert ask.switch.running is before
    off = ask.revision({"system": {"config": {"auto-save": {"state": "disabled"}}}})
    ask.move(off, **timed)
    assert ask.move(off, state="confirm_yes", **SURE) == "applied"
    clock_over = ask.clock.now + 100
    ask.clock.now = clock_over
    assert ask.state(off) == "applied"
    ask.switch.faults.refuse_save = True
    assert ask.move("applied", state="save") == 500
    ask.switch.faults.refuse_save = False
    assert ask.switch.startup is before
    assert ask.move("applied", state="save") == "applied_and_saved"
    assert ask.switch.startup is ask.switch.running


def test_a_new_switch_is_saved_and_can_be(ask: Asker) -> None:
    assert ask.state("applied") == "applied_and_saved"
    assert ask.move("applied", state="save") == "applied_and_saved"
    ask.switch.change_password(USER, WORD)
    assert ask.state("applied") == "applied"


def test_an_apply_takes_time_or_fails(ask: Asker) -> None:
    ask.switch.faults.apply_s = 5
    made = ask.revision(NAMED)
    assert ask.move(made, **APPLY) == "reloading"
    ask.clock.sleep(5)
    assert ask.state(made) == "applied_and_saved"

    def refuse(config: Any) -> None:
        message = "frr does not start"
        raise ApplyError(message)

    ask.switch.faults.apply_s = 0
    ask.switch.on_applied = refuse
    before = ask.switch.running
    failed = ask.revision({"system": {"hostname": "other"}})
    assert ask.move(failed, **APPLY) == "apply_fail"
    told = ask("GET", f"/nvue_v1/revision/{failed}")[1]["transition"]["issue"]["0"]
    assert told["message"] == "frr does not start"
    assert ask.switch.running is before


def test_nothing_is_left_running_and_hanging_connections_end(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = threading.active_count()
    _, switch = asker("5.11.1")
    monkeypatch.setattr("shutil.which", lambda _: None)
    with emulated([switch], Wiring({})) as running:
        assert running.certificate is None
        host, port = running.urls["leaf"].removeprefix("http://").split(":")
        hanging = http.client.HTTPConnection(host, int(port))
        hanging.connect()
        end = time.monotonic() + 5
        while threading.active_count() < threads + 2 and time.monotonic() < end:
            time.sleep(0.01)
    hanging.close()
    assert threading.active_count() == threads
