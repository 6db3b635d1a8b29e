"""A node's clock that is wrong: whoever logs in is shown another time than the machine's, whose clock stays as it is.

A node is a container, whose clock is the machine's. What runs in a session over SSH, by sudo too, is shown another time
instead, and files with their times moved alike. Services, and what was running before, see the machine's time: neither
systemd nor what guards sshd bears to be told another.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from kvplan.twin.rack.faces import FACES
from kvplan.twin.rack.shell import RackError

if TYPE_CHECKING:
    from kvplan.twin.rack.rack import Rack

LIBRARY: Final = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
_ENVIRONMENT: Final = "/etc/kv-clock"
_UNTOLD: Final = ("systemctl", "systemd-run", "loginctl", "busctl")
"""Programs that wait by timers, which the library does not carry over."""
_SLEEP: Final = """\
import time; time.sleep = lambda seconds, wait=__import__("select").select: wait([], [], [], seconds) and None
"""
"""Python sleeps until a time, which the library takes for one that is past: it is told to wait instead."""


def skewed(seconds: int) -> dict[str, str]:
    """Return the files that make a node's clock wrong; without them it is right again, once sshd reads that.

    Parameters
    ----------
    seconds
        How far ahead it is; behind where it is negative [s].

    Returns
    -------
    dict of str
        Text by path.

    Examples
    --------
    >>> print(skewed(-7200)["/etc/kv-clock"])
    LD_PRELOAD=/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1
    FAKETIME=-7200
    FAKETIME_DONT_FAKE_MONOTONIC=1
    FAKETIME_SKIP_CMDS=systemctl,systemd-run,loginctl,busctl
    """
    words = (
        f"LD_PRELOAD={LIBRARY}",
        f"FAKETIME={seconds:+d}",
        # Time that only passes is left alone: waiting and patience are none of a clock's.
        "FAKETIME_DONT_FAKE_MONOTONIC=1",
        f"FAKETIME_SKIP_CMDS={','.join(_UNTOLD)}",
    )
    return {
        _ENVIRONMENT: "\n".join((*words, "")),
        "/etc/ssh/sshd_config.d/00-clock.conf": f"SetEnv {' '.join(words)}\n",
        "/etc/sudoers.d/kv-clock": f"Defaults env_file={_ENVIRONMENT}\n",
        "/usr/lib/python3/dist-packages/kv-clock.pth": _SLEEP,
    }


def skew(rack: Rack, node: str, seconds: int) -> None:
    """Put a node's clock ahead or behind, or right with 0, for every connection that is made from now on.

    Parameters
    ----------
    rack
        The rack.
    node
        The node, which is on.
    seconds
        How far ahead its clock is to be [s].

    Raises
    ------
    RackError
        When the machine lacks the library for it, or the node is off.
    """
    files = skewed(seconds)
    if not LIBRARY.is_file():
        message = f"{LIBRARY} is not there: apt install libfaketime"
        raise RackError(message)
    for path, text in files.items():
        if seconds:
            rack.run(node, "install", "-D", "-m", "444", "/dev/stdin", path, stdin=text)
        else:
            rack.run(node, "rm", "-f", path)
    face = next(one.face for one in rack.plan.nodes if one.name == node)
    rack.run(node, "systemctl", "reload", FACES[face].ssh_unit)
    # It starts anew for that, and hears nobody for a moment.
    rack.wait([node])
