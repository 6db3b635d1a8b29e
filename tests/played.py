"""Deployments whose playbooks are played by a stand-in for Ansible, which tells what it was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deploys import LOOK, lay_out, play

from kvplan.__main__ import main
from kvplan.deploy import driver, media
from kvplan.deploy.events import HostCounts, HostResult, Stats
from kvplan.deploy.phases import groups_in
from kvplan.deploy.runner import Job, Result

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from kvplan.deploy.events import Event

VAULT = ("--vault-password-file", "vault-password")


class Fake:
    """Stands in for Ansible: every host does well, but for those that fail in a phase."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.bad: dict[str, tuple[str, ...]] = {}
        self.changed: dict[str, tuple[str, ...]] = {}
        self.absent: tuple[str, ...] = ()
        self.stopped_in = ""
        self.code_in: dict[str, int] = {}
        self.meanwhile: Callable[[Job], None] = lambda _: None

    @property
    def phases(self) -> list[str]:
        """The phases that ran."""
        return [job.playbook.stem for job in self.jobs]

    def variable(self, name: str) -> dict[str, object]:
        """Return what the last run of each phase was given."""
        return {job.playbook.stem: job.variables[name] for job in self.jobs}

    def __call__(self, job: Job, sink: Callable[[Event], None]) -> Result:
        """Run a playbook."""
        self.jobs.append(job)
        self.meanwhile(job)
        phase = job.playbook.stem
        job.log.write_text("one\ntwo\nERROR! broken playbook\n")
        if phase == self.stopped_in:
            return Result(-15, {}, stopped=True)
        if phase in self.code_in:
            return Result(self.code_in[phase], {}, stopped=False)
        bad, changed = self.bad.get(phase, ()), self.changed.get(phase, ())
        for host in bad:
            sink(HostResult(host, "Look", "failed", message="no disk", remedy="insert one"))
        hosts = [host for host in self._hosts(job) if host not in self.absent]
        counts = {host: HostCounts(ok=1, failed=host in bad, changed=host in changed) for host in hosts}
        sink(Stats(counts))
        return Result(2 if bad else 0, counts, stopped=False)

    def _hosts(self, job: Job) -> tuple[str, ...]:
        """Return the hosts that it runs on."""
        return tuple(job.limit.split(",")) if job.limit else groups_in(job.tree)["all"]


def stand_in(directory: Path, monkeypatch: pytest.MonkeyPatch, *phases: str) -> Fake:
    """Make a deployment of some phases in a directory, and a stand-in for Ansible; no other server has its media."""
    lay_out(directory, monkeypatch, **{name: play("all", LOOK) for name in phases})
    fake = Fake()
    monkeypatch.setattr(driver, "run_playbook", fake)
    monkeypatch.setattr(media, "offered", lambda *_: frozenset())
    return fake


def run(*more: str) -> int:
    """Deploy the Plan at the Site, agreeing to what is destroyed."""
    return main(["deploy", "plan.json", "site.yaml", *VAULT, "--yes", "plan.json", *more])
