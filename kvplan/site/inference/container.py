"""What all units have in common: a container that podman runs under systemd, and the variables of its process."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from kvplan.site.templating import rendered

if TYPE_CHECKING:
    from kvplan.site.inference.stack import Stack

_BARE: Final = re.compile(r"[A-Za-z0-9_@/.,:=+${}-]+")
_STOP_MARGIN_S: Final = 10
"""Podman kills a container before systemd would kill the unit, so that the container's state is cleaned up."""


def word(argument: str) -> str:
    r"""Quote a word for a command line of systemd.

    Parameters
    ----------
    argument
        The word; variables are left to be replaced.

    Returns
    -------
    str
        The word, in quotes where it needs some.

    Examples
    --------
    >>> word("--name=kv"), word('{"a":1}'), word("a 'b'")
    ('--name=kv', '\'{"a":1}\'', '"a \'b\'"')
    """
    if _BARE.fullmatch(argument):
        return argument
    return json.dumps(argument) if "'" in argument else f"'{argument}'"


def runtime(stack: Stack) -> dict[str, str]:
    """Give the variables by which Dynamo's processes find each other.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    dict of str
        Values by name; both lines of releases read the planes from the environment.
    """
    variables = {
        "DYN_STORE_KV" if stack.is_old else "DYN_DISCOVERY_BACKEND": stack.text("discovery"),
        "DYN_REQUEST_PLANE": stack.text("request_plane"),
        "DYN_EVENT_PLANE": stack.event_plane if stack.kv_events else "zmq",
    }
    if stack.needs_etcd:
        variables["ETCD_ENDPOINTS"] = f"http://{stack.services}:{stack.port('etcd')}"
    if stack.needs_nats:
        variables["NATS_SERVER"] = f"nats://{stack.services}:{stack.port('nats')}"
    return variables


def offline(stack: Stack) -> dict[str, str]:
    """Give the variables by which a process finds all of its model on the disk, and fetches nothing.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    dict of str
        Values by name; gpt-oss has a vocabulary beside its tokenizer, which lies below the weights.
    """
    variables = {"HF_HUB_OFFLINE": "1"}
    if stack.is_gpt_oss:
        variables["TIKTOKEN_ENCODINGS_BASE"] = stack.vocabulary
    return variables


def environment(what: str, variables: dict[str, str]) -> str:
    """Write an environment file as podman reads it.

    Parameters
    ----------
    what
        Whose environment it is, for its first line.
    variables
        Values by name.

    Returns
    -------
    str
        One variable a line.

    Examples
    --------
    >>> print(environment("a test", {"A": "1"}), end="")
    # Environment of a test.
    A=1
    """
    return "".join((f"# Environment of {what}.\n", *(f"{name}={value}\n" for name, value in variables.items())))


def probe(stack: Stack, port: int, path: str) -> tuple[str, ...]:
    """Give the options of a health check: whether a page answers, asked from inside the container.

    Parameters
    ----------
    stack
        The engines.
    port
        The port on the host itself.
    path
        The page.

    Returns
    -------
    tuple of str
        Options of podman; failures while the process may still be starting do not count.
    """
    page = f"http://127.0.0.1:{port}{path}"
    return (
        f"--health-cmd=python3 -c 'import urllib.request as r; r.urlopen(\"{page}\")'",
        f"--health-interval={stack.text('health_interval_s')}s",
        f"--health-start-period={stack.start_timeout_s}s",
    )


def user(stack: Stack, name: str) -> tuple[str, ...]:
    """Give the user of a container and its home, which podman hands over to that user.

    Parameters
    ----------
    stack
        The engines.
    name
        The unit, after which its directory below `/var/cache` is called.

    Returns
    -------
    tuple of str
        Options of podman.
    """
    home = f"/var/cache/{name}"
    return f"--user={stack.layout.uid}:{stack.layout.gid}", f"--volume={home}:{home}:U"


def container_unit(  # noqa: PLR0913 - what differs between units, by name
    stack: Stack,
    *,
    name: str,
    description: str,
    options: tuple[str, ...],
    command: tuple[str, ...],
    after: tuple[str, ...] = (),
    requires: tuple[str, ...] = (),
    paths: tuple[str, ...] = (),
    start_s: int | None = None,
    numa: tuple[int, ...] = (),
    keeps_data: bool = False,
) -> str:
    """Write a unit that runs a container.

    Parameters
    ----------
    stack
        The engines.
    name
        Name of unit and container.
    description
        What it is.
    options
        Podman's options beside those that all containers have.
    command
        Image, and what runs in it.
    after
        Units that start before it.
    requires
        Units without which it does not run.
    paths
        What must be mounted. Storage Scale mounts its own when its daemon is ready, which is long after `gpfs.service`
        has started: such a path is looked at, so that the unit is tried again. A mount that is required and fails
        would leave the unit down for good.
    start_s
        How long it may take to start; the general time when absent [s].
    numa
        NUMA nodes whose processors it runs on; all when empty.
    keeps_data
        Whether its directory is `/var/lib`, which is kept, and not `/var/cache`.

    Returns
    -------
    str
        The unit.
    """
    stop_s = int(stack.number("stop_timeout_s"))
    files = stack.text("nofile")
    on_storage = [path for path in paths if PurePosixPath(path).is_relative_to(stack.mount)]
    general = (
        *(f"--name={name}", "--replace", "--rm", "--detach", "--cgroups=split"),
        *("--network=host", "--ipc=host", "--pids-limit=-1"),
        *("--ulimit=memlock=-1:-1", f"--ulimit=nofile={files}:{files}"),
    )
    return rendered(
        "inference/container.service.j2",
        name=name,
        description=description,
        after=after,
        requires=requires,
        paths=[path for path in paths if path not in on_storage],
        mount=stack.mount if on_storage else "",
        numa=numa,
        keeps_data=keeps_data,
        words=[word(argument) for argument in (*general, *options, *command)],
        start_s=start_s or int(stack.number("start_timeout_s")),
        stop_s=stop_s,
        kill_s=stop_s - _STOP_MARGIN_S,
        restart_s=int(stack.number("restart_s")),
        memlock=stack.text("memlock"),
        nofile=files,
        clears_memory=stack.backend == "vllm-fs" and bool(numa),
    )
