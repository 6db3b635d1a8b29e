"""Growth and checks: a larger Plan endangers new nodes only, and a check looks at what is there and leaves no trace."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from deploys import environment
from designs import plan_of
from played import VAULT, Fake, run, stand_in
from sites import site_data

from kvplan.__main__ import main
from kvplan.deploy import media
from kvplan.deploy.phases import groups_in
from kvplan.render.data import record_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.deploy.media import Shelf
    from kvplan.deploy.runner import Job

OLD = ",".join(f"storage-{number:03d}" for number in range(1, 5))
NEW = "storage-005,storage-006"
PHASES = ("preflight", "provision", "base", "storage")


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Give a deployment of four nodes with every medium; nobody can listen at the Site's address here."""

    @contextmanager
    def handed_out(_self: Shelf, _sink: object) -> Iterator[None]:
        yield

    fake = stand_in(tmp_path, monkeypatch, *PHASES)
    monkeypatch.setattr(media.Shelf, "handed_out", handed_out)
    monkeypatch.setattr(media.Shelf, "check", lambda *_: None)
    describe(tmp_path, monkeypatch, 4)
    return fake


def describe(directory: Path, monkeypatch: pytest.MonkeyPatch, nodes: int) -> None:
    """Write Plan and Site of so many storage nodes."""
    plan = plan_of(4, nodes=nodes)
    (directory / "plan.json").write_text(record_json(plan))
    (directory / "site.yaml").write_text(json.dumps(site_data(plan)))
    for name, value in environment(directory).items():
        monkeypatch.setenv(name, value)


def losses(error: str) -> list[str]:
    """Return the storage nodes that are listed as about to lose something, each once."""
    return sorted({word for line in error.splitlines() for word in line.split() if word.startswith("storage-0")})


def test_growth_endangers_new_nodes_only(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run() == 0
    assert fake.variable("kv_confirmed")["storage"] == OLD
    assert fake.variable("switches_hosts_up")["preflight"] is False
    describe(tmp_path, monkeypatch, 6)
    assert run() == 8
    capsys.readouterr()
    assert run("--resume", "--accept-changes") == 0
    assert losses(capsys.readouterr().err.partition("log:")[0].partition("installed anew")[2]) == NEW.split(",")
    assert fake.phases[len(PHASES) :] == [*PHASES]  # base and storage on all nodes: old ones must know new ones
    assert {job.limit for job in fake.jobs} == {""}
    assert fake.variable("kv_confirmed") == {"preflight": "", "provision": NEW, "base": "", "storage": NEW}
    assert run() == 0
    assert set(fake.variable("kv_confirmed").values()) == {""}
    assert set(fake.variable("switches_hosts_up").values()) == {True}


def test_growth_that_failed_still_endangers_the_same_nodes(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run() == 0
    describe(tmp_path, monkeypatch, 6)
    fake.bad = {"storage": ("storage-006",)}
    assert run("--accept-changes") == 7
    fake.bad = {}
    assert run("--resume") == 0
    assert fake.phases[-1] == "storage"
    assert fake.jobs[-1].variables["kv_confirmed"] == NEW


def test_drives_of_a_cluster_that_was_taken_down_are_named_to_be_wiped(
    fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--wipe", "storage", "--only", "base") == 2
    assert "--wipe needs phase storage" in capsys.readouterr().err
    assert run() == 0
    capsys.readouterr()
    assert run("--only", "storage", "--wipe", "storage") == 0
    assert losses(capsys.readouterr().err.partition("log:")[0]) == OLD.split(",")
    assert fake.jobs[-1].variables["kv_confirmed"] == OLD


def test_one_cluster_is_not_built_in_parts(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--only", "storage", "--limit", "storage-001") == 2
    assert "phase storage works on all its hosts at once, and --limit leaves some out" in capsys.readouterr().err
    assert run("--limit", "storage-001") == 0
    assert fake.phases == ["preflight", "provision", "base"]
    assert "storage: storage-001 left out: the phase works on all its hosts at once" in capsys.readouterr().err
    assert run("--limit", "storage", "--from", "base") == 0
    assert fake.phases[3:] == ["base", "storage"]


def test_a_check_looks_only_at_what_is_installed(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    fake.changed = {"provision": ("storage-002", "storage-003")}
    assert run("--check") == 0
    assert fake.phases == ["preflight", "provision", "base"]
    assert "storage-001" in fake.jobs[-1].limit.split(",")
    assert "storage-002" not in fake.jobs[-1].limit.split(",")
    out, err = capsys.readouterr()
    assert "base: storage-002, storage-003 left out: to be installed first" in err
    assert "storage: storage-001, storage-004 left out: the phase works on all its hosts at once" in err
    assert out.startswith("Check: ok\n  2 tasks would change something\n")


def test_a_check_of_bare_machines_ends_well_and_says_so(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    fake.meanwhile = lambda job: fake.changed.update(provision=groups_in(job.tree)["all"])
    assert run("--check", "--format", "json") == 0
    assert fake.phases == ["preflight", "provision"]
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["phase"] for line in lines if line["event"] == "left_out"] == ["base", "storage"]
    assert (lines[-1]["result"], lines[-1]["check"]) == ("ok", True)


def test_a_check_leaves_nothing_but_its_log(fake: Fake) -> None:
    state = Path(".kvplan")
    state.mkdir()
    (state / "known_hosts").write_text("one key\n")
    before = {path for path in Path().rglob("*") if path.is_file()}

    def learn(job: Job) -> None:
        assert job.host_keys.read_text() == "one key\n" * len(fake.jobs)
        job.host_keys.write_text("one key\n" * (1 + len(fake.jobs)))
        assert job.variables["kv_known_hosts"] == str(job.host_keys)
        assert job.variables["base_ssh_keys"] == str(state.absolute() / "root-keys")

    fake.meanwhile = learn
    assert main(["deploy", "plan.json", "site.yaml", *VAULT, "--check", "--diff"]) == 0
    assert all(job.check and job.diff for job in fake.jobs)
    made = {str(path) for path in {path for path in Path().rglob("*") if path.is_file()} - before}
    locks = {".kvplan/lock", ".kvplan/playbook.lock"}
    assert {path.partition("logs/")[0] for path in made} - locks == {".kvplan/"}
    assert (state / "known_hosts").read_text() == "one key\n"
    assert not fake.jobs[0].tree.exists()
