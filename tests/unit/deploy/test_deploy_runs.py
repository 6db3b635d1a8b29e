"""Real runs of Ansible on this machine: they succeed, fail, are stopped and killed, and leave nothing behind."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from deploys import LOOK, TOUCH, lay_out, play, processes_with, start

from kvplan.__main__ import main
from kvplan.deploy.lock import TETHER_LOCK, alone
from kvplan.deploy.runner import Job, _stop, run_playbook
from kvplan.errors import InputError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from kvplan.deploy.events import Event

pytestmark = pytest.mark.slow
# Naps that no other run of these tests takes.
NAP, DAEMON = f"sleep {100_000 + os.getpid()}", f"sleep {200_000 + os.getpid()}"
LEAK = f"""\
    - name: Leak
      ansible.builtin.debug:
        msg: "{{{{ kv_secret_bmc_storage_001 }}}} {{{{ kv_secret_switch_password }}}}"
    - name: Spill
      ansible.builtin.command: env
      changed_when: false
      environment:
        LEAKED: "{{{{ kv_secret_bmc_storage_001 }}}}"
    - name: Leave a daemon, as a shared SSH connection is one
      ansible.builtin.shell: setsid {DAEMON} >/dev/null 2>&1 &
      changed_when: false
    - name: Fail on one
      ansible.builtin.command: 'false'
      when: inventory_hostname == 'storage-002' and not (lookup('env', 'HOME') ~ '/repaired') is exists
"""
LINGER = f"""\
    - name: Linger
      ansible.builtin.command: {NAP}
      when: inventory_hostname == 'gpu-0001'
"""
SILENT = """\
    - name: Ask
      ansible.builtin.ping:
      ignore_unreachable: true
      vars: &silent {ansible_connection: ssh, ansible_host: 127.0.0.1, ansible_port: 1}
    - name: Go on
      ansible.builtin.debug:
"""
ASKED_AGAIN = """\
    - name: Ask again
      ansible.builtin.ping:
      vars: *silent
"""
VAULT = ("--vault-password-file", "vault-password")
GO_ON = f"go on with: kvplan deploy plan.json site.yaml {' '.join(VAULT)} --resume"


def waited_for(check: Callable[[], bool], seconds: float = 60) -> bool:
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not check() and time.monotonic() < deadline:
        time.sleep(0.05)
    return check()


@contextmanager
def begun(directory: Path, *more: str, dies_before: str = "") -> Iterator[subprocess.Popen[str]]:
    """Start a deployment; it is killed in the end if it still runs."""
    with start(directory, "plan.json", "site.yaml", *VAULT, *more, dies_before=dies_before) as run:
        try:
            yield run
        finally:
            run.kill()


def files_with(directory: Path, text: str) -> list[str]:
    """List the files below a directory that hold a text."""
    return [str(path.relative_to(directory)) for path in directory.rglob("*") if _holds(path, text)]


def _holds(path: Path, text: str) -> bool:
    """Tell whether a file holds a text; one that has gone holds none."""
    try:
        return path.is_file() and text.encode() in path.read_bytes()
    except OSError:
        return False


def scratches(directory: Path) -> list[str]:
    """List the directories in memory of the runs of a deployment."""
    places = (Path("/dev/shm"), Path(os.environ.get("XDG_RUNTIME_DIR") or "/nonexistent"))  # noqa: S108
    return [folder for place in places for folder in files_with(place, str(directory)) if folder.startswith("kvplan-")]


@pytest.fixture
def lingering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a deployment whose second phase never ends; whatever is left of it in the end is ended."""
    yield lay_out(tmp_path, monkeypatch, clients=play("gpu", LOOK), verify=play("gpu", LINGER))
    for pid in processes_with(str(tmp_path)):
        os.kill(pid, signal.SIGKILL)


def test_a_run_fails_and_is_resumed_and_no_secret_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out(tmp_path, monkeypatch, storage=play("storage", LEAK + TOUCH))
    command = ["deploy", "plan.json", "site.yaml", *VAULT, "--yes", "plan.json", "--format", "json"]
    assert main(command) == 7
    printed = capsys.readouterr()
    assert "storage-002: Fail on one: " in printed.err
    (tmp_path / "home" / "repaired").touch()
    assert main([*command, "--resume"]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])["phases"][0]
    assert (result["failed"], result["changed"]) == (0, 1)  # the file of the host that failed
    kept = tmp_path / ".kvplan"
    log = max((kept / "logs").glob("*.log")).read_text()
    assert "TASK [Leak]" in log
    assert "UNRELATED_TOKEN" not in log
    assert files_with(kept, "********")
    assert files_with(tmp_path, "canary") == ["secrets/deployer"]
    assert files_with(tmp_path, "must-not-go-in") == []
    assert "canary" not in printed.out + printed.err
    for setting in ("ANSIBLE_HOST_KEY_CHECKING=True", "StrictHostKeyChecking=accept-new"):
        assert files_with(kept, setting)
    assert processes_with(DAEMON) == []
    assert {oct(path.stat().st_mode & 0o077) for path in (kept, *kept.rglob("*"))} == {"0o0"}
    assert scratches(tmp_path) == []


