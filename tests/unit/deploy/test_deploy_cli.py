"""`kvplan deploy` as it is used, on playbooks whose ends are made up: begun, failed, resumed, refused, agreed to."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from deploys import LOOK, play
from played import VAULT, Fake, run, stand_in

from kvplan.__main__ import main
from kvplan.cli import confirming, deploy
from kvplan.deploy import media
from kvplan.deploy.lock import alone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.deploy.media import Shelf

GO_ON = f"go on with: kvplan deploy plan.json site.yaml {' '.join(VAULT)} --resume"
STORAGE = tuple(f"storage-{number:03d}" for number in range(1, 5))


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Give a directory with three phases, of which one destroys, and a stand-in for Ansible."""
    return stand_in(tmp_path, monkeypatch, "preflight", "base", "storage")


@pytest.fixture
def installing(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the phase that installs, and media; nobody can listen at the Site's address here."""

    @contextmanager
    def handed_out(_self: Shelf, _sink: object) -> Iterator[None]:
        yield

    monkeypatch.setattr(media.Shelf, "handed_out", handed_out)
    Path("own/playbooks/provision.yml").write_text(play("storage", LOOK))
    lay_media()


def lay_media() -> None:
    """Lay the boot media of every server down."""
    Path("media/kv").mkdir(parents=True)
    for server in (*STORAGE, "gpu-0001", "gpu-0002", "control-1"):
        Path(f"media/kv/{server}.iso").touch()


def status(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Return the state of each phase that was begun."""
    capsys.readouterr()
    assert main(["deploy", "status", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return {phase["name"]: phase["state"] for phase in found["phases"] if phase["state"] != "open"}


def change_site(old: str = "timezone: Etc/UTC", new: str = "timezone: Europe/Zurich") -> None:
    """Change the Site."""
    site = Path("site.yaml")
    text = site.read_text(encoding="utf-8")
    assert old in text
    site.write_text(text.replace(old, new), encoding="utf-8")


def test_all_phases_run_and_are_done(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    assert fake.phases == ["preflight", "base", "storage"]
    out, err = capsys.readouterr()
    assert out.startswith("Deployment: ok\n")
    lines = [line for line in err.splitlines() if line]
    assert lines[-1].startswith("log: ")
    assert lines.count(lines[-1]) == 2
    assert status(capsys) == {"preflight": "done", "base": "done", "storage": "done"}
    assert run("--resume") == 0
    assert len(fake.jobs) == 3
    assert "nothing was left to do" in capsys.readouterr().out


def test_a_failure_says_what_where_and_what_to_do(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    fake.bad = {"base": ("storage-002", "gpu-0001")}
    assert run() == 7
    assert fake.phases == ["preflight", "base"]
    err = capsys.readouterr().err.splitlines()
    assert err[-4:] == [
        "error: phase base failed on storage-002, gpu-0001",
        "error: storage-002: Look: no disk",
        "error: gpu-0001: Look: no disk",
        f"hint: insert one; {GO_ON}",
    ]
    assert status(capsys) == {"preflight": "done", "base": "failed"}
    fake.bad = {}
    assert run("--resume") == 0
    assert fake.phases == ["preflight", "base", "base", "storage"]


def test_a_host_that_takes_no_part_is_a_failure(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    fake.absent = ("gpu-0002",)
    assert run("--only", "base") == 7
    assert "gpu-0002: base: took no part" in capsys.readouterr().err


def test_a_playbook_that_does_not_run_says_why(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    fake.code_in = {"base": 4}
    assert run("--only", "base") == 7
    assert "one two ERROR! broken playbook" in capsys.readouterr().err
    assert status(capsys) == {"base": "failed"}


def test_a_stop_says_how_to_go_on(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    fake.stopped_in = "base"
    assert run() == 130
    err = capsys.readouterr().err
    assert f"stopped in phase base; {GO_ON}" in err
    assert status(capsys) == {"preflight": "done", "base": "unfinished"}


def test_phases_and_hosts_are_chosen(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--from", "base") == 0
    assert fake.phases == ["base", "storage"]
    assert run("--only", "preflight", "--limit", "storage-001,leaves") == 0
    assert fake.jobs[-1].limit == "leaf-001a,leaf-001b,storage-001,storage-001-bmc"
    assert run("--only", "storage", "--limit", "switches") == 0
    assert fake.phases[-1] == "preflight"
    assert status(capsys) == {"base": "done", "storage": "done"}


def test_contradictions_are_refused(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--only", "base", "--resume") == 2
    assert run("--only", "bas") == 3
    assert run("--format", "yaml") == 3
    assert run("--limit", "storage-099") == 3
    assert main(["deploy", "status", "--format", "md"]) == 3
    assert fake.jobs == []


def test_playbooks_get_tree_secrets_and_what_may_be_destroyed(fake: Fake) -> None:
    assert run("--limit", "storage") == 0
    assert [job.variables["kv_confirmed"] for job in fake.jobs] == ["", "", ",".join(STORAGE)]
    assert run("--limit", "storage") == 0
    assert [job.variables["kv_confirmed"] for job in fake.jobs[3:]] == ["", "", ""]
    job = fake.jobs[0]
    assert job.variables["kv_tree"] == str(Path("build").absolute())
    assert job.secrets["switch_password"] == "canary-switch"  # noqa: S105 - of a vault that the test makes
    assert "canary" not in repr(job.variables)


def test_installing_anew_needs_the_phase_that_installs(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--reinstall", "storage-002") == 2
    assert "--reinstall needs phase provision" in capsys.readouterr().err


@pytest.mark.usefixtures("installing")
def test_a_server_is_installed_anew(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    capsys.readouterr()
    command = ("--only", "provision", "--limit", "storage-002", "--reinstall", "storage-002")
    assert run(*command) == 0
    assert fake.jobs[-1].variables["kv_confirmed"] == fake.jobs[-1].variables["kv_reinstall"] == "storage-002"
    err = capsys.readouterr().err
    assert "BOOTS0002A" in err
    assert "BOOTS0001A" not in err
    assert status(capsys) == {"preflight": "done", "provision": "done", "storage": "done"}
    assert run("--resume") == 0
    assert fake.phases[-2:] == ["base", "storage"]
    assert fake.jobs[-1].variables["kv_confirmed"] == ""
    assert run("--reinstall", "storage-9") == 3
    assert "--reinstall: the inventory has no host" in capsys.readouterr().err


def test_a_changed_site_is_refused_until_it_is_accepted(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    change_site()
    capsys.readouterr()
    assert run("--resume") == 8
    err = capsys.readouterr().err
    assert "-kv_timezone: Etc/UTC" in err
    assert "+kv_timezone: Europe/Zurich" in err
    assert "the Site and the rendered tree changed since the last run" in err
    assert "--accept-changes" in err
    assert len(fake.jobs) == 3
    assert run("--resume", "--accept-changes") == 0
    assert fake.phases[3:] == ["preflight", "base", "storage"]
    assert fake.jobs[-1].variables["kv_confirmed"] == ""  # no drive is lost that was not lost before
    assert run("--resume") == 0
    assert len(fake.jobs) == 6


def test_a_failure_does_not_put_drives_with_data_in_danger(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    fake.bad = {"storage": ("storage-001",)}
    assert run() == 7
    assert run("--resume") == 7
    assert [job.variables["kv_confirmed"] for job in fake.jobs[2:] if job.playbook.stem == "storage"][1:] == ["", ""]


@pytest.mark.usefixtures("installing")
def test_drives_that_changed_are_agreed_to_again(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    change_site("BOOTS0003A", "BOOTS0003C")
    capsys.readouterr()
    assert run("--accept-changes") == 0
    err = capsys.readouterr().err
    assert "BOOTS0003C, BOOTS0003B" in err
    assert "BOOTS0001A, " not in err
    jobs = {job.playbook.stem: job.variables["kv_confirmed"] for job in fake.jobs[4:]}
    assert jobs == {"preflight": "", "provision": "storage-003", "base": "", "storage": ""}


def test_a_tree_that_was_rendered_anew_is_compared_with_the_last_run(
    fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run() == 0
    change_site()
    assert main(["render", "plan.json", "site.yaml"]) == 0
    capsys.readouterr()
    assert run() == 8
    assert "differs: inventory/group_vars/all.yml\n" in capsys.readouterr().err


def test_a_tree_that_was_edited_is_refused(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    inventory = Path("build/inventory/group_vars/all.yml")
    inventory.write_text(inventory.read_text().replace("Etc/UTC", "Asia/Tokyo"))
    assert run() == 8
    assert "error: the tree on disk changed since the last run" in capsys.readouterr().err


def test_a_check_changes_nothing(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["deploy", "plan.json", "site.yaml", *VAULT, "--check", "--diff"]) == 0
    assert all(job.check and job.diff for job in fake.jobs)
    assert not Path("build").exists()
    assert status(capsys) == {}
    assert run() == 0
    change_site()
    capsys.readouterr()
    assert main(["deploy", "plan.json", "site.yaml", *VAULT, "--check"]) == 0
    assert "the Site and the rendered tree changed since the last run: deploying takes" in capsys.readouterr().err
    assert run() == 8


def test_destruction_is_agreed_to_by_name(
    fake: Fake, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["deploy", "plan.json", "site.yaml", *VAULT, "--only", "storage"]
    assert main(command) == 2
    err = capsys.readouterr().err
    assert "SNS0004" in err
    assert "hint: --yes " in err
    monkeypatch.setattr(confirming, "terminal", lambda: lambda _: "nonsense")
    assert main(command) == 2
    assert main([*command, "--yes", "site.yaml"]) == 2
    assert fake.jobs == []
    monkeypatch.setattr(confirming, "terminal", lambda: lambda _: "kvstore\n")
    assert main(command) == 0
    assert main([*command[:-2], "--only", "base"]) == 0


def test_a_question_goes_to_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert confirming.terminal() is None
    for stream in ("stdin", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin.readline", lambda: "kvstore\n", raising=False)
    ask = confirming.terminal()
    assert ask
    assert ask("Name: ") == "kvstore\n"
    assert capsys.readouterr().err == "Name: "


def test_json_ends_with_the_result(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    fake.bad = {"base": ("gpu-0001",)}
    assert run("--format", "json") == 7
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["event"] for line in lines[:2]] == ["phase_started", "stats"]
    result = lines[-1]
    assert (result["event"], result["result"], result["format_version"]) == ("result", "failed", "1.0")
    assert [(phase["name"], phase["failed"]) for phase in result["phases"]] == [("preflight", 0), ("base", 1)]


def test_secrets_that_are_missing_are_named_at_once(
    fake: Fake, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KV_BMC_S0001")
    Path("secrets/deployer").unlink()
    assert main(["deploy", "plan.json", "site.yaml"]) == 3
    err = capsys.readouterr().err
    for name in ("bmc_storage_001", "private_key", "switch_password", "console_password_hash"):
        assert f"error: secret {name}: " in err
    assert not Path(".kvplan").exists()


def test_a_second_run_is_refused(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--only", "preflight") == 0
    with alone(Path(".kvplan").absolute()):
        assert run() == 3
        assert "is being deployed by process" in capsys.readouterr().err
        assert main(["deploy", "status"]) == 0
        assert "running: process" in capsys.readouterr().out
    assert len(fake.jobs) == 1


def test_waiting_ends_with_the_phase(
    fake: Fake, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("--only", "preflight") == 0
    assert main(["deploy", "wait", "--for", "preflight"]) == 0
    assert main(["deploy", "wait", "--for", "base"]) == 7
    assert "phase base is open, and no run is at it" in capsys.readouterr().err
    assert main(["deploy", "wait", "--for", "bas"]) == 3
    monkeypatch.setattr(deploy, "_POLL_SECONDS", 0.01)
    with alone(Path(".kvplan").absolute()):
        assert main(["deploy", "wait", "--for", "base", "--timeout", "0.001"]) == 7
    assert "phase base is open after 0.001 min" in capsys.readouterr().err


def test_state_and_tree_go_where_they_are_told(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    fake.stopped_in = "preflight"
    assert run("--tree", "out/tree", "--state", "kept") == 130
    places = "--tree out/tree --state kept"
    assert GO_ON.replace(VAULT[0], f"{places} {VAULT[0]}") in capsys.readouterr().err
    assert Path("out/tree/manifest.json").is_file()
    assert Path("kept/journal.jsonl").is_file()
    assert not Path("out/.kvplan").exists()


def test_status_for_people_and_spreadsheets(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["deploy", "status"]) == 0
    assert "not begun" in capsys.readouterr().out
    fake.bad = {"base": ("gpu-0001",)}
    assert run() == 7
    capsys.readouterr()
    assert main(["deploy", "status"]) == 0
    out = capsys.readouterr().out
    assert "next: base" in out
    assert "base: gpu-0001: failed: Look: no disk" in out
    assert "no playbook" in out
    assert main(["deploy", "status", "--format", "csv"]) == 0
    assert ",gpu-0001,failed," in capsys.readouterr().out


def test_the_verb_shows_its_help(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["deploy", "--help"]) == 0
    assert "wait" in capsys.readouterr().out
    assert main(["deploy", "run", "--help"]) == 0
    assert "--accept-changes" in capsys.readouterr().out
