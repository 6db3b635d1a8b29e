"""One switch: what it runs, what it starts from, its revisions, and the timer that takes back what nobody confirmed."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from threading import RLock
from typing import TYPE_CHECKING, Final

from kvplan.twin.nvue.faults import Faults
from kvplan.twin.nvue.refusal import ApplyError, RefusalError
from kvplan.twin.nvue.trees import Tree, at, fits, hashed, merged, nested, sealed, without
from kvplan.twin.nvue.validation import Issue, checker

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBERED_FROM: Final = (5, 10)
"""The first release that numbers revisions, answers PATCH with the change alone, and DELETE with nothing."""


def ignore_config(config: Tree) -> None:
    """Let a configuration start nothing."""


@dataclass(slots=True)
class Revision:
    """A configuration that is being made, applied or kept, and how far it is."""

    config: Tree
    state: str = "pending"
    issues: list[Issue] = field(default_factory=list)
    confirm_s: float | None = None
    due: float = 0.0
    before: Tree = field(default_factory=dict)

    def shown(self) -> Tree:
        """Return what is answered about it."""
        issue = {
            str(index): {"code": self.state, "data": {"location": path}, "message": message, "severity": "error"}
            for index, (path, message) in enumerate(self.issues)
        }
        progress = {"confirm": "Waiting for confirmation", "invalid": "Invalid config"}.get(self.state, "")
        return {"state": self.state, "transition": {"issue": issue, "progress": progress}}


class Switch:
    """What is behind one address.

    `running` is replaced and never changed, so that others may read it at any time; `new` is what it runs at first.

    Parameters
    ----------
    name
        The name that neighbours see.
    version
        Its Cumulus Linux version, such as `5.15.0`.
    user
        The account of the factory.
    password
        Its password.
    password_changed
        Whether the factory's password was changed; nothing is answered before.
    on_applied
        Called with every configuration that comes into force, also when one is taken back, before it shows as
        applied. It raises `ApplyError` where the machine behind does not take it.
    faults
        What goes wrong.
    clock
        Seconds, for what takes the switch time.
    """

    def __init__(
        self,
        name: str,
        version: str,
        *,
        user: str = "cumulus",
        password: str = "cumulus",  # noqa: S107 - the factory's, known to all
        password_changed: bool = True,
        on_applied: Callable[[Tree], None] = ignore_config,
        faults: Faults | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        first, second, *_ = version.split(".")
        self.name, self.version, self.release = name, version, (int(first), int(second))
        self.password_changed, self.on_applied, self.clock = password_changed, on_applied, clock
        self.faults = faults or Faults()
        self.lock = RLock()
        self.requests: list[tuple[str, str]] = []
        self.new: Tree = self._factory(user, password)
        self.running: Tree = self.new
        self.startup: Tree = self.new
        self.revisions: dict[str, Revision] = {}
        self.applied_id = ""
        self.bgp_lost = False
        self._check: Callable[[Tree], list[Issue]] | None = None
        self._stored = 0

    @property
    def is_numbered(self) -> bool:
        """Whether the release is one of those that number revisions."""
        return self.release >= NUMBERED_FROM

    @property
    def auto_saves(self) -> bool:
        """Whether what is applied is kept for a restart."""
        saving = at(self.running, ("system", "config", "auto-save")) or {}
        return saving in ({"state": "enabled"}, {"enable": "on"})

    def reset(self) -> None:
        """Be as new: nothing is configured, and nothing goes wrong."""
        self.running = self.startup = self.new
        self.revisions, self.applied_id, self.bgp_lost, self.faults = {}, "", False, Faults()
        self.on_applied(self.running)

    def change_password(self, user: str, password: str) -> None:
        """Change a password as one does at the console.

        Parameters
        ----------
        user
            The account.
        password
            Its new password.
        """
        way = ("system", "aaa", "user", user, "hashed-password")
        self.running = merged(self.running, nested(way, hashed(password, "console")))
        self.password_changed = True

    def knows(self, user: str, password: str) -> bool:
        """Tell whether an account is in force and a password is its own.

        Parameters
        ----------
        user
            The account.
        password
            What was given as its password.

        Returns
        -------
        bool
            Whether to let it in.
        """
        stored = at(self.running, ("system", "aaa", "user", user, "hashed-password"))
        return isinstance(stored, str) and fits(password, stored)

    def new_revision(self, user: str) -> str:
        """Start a revision from what is applied.

        Parameters
        ----------
        user
            Who starts it.

        Returns
        -------
        str
            Its name: a number, or a path with slashes before there were numbers.
        """
        number = len(self.revisions) + 1
        name = str(number) if self.is_numbered else f"changeset/{user}/{number:04d}"
        self.revisions[name] = Revision(self.running)
        return name

    def revision(self, name: str) -> Revision:
        """Return a revision by name.

        Parameters
        ----------
        name
            Its name; `applied` is the one in force.

        Returns
        -------
        Revision
            The revision.
        """
        if name == "applied":
            saved = self.running == self.startup
            return self.revisions.get(self.applied_id) or Revision(
                self.running, "applied_and_saved" if saved else "applied"
            )
        if name not in self.revisions:
            raise RefusalError(HTTPStatus.NOT_FOUND, f"Revision {name} does not exist")
        return self.revisions[name]

    def config(self, name: str) -> Tree:
        """Return the configuration of a revision.

        Parameters
        ----------
        name
            Name of a revision, `applied` or `startup`.

        Returns
        -------
        dict
            The configuration.
        """
        named = {"applied": self.running, "startup": self.startup}
        return named[name] if name in named else self.revision(name).config

    def patch(self, name: str, path: tuple[str, ...], change: Tree) -> Tree:
        """Set something in a revision.

        Parameters
        ----------
        name
            Name of the revision.
        path
            Where it is set.
        change
            What is set.

        Returns
        -------
        dict
            What is answered: the change alone, or all that is at the path in older releases.
        """
        revision = self._open(name)
        self._stored += 1
        stored = sealed(change, f"{self.name}{self._stored}")
        revision.config = merged(revision.config, nested(path, stored))
        found: Tree = stored if self.is_numbered else at(revision.config, path)
        return found

    def delete(self, name: str, path: tuple[str, ...]) -> None:
        """Take something out of a revision.

        Parameters
        ----------
        name
            Name of the revision.
        path
            What is taken out; everything for the empty path.
        """
        revision = self._open(name)
        revision.config = without(revision.config, path)

    def discard(self, name: str) -> None:
        """Throw a revision away.

        Parameters
        ----------
        name
            Name of the revision.
        """
        self._open(name).state = "inactive"

    def move(self, name: str, wish: Tree) -> Revision:
        """Change the state of a revision: apply it, confirm it, or save it.

        Parameters
        ----------
        name
            Name of the revision.
        wish
            The wanted state, answers to questions given beforehand, and the time to confirm.

        Returns
        -------
        Revision
            The revision.
        """
        revision, state = self.revision(name), wish.get("state")
        if state == "apply":
            self._apply(name, revision, wish)
        elif state == "confirm_yes":
            self._confirm(name, revision)
        elif state == "confirm_no" and revision.state == "confirm":
            self._take_back(revision)
        elif state == "save":
            self._save()
        else:
            raise RefusalError(HTTPStatus.BAD_REQUEST, f"{state!r} is not a state to ask for")
        self.tick()
        return self.revision(name)

    def tick(self) -> None:
        """Do what is due: finish an apply, take back what nobody confirmed."""
        with self.lock:
            now = self.clock()
            for name, revision in self.revisions.items():
                if revision.state == "reloading" and revision.due <= now:
                    self._loaded(name, revision, now)
                elif revision.state == "confirm" and revision.due <= now:
                    self._take_back(revision)

    def _factory(self, user: str, password: str) -> Tree:
        """Return what a new switch runs."""
        saving = {"state": "enabled"} if self.is_numbered else {"enable": "on"}
        account = {"role": "system-admin", "hashed-password": hashed(password, "factory")}
        system = {"aaa": {"user": {user: account}}, "api": {"state": "enabled"}, "config": {"auto-save": saving}}
        return {"interface": {"eth0": {"type": "eth"}}, "system": system}

    def _open(self, name: str) -> Revision:
        """Return a revision that can still be changed."""
        revision = self.revision(name)
        if revision.state != "pending":
            raise RefusalError(HTTPStatus.CONFLICT, f"Revision {name} is {revision.state}, not pending")
        return revision

    def _apply(self, name: str, revision: Revision, wish: Tree) -> None:
        """Begin to apply a revision."""
        self._open(name)
        if any(other.state in {"reloading", "confirm"} for other in self.revisions.values()):
            raise RefusalError(HTTPStatus.CONFLICT, "Another revision is being applied")
        self._check = self._check or checker(self.release)
        revision.issues = self._check(revision.config)
        if revision.issues:
            revision.state = "invalid"
        elif at(wish, ("auto-prompt", "ays")) != "ays_yes":
            revision.state = "ays_fail"
            revision.issues = [Issue("", "The question whether you are sure was not answered")]
        else:
            confirm_s = at(wish, ("state-controls", "confirm"))
            revision.confirm_s = None if confirm_s is None or self.faults.ignore_confirm else float(confirm_s)
            revision.state, revision.due = "reloading", self.clock() + self.faults.apply_s

    def _loaded(self, name: str, revision: Revision, now: float) -> None:
        """Bring a revision into force."""
        before = self.running
        self.bgp_lost = self.faults.lose_bgp
        try:
            self._put_in_force(revision.config)
        except ApplyError as error:
            self.bgp_lost = False
            revision.state, revision.issues = "apply_fail", [Issue("", str(error))]
            return
        self.running, revision.before = revision.config, before
        if revision.confirm_s is None:
            self._kept(name, revision)
        else:
            revision.state, revision.due = "confirm", now + revision.confirm_s

    def _confirm(self, name: str, revision: Revision) -> None:
        """Keep what waits for it."""
        if revision.state != "confirm":
            raise RefusalError(HTTPStatus.CONFLICT, f"Revision {name} is {revision.state}: nothing to confirm")
        self._kept(name, revision)

    def _put_in_force(self, config: Tree) -> None:
        """Hand a configuration to the machine behind."""
        if self.faults.fail_apply:
            raise ApplyError(self.faults.fail_apply)
        self.on_applied(config)

    def _kept(self, name: str, revision: Revision) -> None:
        """Make a revision the applied one."""
        self.applied_id, revision.state = name, "applied"
        if self.auto_saves and not self.faults.refuse_save:
            self.startup, revision.state = self.running, "applied_and_saved"

    def _take_back(self, revision: Revision) -> None:
        """Return to what ran before."""
        revision.state = "confirm_fail"
        revision.issues = [Issue("", "Not confirmed in time: the configuration was rolled back")]
        self.running, self.bgp_lost = revision.before, False
        with suppress(ApplyError):
            self.on_applied(self.running)

    def _save(self) -> None:
        """Keep what is applied for a restart."""
        if self.faults.refuse_save:
            raise RefusalError(HTTPStatus.INTERNAL_SERVER_ERROR, "The startup configuration could not be written")
        self.startup = self.running
        if self.applied_id:
            self.revisions[self.applied_id].state = "applied_and_saved"
