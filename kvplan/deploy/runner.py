"""One playbook, run by ansible-runner: nothing of the caller's environment goes in, no secret comes out."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kvplan.deploy.events import HostCounts, Stats, read_event
from kvplan.deploy.lock import TETHER_LOCK
from kvplan.deploy.secrets import redacted, redacted_data
from kvplan.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from io import TextIOWrapper

    from kvplan.deploy.events import Event

KEPT: Final = ("PATH", "HOME", "USER", "LOGNAME", "TZ")
"""The variables that a playbook gets from the caller."""
FORKS: Final = 32
_POLL_SECONDS: Final = 1
_TETHER: Final = Path(__file__).with_name("tether.py")
_DISPLAY: Final = Path(__file__).with_name("display") / "kvplan_display.py"
_SSH: Final = {
    "ControlMaster": "auto",
    "ControlPersist": "60s",
    "ServerAliveInterval": "5",
    "ServerAliveCountMax": "3",
    "ConnectTimeout": "10",
    "BatchMode": "yes",
    "IdentitiesOnly": "yes",
}
"""How hosts are reached: a host that goes silent is given up after 15 s, and nothing is ever asked."""


@dataclass(frozen=True, slots=True)
class Job:
    """A playbook to run: on which tree, with which secrets, on which hosts, and how.

    `variables` are plain data for the playbook besides the secrets, which it gets as `kv_secret_<name>`; `private_key`,
    if given, is that of the deployer. `known_hosts` is a file that the caller keeps; without one, `learns`, or else the
    state's own file, learns the key of a host that was never seen, and refuses one that changed.
    """

    playbook: Path
    tree: Path
    state: Path
    scratch: Path
    log: Path
    secrets: Mapping[str, str] = field(repr=False)
    variables: Mapping[str, Any]
    limit: str = ""
    check: bool = False
    diff: bool = False
    known_hosts: Path | None = None
    learns: Path | None = None

    @property
    def host_keys(self) -> Path:
        """The file of host keys."""
        return self.known_hosts or self.learns or self.state / "known_hosts"


class Result(NamedTuple):
    """How a playbook ended: its code, the counts of each host, and whether it was stopped."""

    code: int
    hosts: Mapping[str, HostCounts]
    stopped: bool

    @property
    def ok(self) -> bool:
        """Whether it reached its end on every host."""
        return self.code == 0 and not self.stopped and not any(counts.bad for counts in self.hosts.values())


def run_playbook(job: Job, sink: Callable[[Event], None]) -> Result:
    """Run a playbook to its end, or until Ctrl-C.

    Everything that ansible-runner writes lies in the directory in memory; what is kept, log and events, is written
    here, without secrets.

    Parameters
    ----------
    job
        The playbook.
    sink
        Takes each event.

    Returns
    -------
    Result
        How it ended.

    Raises
    ------
    InputError
        When Ansible is not installed, or the log cannot be written.
    """
    try:
        from ansible_runner.interface import init_runner  # noqa: PLC0415 - an extra, and slow to load
    except ImportError as error:
        raise InputError.single(
            where="deploy", what="Ansible is missing", hint="pip install 'kvplan[deploy]'"
        ) from error
    private = job.scratch / "run"
    _prepare(job, private)
    counts: dict[str, HostCounts] = {}
    broken: list[OSError] = []
    with _files(job.log) as (log, lines), _signals() as caught:

        def handle(raw: dict[str, Any]) -> bool:
            try:
                event = _kept(raw, job.secrets, log, lines)
                if isinstance(event, Stats):
                    counts.update(event.hosts)
                if event:
                    sink(event)
            except OSError as error:
                broken.append(error)  # ansible-runner would wait for a playbook that nobody listens to
            return False  # ansible-runner keeps nothing itself

        def stop() -> bool:
            if caught or broken:
                _stop(job.state)
            return False  # ansible-runner would kill the playbook and leave its workers

        runner = init_runner(
            private_data_dir=str(private),
            binary=sys.executable,
            cmdline=shlex.join(_arguments(job)),
            inventory=str(job.tree / "inventory" / "hosts.yml"),
            settings={"pexpect_timeout": _POLL_SECONDS, "suppress_output_file": True},
            quiet=True,
            event_handler=handle,
            cancel_callback=stop,
        )
        runner.config.env = _environment(job, runner.config.env)
        runner.run()
        if broken:
            raise broken[0]
    return Result(runner.rc if runner.rc is not None else 1, counts, bool(caught))


def _prepare(job: Job, private: Path) -> None:
    """Make the directory in memory for one run, with secrets and variables in files of mode 0600."""
    shutil.rmtree(private, ignore_errors=True)
    for folder in (private, private / "tmp", private / "home", job.scratch / "cp"):
        folder.mkdir(mode=0o700, exist_ok=True)
    (private / "ansible.cfg").touch()
    shared = {f"kv_secret_{name}": secret for name, secret in job.secrets.items() if name != "private_key"}
    _write_private(job.scratch / "vars.yml", _unsafe_yaml({**job.variables, **shared}))
    if key := job.secrets.get("private_key"):
        _write_private(job.scratch / "key", f"{key.strip()}\n")


def _write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, from its first byte on."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(text)


def _unsafe_yaml(variables: Mapping[str, Any]) -> str:
    """Write variables so that Ansible takes no text of them for a template."""
    import yaml  # noqa: PLC0415 - needed for a run only

    def node(value: Any) -> yaml.Node:
        if isinstance(value, dict):
            return yaml.MappingNode("tag:yaml.org,2002:map", [(name(key), node(item)) for key, item in value.items()])
        if isinstance(value, list):
            return yaml.SequenceNode("tag:yaml.org,2002:seq", [node(item) for item in value])
        if isinstance(value, str):
            return yaml.ScalarNode("!unsafe", value, style='"')
        return yaml.SafeDumper(StringIO()).represent_data(value)

    def name(key: Any) -> yaml.Node:
        return yaml.ScalarNode("tag:yaml.org,2002:str", str(key), style='"')

    return str(yaml.serialize(node(dict(variables))))


def _arguments(job: Job) -> list[str]:
    """Write the command: the tether, then ansible-playbook of the same interpreter."""
    switches = [*(["--check"] if job.check else []), *(["--diff"] if job.diff else [])]
    limit = ["--limit", job.limit] if job.limit else []
    key = ["--private-key", str(job.scratch / "key")] if "private_key" in job.secrets else []
    tether = ["-I", str(_TETHER), str(job.state / TETHER_LOCK), str(os.getpid())]
    playbook = [sys.executable, "-m", "ansible.cli.playbook", str(job.playbook), "--extra-vars"]
    return [*tether, *playbook, f"@{job.scratch / 'vars.yml'}", *key, *limit, *switches]


def _environment(job: Job, made: Mapping[str, str]) -> dict[str, str]:
    """Make the playbook's environment: a few of the caller's variables, and settings that no file of his changes."""
    options = {
        **_SSH,
        "UserKnownHostsFile": str(job.host_keys),
        "StrictHostKeyChecking": "yes" if job.known_hosts else "accept-new",
    }
    runners = ("AWX_ISOLATED_DATA_DIR", "RUNNER_OMIT_EVENTS", "RUNNER_ONLY_FAILED_EVENTS")
    private = job.scratch / "run"
    return {
        **{name: os.environ[name] for name in KEPT if name in os.environ},
        **{name: made[name] for name in runners if name in made},
        "LANG": "C.UTF-8",
        "TMPDIR": str(private / "tmp"),
        "ANSIBLE_CONFIG": str(private / "ansible.cfg"),
        "ANSIBLE_HOME": str(private / "home"),
        "ANSIBLE_LOCAL_TEMP": str(private / "tmp"),
        "ANSIBLE_CALLBACK_PLUGINS": str(_DISPLAY.parent),
        "ANSIBLE_STDOUT_CALLBACK": _DISPLAY.stem,
        "ANSIBLE_HOST_PATTERN_MISMATCH": "ignore",  # --limit leaves groups empty
        "ANSIBLE_RETRY_FILES_ENABLED": "False",
        "ANSIBLE_NOCOWS": "True",
        "ANSIBLE_NOCOLOR": "True",
        "ANSIBLE_FORKS": str(FORKS),
        "ANSIBLE_HOST_KEY_CHECKING": "True",
        "ANSIBLE_PIPELINING": "True",
        "ANSIBLE_SSH_ARGS": shlex.join(part for item in options.items() for part in ("-o", "=".join(item))),
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(job.scratch / "cp"),
        "ANSIBLE_ROLES_PATH": str(job.playbook.parent / "roles"),
        "ANSIBLE_LIBRARY": str(job.playbook.parent / "plugins" / "modules"),
        "ANSIBLE_MODULE_UTILS": str(job.playbook.parent / "plugins" / "module_utils"),
        "ANSIBLE_FILTER_PLUGINS": str(job.playbook.parent / "plugins" / "filter"),
        "ANSIBLE_ACTION_PLUGINS": str(job.playbook.parent / "plugins" / "action"),
    }


def _kept(raw: dict[str, Any], secrets: Mapping[str, str], log: TextIOWrapper, lines: TextIOWrapper) -> Event | None:
    """Keep an event without secrets, in the log and as a line of JSON, and make a record of it."""
    clean: dict[str, Any] = redacted_data(raw, secrets)
    if clean.get("stdout"):
        log.write(f"{redacted(clean['stdout'], secrets)}\n")
        log.flush()
    lines.write(f"{json.dumps(clean, default=str)}\n")
    lines.flush()
    return read_event(clean)


@contextmanager
def _files(path: Path) -> Iterator[tuple[TextIOWrapper, TextIOWrapper]]:
    """Open the log, and the file of events beside it, so that only their owner may read them."""
    events = path.with_suffix(".jsonl")
    try:
        path.touch(mode=0o600)
        events.touch(mode=0o600)
        with path.open("a", encoding="utf-8") as log, events.open("a", encoding="utf-8") as lines:
            yield log, lines
    except BrokenPipeError:  # of whoever read what was printed
        raise
    except OSError as error:
        raise InputError.single(str(path), f"cannot be written: {(error.strerror or str(error)).lower()}") from error


def _stop(state: Path) -> None:
    """Ask the tether to end its playbook and everything that it began."""
    with suppress(ValueError, OSError):
        os.kill(int((state / TETHER_LOCK).read_text(encoding="utf-8")), signal.SIGTERM)


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Take note of Ctrl-C and its kin while a playbook runs, instead of falling over them."""
    caught: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, lambda number, _: caught.append(number)) for number in numbers}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
