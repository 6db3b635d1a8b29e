"""Rules that hold for both installers: the guard of the drives, secrets, and what is left on the machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from kvplan.site.install.files import CONSOLE_PASSWORD, console_arguments
from kvplan.site.install.seen import Seen, file_rule
from kvplan.site.templating import rendered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.deployment import Deployment

_HASH: Final = re.compile(r"\$(1|2[abxy]|5|6|7|y|gy)\$[./A-Za-z0-9$=,]{8,}")
_PLACE: Final = re.compile(r"\{\{.*?\}\}")
_TWO: Final = re.compile(r'^two_drives "\$(\w+)" "\$(\w+)"$', re.MULTILINE)


@file_rule("KV-OSI-010", "Exactly the two boot drives of the Site are looked for, by serial number.")
def _serials(seen: Seen[Any]) -> Iterator[str]:
    """Say which boot drives are not looked for, or should not be."""
    sought = [drive.serial for drive in seen.sought.values()]
    for serial in sorted(seen.boot_serials - set(sought)):
        yield f"boot drive {serial} is not looked for"
    for serial in sorted(set(sought) - seen.boot_serials):
        yield f"{serial} is looked for, which is no boot drive of {seen.server.name}"
    if len(sought) != len(set(sought)):
        yield "the same serial number is looked for twice"


def drive_serials(deployment: Deployment) -> frozenset[str]:
    """List the serial numbers of all drives of the Site."""
    return frozenset(
        serial
        for server in deployment.site.servers
        for serial in (*server.boot_drives.serials, *(server.data_drives.serials if server.data_drives else ()))
    )


@file_rule("KV-OSI-011", "No serial number of a data drive, or of another machine's drive, stands in the file.")
def _foreign(seen: Seen[Any]) -> Iterator[str]:
    """Name serial numbers in the file that are not of its two boot drives."""
    data = seen.server.site.data_drives
    own_data = set(data.serials) if data else set()
    for serial in sorted((drive_serials(seen.deployment) & seen.words) - (seen.boot_serials - own_data)):
        whose = "a data drive" if serial in own_data else "a drive of another machine"
        yield f"{serial} stands in the file, and is {whose}"


@file_rule("KV-OSI-012", "Each boot drive's size is held against the window of the Site.")
def _window(seen: Seen[Any]) -> Iterator[str]:
    """Compare the windows of sizes with the Site's."""
    drives = seen.server.site.boot_drives
    for drive in seen.sought.values():
        if (drive.least_gb, drive.most_gb) != (drives.least_gb, drives.most_gb):
            yield (
                f"{drive.serial} may have {drive.least_gb} to {drive.most_gb} GB, "
                f"the Site says {drives.least_gb} to {drives.most_gb} GB"
            )


@file_rule("KV-OSI-013", "The functions that find drives stand unchanged, and stop at the first failure.")
def _guard(seen: Seen[Any]) -> Iterator[str]:
    """See that the functions that find drives stand as they were written, and stop at the first failure."""
    if rendered("install/find-drives.sh").strip() not in seen.before:
        yield "the functions that find the boot drives are not those that kvplan writes"
    if not seen.before.startswith("set -euo pipefail\n"):
        yield "the script that finds the boot drives does not stop at the first failure"


@file_rule("KV-OSI-014", "The two boot drives found are seen to be different ones.")
def _distinct(seen: Seen[Any]) -> Iterator[str]:
    """See that the drives found are compared with each other."""
    compared = {frozenset(pair) for pair in _TWO.findall(seen.before)}
    if frozenset(seen.sought) not in compared:
        yield "the two boot drives are not compared with each other"


@file_rule("KV-OSI-015", "No hash of a password and no reference to a secret stands in the file.")
def _clear_text(seen: Seen[Any]) -> Iterator[str]:
    """Look for hashes of passwords, and for references to secrets, which are for the inventory alone."""
    if _HASH.search(seen.text):
        yield "the hash of a password stands in the file"
    access = seen.deployment.site.access
    references = (
        access.private_key,
        access.switch_password,
        access.console_password_hash,
        seen.server.site.bmc.password,
    )
    for reference in references:
        if reference and reference in seen.text:
            yield f"the reference {reference} to a secret stands in the file"


@file_rule("KV-OSI-016", "There is a place for the console password exactly where the Site has one.")
def _places(seen: Seen[Any]) -> Iterator[str]:
    """See that there is a place for the console password exactly where the Site has one, and for nothing else."""
    expected = [CONSOLE_PASSWORD] if seen.password_expected else []
    if (found := _PLACE.findall(seen.text)) != expected:
        yield f"places for secrets are {', '.join(found) or 'none'}; should be {', '.join(expected) or 'none'}"


@file_rule("KV-OSI-017", "The machine is left with its name, its serial number and the Plan's hash.")
def _marker(seen: Seen[Any]) -> Iterator[str]:
    """See that the machine is left with a note of what it was installed as."""
    wanted = {
        "name": seen.server.name,
        "serial": seen.server.site.serial,
        "plan_sha256": seen.deployment.plan_sha256,
    }
    for key, value in wanted.items():
        if f"\n{key}={value}\n" not in seen.after:
            yield f"/etc/kvplan/installed lacks {key}={value}"


@file_rule("KV-OSI-018", "The kernel is told of the serial console.")
def _console(seen: Seen[Any]) -> Iterator[str]:
    """See that the kernel is told of the serial console."""
    if (arguments := console_arguments(seen.deployment)) not in seen.text:
        yield f"the kernel is not given {arguments}"
