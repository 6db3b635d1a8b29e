"""Every example of `kvplan deploy` does what it says, one after the other, on playbooks that are played."""

from __future__ import annotations

import json
import shlex
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from deploys import environment
from designs import plan_of
from played import Fake, stand_in
from sites import site_data, site_of

from kvplan.__main__ import main
from kvplan.api import deployment
from kvplan.assets import playbooks_dir
from kvplan.cli import confirming
from kvplan.cli.deploy import EXAMPLES
from kvplan.deploy import media
from kvplan.render.data import record_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kvplan.deploy.media import Shelf

LINES = [line.strip() for line in EXAMPLES.partition("Examples:\n")[2].replace("\\\n", " ").splitlines()]
PHASES = ("preflight", "provision", "base", "storage")


@contextmanager
def handed_out(_self: Shelf, _sink: object) -> Iterator[None]:
    """Hand nothing out."""
    yield


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Give a deployment with every secret and medium, and a person who types the cluster's name."""
    books = playbooks_dir()
    fake = stand_in(tmp_path, monkeypatch, *PHASES)
    shutil.copy(books / "base.yml", tmp_path / "own" / "playbooks")
    (tmp_path / "own" / "playbooks" / "roles").symlink_to(books / "roles")
    plan = plan_of(4)
    data = site_data(plan)
    data["access"] |= {"switch_password": "env:KV_SWITCH", "console_password_hash": "env:KV_CONSOLE"}
    name = deployment(plan, site_of(plan)).site.storage.cluster
    (tmp_path / "plan.json").write_text(record_json(plan))
    (tmp_path / "site.yaml").write_text(json.dumps(data))
    for variable, value in environment(tmp_path).items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(confirming, "terminal", lambda: lambda _: f"{name}\n")
    monkeypatch.setattr(media.Shelf, "handed_out", handed_out)
    monkeypatch.setattr(media.Shelf, "check", lambda *_: None)
    return fake


def test_examples(fake: Fake) -> None:
    ran = []
    for line in LINES:
        before = len(fake.jobs)
        assert main(shlex.split(line)[1:]) == 0, line
        ran.append(fake.phases[before:])
    whole = [*PHASES]
    assert ran == [whole, whole, [], ["provision"], whole, [], []]
    assert fake.jobs[-1].variables["base_serial"] == 1
    assert [job.variables["kv_reinstall"] for job in fake.jobs if job.limit] == ["storage-003"]
