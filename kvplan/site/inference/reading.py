"""The rendered files read back: units, environment, ports; independent of what wrote them."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from kvplan.site.inference.stack import PortRow, Stack
from kvplan.site.reading import values_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvplan.site.deployment import Deployment

_UNIT: Final = re.compile(r"hosts/(?P<host>[^/]+)/etc/systemd/system/(?P<name>kv-[^/]+)\.service")
_ENV: Final = re.compile(r"hosts/(?P<host>[^/]+)/etc/kv/(?P<name>[^/]+)\.env")
_WORD: Final = re.compile(r"""'(?P<single>[^']*)'|(?P<double>"(?:[^"\\]|\\.)*")|(?P<bare>\S+)""")
_ENGINE: Final = "kv-engine-"
PORTS: Final = "inference/ports.csv"
PROMETHEUS: Final = "inference/prometheus.yml"
DASHBOARD: Final = "inference/dashboard.json"


def words_of(line: str) -> tuple[str, ...]:
    r"""Split a command line of systemd.

    Parameters
    ----------
    line
        The line, continued lines joined.

    Returns
    -------
    tuple of str
        Its words without quotes.

    Examples
    --------
    >>> words_of("run --name=a '{\"b\": 1}' \"c 'd'\"")
    ('run', '--name=a', '{"b": 1}', "c 'd'")
    """
    return tuple(_plain(match) for match in _WORD.finditer(line))


def _plain(match: re.Match[str]) -> str:
    """Take the quotes off a word."""
    single, double, bare = match.group("single", "double", "bare")
    return str(json.loads(double)) if double else (single if single is not None else bare)


@dataclass(frozen=True)
class Unit:
    """A unit that runs a container: its file, host and name, its settings, and podman's words."""

    path: str
    host: str
    name: str
    settings: Mapping[str, tuple[str, ...]]
    options: Mapping[str, tuple[str, ...]]
    image: str
    arguments: Mapping[str, tuple[str, ...]]

    def one(self, key: str) -> str:
        """Return the last value of a setting; empty where it has none."""
        return self.settings.get(key, ("",))[-1]

    def argument(self, flag: str) -> str:
        """Return the last value of an argument; empty where it is absent or has none."""
        return self.arguments.get(flag, ("",))[-1]

    @property
    def number(self) -> int:
        """The number of the engine; -1 where it is none."""
        digits = self.name.removeprefix(_ENGINE)
        return int(digits) if self.name.startswith(_ENGINE) and digits.isdecimal() else -1

    @cached_property
    def gpus(self) -> tuple[str, ...]:
        """The GPUs that the container gets."""
        devices = self.options.get("--device", ())
        return tuple(device.partition("=")[2] for device in devices if device.startswith("nvidia.com/gpu="))


def unit_of(path: str, host: str, name: str, text: str) -> Unit:
    """Read a unit.

    Parameters
    ----------
    path
        Its file.
    host
        The host it is for.
    name
        Its name without `.service`.
    text
        Its content.

    Returns
    -------
    Unit
        The unit; without podman's words where it runs something else.
    """
    settings = _several(line.partition("=") for line in text.replace("\\\n", " ").splitlines() if "=" in line)
    words = words_of(settings.get("ExecStart", ("",))[-1])[2:]
    start = next((index for index, word in enumerate(words) if not word.startswith("-")), len(words))
    image, command = "".join(words[start : start + 1]), words[start + 1 :]
    options, arguments = (_several(word.partition("=") for word in part) for part in (words[:start], command))
    return Unit(path, host, name, settings, options, image, arguments)


def _several(parts: Iterator[tuple[str, str, str]]) -> dict[str, tuple[str, ...]]:
    """Gather values by name, for a name may occur several times."""
    held: dict[str, list[str]] = {}
    for name, _, value in parts:
        held.setdefault(name, []).append(value)
    return {name: tuple(values) for name, values in held.items()}


@dataclass(frozen=True)
class Rendered:
    """A rendered tree beside the deployment that it is for."""

    deployment: Deployment
    tree: Mapping[str, str]

    @cached_property
    def stack(self) -> Stack:
        """What was decided about engines; expectations come from here, findings from the files."""
        return Stack(self.deployment)

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """All units that run containers."""
        found = ((path, _UNIT.fullmatch(path)) for path in sorted(self.tree))
        read = (unit_of(path, match["host"], match["name"], self.tree[path]) for path, match in found if match)
        return tuple(unit for unit in read if unit.image)

    @cached_property
    def engines(self) -> tuple[Unit, ...]:
        """The units of engines."""
        return tuple(unit for unit in self.units if unit.number >= 0)

    @cached_property
    def by_name(self) -> dict[tuple[str, str], Unit]:
        """The units by host and name."""
        return {(unit.host, unit.name): unit for unit in self.units}

    @cached_property
    def environments(self) -> dict[str, dict[str, str]]:
        """The environment files by path."""
        return {path: values_in(text) for path, text in sorted(self.tree.items()) if _ENV.fullmatch(path)}

    @cached_property
    def ports(self) -> tuple[PortRow, ...]:
        """The table of ports; rows that are none are left out, and found by comparison."""
        rows = csv.DictReader(self.tree.get(PORTS, "").splitlines())
        return tuple(
            PortRow(row["host"], row["engine"], row["purpose"], int(row["port"]))
            for row in rows
            if str(row.get("port")).isdecimal()
        )

    def environment(self, unit: Unit) -> dict[str, str]:
        """Return the variables of a unit; empty where its file is missing."""
        host_path = PurePosixPath(unit.options.get("--env-file", ("",))[-1])
        return self.environments.get(f"hosts/{unit.host}{host_path}", {})

    def environment_path(self, unit: Unit) -> str:
        """Return the path of a unit's environment file."""
        return f"hosts/{unit.host}/etc/kv/engine-{unit.number}.env"

    def transfer(self, unit: Unit) -> dict[str, Any]:
        """Return the transfer configuration of an engine; empty where it is no JSON object."""
        try:
            data = json.loads(unit.argument("--kv-transfer-config"))
        except json.JSONDecodeError:
            return {}
        return data if isinstance(data, dict) else {}