def test_a_second_run_and_a_check_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(tmp_path, monkeypatch, storage=play("storage", TOUCH))
    (tmp_path / "tree" / "inventory").mkdir(parents=True)
    (tmp_path / "tree" / "inventory" / "hosts.yml").write_text("storage: {hosts: {s1: {}}}\n")
    seen: list[Event] = []
    runs = {}
    for name, check in (("checked", True), ("first", False), ("second", False)):
        with alone(tmp_path) as scratch:
            job = Job(
                playbook=tmp_path / "own" / "playbooks" / "storage.yml",
                tree=tmp_path / "tree",
                state=tmp_path,
                scratch=scratch,
                log=tmp_path / f"{name}.log",
                secrets={},
                variables={},
                check=check,
                diff=True,
            )
            runs[name] = run_playbook(job, seen.append)
    assert [run.ok for run in runs.values()] == [True, True, True]
    changed = {name: [counts.changed for counts in run.hosts.values()] for name, run in runs.items()}
    assert changed == {"checked": [1], "first": [1], "second": [0]}
    assert "+s1" in (tmp_path / "checked.log").read_text()
    assert len(list((tmp_path / "home").glob("done-*"))) == 1


def test_a_log_that_cannot_be_written_ends_the_playbook(tmp_path: Path) -> None:
    (tmp_path / "inventory").mkdir()
    (tmp_path / "inventory" / "hosts.yml").write_text("gpu: {hosts: {gpu-0001: {}}}\n")
    (tmp_path / "verify.yml").write_text(play("gpu", LINGER))
    (tmp_path / "full.log").symlink_to("/dev/full")
    with alone(tmp_path) as scratch:
        job = Job(
            playbook=tmp_path / "verify.yml",
            tree=tmp_path,
            state=tmp_path,
            scratch=scratch,
            log=tmp_path / "full.log",
            secrets={},
            variables={},
        )
        with pytest.raises(InputError, match=r"full\.log: cannot be written: no space left on device"):
            run_playbook(job, lambda _: None)
        with pytest.raises(BrokenPipeError):
            run_playbook(replace(job, log=tmp_path / "log"), unheard)
    assert waited_for(lambda: not processes_with(str(tmp_path)))


def unheard(_event: Event) -> None:
    """Write to somebody who has gone."""
    raise BrokenPipeError


def test_ansible_that_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ansible_runner.interface", None)
    job = Job(tmp_path, tmp_path, tmp_path, tmp_path, tmp_path / "log", secrets={}, variables={})
    with pytest.raises(InputError, match=r"Ansible is missing; pip install 'kvplan\[deploy\]'"):
        run_playbook(job, print)


def test_stopping_what_has_ended_is_no_error(tmp_path: Path) -> None:
    _stop(tmp_path)
    (tmp_path / TETHER_LOCK).write_text("")
    _stop(tmp_path)


def test_ctrl_c_ends_everything_and_says_how_to_go_on(lingering: Path) -> None:
    with begun(lingering) as run:
        assert waited_for(lambda: bool(processes_with(NAP)))
        with begun(lingering) as second:
            _, refusal = second.communicate(timeout=60)
        run.send_signal(signal.SIGINT)
        _, error = run.communicate(timeout=60)
    assert second.returncode == 3
    assert f"is being deployed by process {run.pid} on " in refusal
    assert run.returncode == 130
    assert f"stopped in phase verify; {GO_ON}" in error
    assert processes_with(str(lingering)) == processes_with(NAP) == []
    assert scratches(lingering) == []


def test_a_host_that_may_be_silent_is_not_bad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out(tmp_path, monkeypatch, clients=play("gpu", SILENT), verify=play("gpu", SILENT + ASKED_AGAIN))
    command = ["deploy", "plan.json", "site.yaml", *VAULT, "--format", "json"]
    assert main(command) == 7
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    outcomes = {line["task"]: line["outcome"] for line in lines if line["event"] == "host_result"}
    assert outcomes == {"Ask": "ignored", "Go on": "ok", "Ask again": "unreachable"}
    assert [(phase["ok"], phase["unreachable"]) for phase in lines[-1]["phases"]] == [(4, 0), (4, 2)]


def test_a_run_that_is_killed_between_phases_is_resumed_with_the_next(lingering: Path) -> None:
    (lingering / "own" / "playbooks" / "verify.yml").write_text(play("gpu", LOOK))
    with begun(lingering, dies_before="verify") as run:
        run.communicate(timeout=60)
    assert run.returncode == -signal.SIGKILL
    assert scratches(lingering)
    with begun(lingering, "--resume", "--format", "json") as again:
        out, error = again.communicate(timeout=60)
    assert again.returncode == 0, error
    assert [phase["name"] for phase in json.loads(out.splitlines()[-1])["phases"]] == ["verify"]
    assert scratches(lingering) == []


def test_a_run_that_is_killed_leaves_no_playbook_behind_and_is_resumed(lingering: Path) -> None:
    with begun(lingering) as run:
        assert waited_for(lambda: bool(processes_with(NAP)))
        run.kill()
    assert scratches(lingering)
    (lingering / "own" / "playbooks" / "verify.yml").write_text(play("gpu", LOOK))
    with begun(lingering, "--resume", "--format", "json") as again:
        out, error = again.communicate(timeout=60)
    assert again.returncode == 0, error
    assert [phase["name"] for phase in json.loads(out.splitlines()[-1])["phases"]] == ["verify"]
    assert processes_with(NAP) == []
    assert scratches(lingering) == []
