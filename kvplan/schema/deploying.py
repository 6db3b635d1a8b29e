"""How far a deployment is, and what it is about to destroy."""

from __future__ import annotations

from typing import Literal

from kvplan.schema.base import Record

DEPLOY_FORMAT_VERSION = "1.0"
State = Literal["done", "stale", "failed", "unfinished", "open"]
"""Done as planned; done from an earlier Plan or Site; failed; begun and never ended; not begun."""


class HostState(Record):
    """Where one host is in one phase, since when [UTC], and why it failed, or which drives were written over."""

    host: str
    state: State
    at: str = ""
    message: str = ""


class PhaseState(Record):
    """Where one phase is; `playbook` tells whether this kvplan has one for it."""

    name: str
    title: str
    state: State
    playbook: bool
    hosts: tuple[HostState, ...]


class DeployStatus(Record):
    """How far a deployment is, by which hashes, what runs now, and the phase that comes next."""

    format_version: str = DEPLOY_FORMAT_VERSION
    plan_sha256: str
    site_sha256: str
    tree_sha256: str
    running: str
    next_phase: str
    phases: tuple[PhaseState, ...]


class Destroyed(Record):
    """What a host loses: its operating system, or what is on its data drives."""

    phase: str
    host: str
    serial: str
    what: Literal["reinstalled", "wiped"]
    drives: tuple[str, ...]

    @property
    def text(self) -> str:
        """The host's serial number and its drives in one line."""
        return f"{self.serial}: {', '.join(self.drives)}"
