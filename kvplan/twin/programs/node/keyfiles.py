"""Connection profiles as NetworkManager keeps them in files, and the commands of `ip` that set them."""

from __future__ import annotations

import stat
from configparser import ConfigParser, SectionProxy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_PRIVATE = 0o077
_NEVER = "none"


@dataclass(frozen=True)
class Profile:
    """A profile: its name, its type, what it fits to, and its settings by section."""

    id: str
    type: str
    interface: str
    mac: str
    autoconnect: bool
    settings: dict[str, dict[str, str]]

    def fits(self, name: str, mac: str) -> bool:
        """Tell whether it fits to an interface."""
        if (name == "lo") != (self.type == "loopback"):
            return False
        return self.interface in ("", name) and self.mac in ("", mac.lower()) and bool(self.interface or self.mac)


def read(path: Path, *, owner: int) -> Profile | None:
    """Read a profile.

    Parameters
    ----------
    path
        Its file.
    owner
        Who must own it.

    Returns
    -------
    Profile or None
        None for a file that others may read: NetworkManager takes no such file, for it may hold secrets.
    """
    held = path.stat()
    if stat.S_IMODE(held.st_mode) & _PRIVATE or held.st_uid != owner:
        return None
    return parsed(path.read_text(encoding="utf-8"), path.stem)


def parsed(text: str, stem: str) -> Profile:
    """Read the text of a profile.

    Parameters
    ----------
    text
        The text.
    stem
        Its file's name, which it is called by if it says no other.

    Returns
    -------
    Profile
        The profile.
    """
    parser = ConfigParser(delimiters=("=",), comment_prefixes=("#",), interpolation=None, strict=False)
    parser.read_string(text)
    settings: dict[str, dict[str, str]] = {name: dict(_section(parser[name])) for name in parser.sections()}
    connection = settings.get("connection", {})
    ethernet = settings.get("ethernet", settings.get("802-3-ethernet", {}))
    return Profile(
        id=connection.get("id", stem),
        type=connection.get("type", "ethernet"),
        interface=connection.get("interface-name", ""),
        mac=ethernet.get("mac-address", "").lower(),
        autoconnect=connection.get("autoconnect", "true") == "true",
        settings={**settings, "ethernet": ethernet},
    )


def _section(section: SectionProxy) -> list[tuple[str, str]]:
    """List what a section holds."""
    return [(key, value.strip()) for key, value in section.items()]


def addresses(profile: Profile) -> list[str]:
    """List the addresses of a profile with their lengths; the file may name a gateway behind a comma."""
    ipv4 = _numbered(profile.settings.get("ipv4", {}), "address")
    ipv6 = _numbered(profile.settings.get("ipv6", {}), "address")
    return [row.partition(",")[0] for row in (*ipv4.values(), *ipv6.values())]


def activation(profile: Profile, device: str, held: list[str]) -> list[str]:
    """List the commands that make a device as a profile says.

    Parameters
    ----------
    profile
        The profile.
    device
        The interface.
    held
        Addresses that it has.

    Returns
    -------
    list of str
        Lines for `ip -batch`; addresses that stay are not touched, so that connections last.
    """
    wanted = addresses(profile)
    mtu = profile.settings["ethernet"].get("mtu", "")
    kept = {"127.0.0.1/8", "::1/128"} if device == "lo" else set[str]()
    lines = [f"link set {device}{f' mtu {mtu}' if mtu else ''} up"]
    lines += [f"address del {address} dev {device}" for address in held if address not in {*wanted, *kept}]
    lines += [f"address replace {address} dev {device}" for address in wanted if address not in held]
    return lines + _routes(profile, device)


def rules(profile: Profile) -> list[str]:
    """List the routing rules of a profile, as `ip rule` takes them."""
    return list(_numbered(profile.settings.get("ipv4", {}), "routing-rule").values())


def _routes(profile: Profile, device: str) -> list[str]:
    """List the commands that set the routes of a profile; those that it set before are replaced."""
    ipv4 = profile.settings.get("ipv4", {})
    lines = []
    gateway = ipv4.get("gateway") or next(
        (row.partition(",")[2] for row in _numbered(ipv4, "address").values() if "," in row), ""
    )
    if gateway and ipv4.get("never-default") != "true":
        lines.append(f"route replace default via {gateway} dev {device} proto static metric 100")
    for key, row in _numbered(ipv4, "route").items():
        options = dict(pair.split("=", 1) for pair in ipv4.get(f"{key}_options", "").split(",") if pair)
        target, via, metric = (*row.split(","), "", "")[:3]
        line = f"route replace {target}{f' via {via}' if via else ''} dev {device} proto static"
        lines.append(line + f" table {options.get('table', 'main')}" + (f" metric {metric}" if metric else ""))
    return lines


def _numbered(section: dict[str, str], word: str) -> dict[str, str]:
    """Return the values of `word1`, `word2` and so on, in that order."""
    found = {key: value for key, value in section.items() if key.removeprefix(word).isdigit() and key.startswith(word)}
    return dict(sorted(found.items(), key=lambda item: int(item[0].removeprefix(word))))


def shown(profile: Profile, device: str) -> dict[str, Any]:
    """Return what a table of connections shows of a profile."""
    return {"NAME": profile.id, "TYPE": profile.type, "DEVICE": device or "--"}
