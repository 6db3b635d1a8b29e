"""The state of one controller and of the machine behind it, and what a machine boots from when its power comes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

from kvplan.twin.bmc.refusal import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvplan.twin.bmc.profiles import Profile

LEGACY, UEFI = "Legacy", "UEFI"
STARTS = ("On", "ForceOn", "ForceRestart", "GracefulRestart", "PowerCycle")
RESTARTS = ("ForceRestart", "GracefulRestart", "PowerCycle")
STOPS = ("ForceOff", "GracefulShutdown")


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine as its label says."""

    name: str
    serial: str
    model: str = "SYS-221H-TNR"


class Boot(NamedTuple):
    """What a machine started from: the image it was served, or its own drive and why it was not the image."""

    image_url: str | None
    why_not: str


@dataclass(slots=True)
class Slot:
    """A virtual drive: what was named for it, and since when it is connected."""

    name: str
    image: str | None = None
    connected: bool = False
    ready_s: float = 0


@dataclass(slots=True)
class State:
    """Everything that a controller remembers. `boots` and `requests` are the witnesses of a test."""

    machine: Machine
    profile: Profile
    clock: Callable[[], float]
    powered: bool = False
    power_due_s: float = 0
    override: dict[str, Any] = field(default_factory=dict)
    slots: dict[str, Slot] = field(default_factory=dict)
    configured: dict[str, str] = field(default_factory=lambda: {"Host": "", "Path": ""})
    licensed: bool = True
    busy_left: int = 0
    losses_left: int = 0
    stale_etags_left: int = 0
    mount_refusals_left: int = 0
    acting: bool = False
    """Whether the machine is being stopped or started right now, so that it is not yet as the controller says."""
    sessions: dict[str, str] = field(default_factory=dict)
    most_sessions: int = 0
    each_needs_session: bool = False
    """Whether a request with a password takes a session for as long as it lasts, and is refused where none is left."""
    boots: list[Boot] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    lock: Any = field(default_factory=RLock)

    @classmethod
    def new(cls, machine: Machine, profile: Profile, clock: Callable[[], float], *, powered: bool = False) -> State:
        """Build the state of a controller that was just plugged in."""
        names = ("CD1",) if profile.configured_cd else (*profile.eject_only_slots, *profile.slots)
        return cls(
            machine=machine,
            profile=profile,
            clock=clock,
            powered=powered,
            override={"enabled": "Disabled", "target": "None", "mode": UEFI},
            slots={name: Slot(name) for name in names},
            licensed=profile.licensed,
            losses_left=profile.override_losses,
            stale_etags_left=profile.stale_etags,
        )

    def changing(self) -> bool:
        """Tell whether a change of power is still under way."""
        return self.clock() < self.power_due_s

    def power_shown(self) -> str:
        """Name the power state as the controller reports it: late."""
        return "On" if self.powered != self.changing() else "Off"

    def connected(self, slot: Slot) -> bool:
        """Tell whether a slot's image is connected by now."""
        return slot.connected and self.clock() >= slot.ready_s

    def image(self) -> str | None:
        """Name the image that is connected; None where none is."""
        return next((slot.image for slot in self.slots.values() if self.connected(slot)), None)

    def reset(self, kind: str) -> Boot | None:
        """Change the power.

        Parameters
        ----------
        kind
            A `ResetType`.

        Returns
        -------
        Boot or None
            What the machine now tries to start from; None when it does not start.

        Raises
        ------
        Refusal
            When the type is unknown, or does not fit the state.
        """
        if kind not in STARTS + STOPS:
            raise Refusal.value_unknown(kind, "ResetType")
        if self.changing() or (kind in RESTARTS and not self.powered and not self.profile.restarts_when_off):
            raise Refusal.state_wrong(kind, self.power_shown())
        before, self.powered = self.powered, kind in STARTS
        if before != self.powered:
            self.power_due_s = self.clock() + self.profile.power_s
        return self.starts() if self.powered and (kind in RESTARTS or not before) else None

    def starts(self) -> Boot:
        """Say what the machine tries to start from, and use up a one-time override."""
        why_not = self._why_not()
        if self.override["enabled"] == "Once":
            self.override |= {"enabled": "Disabled", "target": "None"}
        return Boot(None, why_not) if why_not else Boot(self.image(), "")

    def _why_not(self) -> str:
        """Say what keeps the machine from its virtual drive; nothing where it is right."""
        target, mode = self.override["target"], self.override["mode"]
        if self.override["enabled"] == "Disabled":
            return "no boot override is set"
        if target not in self.profile.cd_targets:
            return f"target {target} does not reach the virtual drive"
        if self.profile.mode != "absent" and mode != UEFI:
            return f"the override's mode is {mode}"
        if not any(map(self.connected, self.slots.values())):
            return "no image is connected"
        return ""
