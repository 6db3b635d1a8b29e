"""A vendor's asset list: serial numbers, MAC addresses and controllers of machines, from a table as it comes."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final, NamedTuple

from kvplan.errors import InputError, Problem, did_you_mean
from kvplan.inputs.csv_cells import cut_csv
from kvplan.inputs.loc import line_and_column
from kvplan.schema.roles import SERVER_ROLES, SWITCH_ROLES
from kvplan.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvplan.inputs.csv_cells import Cell, Row
    from kvplan.schema.design import Design, Device

HEADER_ROWS: Final = 10
"""The header is looked for in so many rows: a list may have a title above it."""
_SERIAL_WORDS: Final = r"( (serial|sn|s n))?( number)?"
_BOOT: Final = rf"(boot|os|m 2|system) ?(drive|disk|ssd)?{_SERIAL_WORDS}"
_UMLAUTS: Final = {ord("ä"): "ae", ord("ö"): "oe", ord("ü"): "ue", ord("ß"): "ss"}
_COLUMNS: Final[dict[str, str]] = {
    "name": r"(host|device|system|node|machine|server|inventory|rechner|geraete)? ?name|host|hostname",
    "serial": r"((system|chassis|server|device|product|unit) )?(serial( (number|no|nr))?|s n|sn)|service tag"
    r"|serien ?(nummer|nr)",
    "model": r"((system|product|server|device) )?(model|type)( (number|name|no))?|product( name)?|sku|part ?number"
    r"|modell|typ",
    "bmc_address": r"(bmc|ipmi|redfish|idrac|ilo|oob)( ip)?( (address|addr))?|(bmc|ipmi) host",
    "bmc_mac": r"(bmc|ipmi|idrac|ilo)( lan)? mac( address)?|mac( address)? (bmc|ipmi)",
    "boot_1": rf"{_BOOT} ?(1|a){_SERIAL_WORDS}",
    "boot_2": rf"{_BOOT} ?(2|b){_SERIAL_WORDS}",
}
"""Columns, and what they are called in lists, in lower case with blanks for marks."""
_MAC_COLUMN: Final = re.compile(r"(?:mac(?: address)? (?P<after>[a-z0-9]+)|(?P<before>[a-z0-9]+) mac(?: address)?)")
_PORT_NAMES: Final = {"mgmt": "mgmt1", "lan1": "mgmt1", "lan": "mgmt1", "eth": "eth0"}
_ROUNDED: Final = re.compile(r"\d(?:[.,]\d+)?E\+\d+|\d+[.,]0+", re.IGNORECASE)
_FORCED: Final = re.compile(r'="(?P<formula>.*)"|\'(?P<marked>.*)')
"""How spreadsheets keep digits a text."""


@dataclass(frozen=True, slots=True)
class Asset:
    """What a list says of one machine; empty where it says nothing."""

    serial: str = ""
    model: str = ""
    bmc_address: str = ""
    bmc_mac: str = ""
    macs: dict[str, str] = field(default_factory=dict)
    boot_serials: tuple[str, ...] = ()


class _Line(NamedTuple):
    """One row: the machine's name where it has one, where it stands, and what it says."""

    name: str
    cell: Cell
    asset: Asset


def read_assets(text: str, source: str, designed: Design) -> dict[str, Asset]:
    """Read an asset list and give each row to a machine of the design.

    A row belongs to the machine that its name column names; without names, rows go to the machines of their model in
    the order of the list.

    Parameters
    ----------
    text
        CSV with a header; commas, semicolons or tabs. Known columns: name, serial, model, BMC address, BMC MAC,
        MAC by port (`mgmt1 MAC`, `MAC client1p0`), serial numbers of both boot drives.
    source
        Path of the file, for places in messages.
    designed
        The design.

    Returns
    -------
    dict of Asset
        What is known, by name of the machine.

    Raises
    ------
    InputError
        With every cell that cannot be read, every serial, MAC or address that stands twice, every row that fits
        no machine, and when there is no row at all.
    """
    header, body = _header(_rows(text, source), source)
    problems: list[Problem] = []
    lines = [_line(header, row, source, problems) for row in body]
    problems.extend(_twice(lines, source))
    assigned = _assigned(lines, source, designed, problems)
    if problems:
        raise InputError(sorted(problems, key=line_and_column))
    return assigned


def unused_columns(text: str, source: str, designed: Design) -> tuple[str, ...]:
    """Name the columns of an asset list that nothing is read from.

    Parameters
    ----------
    text
        The list, as `read_assets` takes it.
    source
        Path of the file.
    designed
        The design, which says what ports there are.

    Returns
    -------
    tuple of str
        Headings that are not known, or name a port that no machine has.
    """
    header, body = _header(rows := _rows(text, source), source)
    ports = {f"mac:{port.name}" for port in designed.ports}
    used = {at for at, column in header.items() if not column.startswith("mac:") or column in ports}
    heading = rows[len(rows) - len(body) - 1]
    return tuple(cell.text.strip() for at, cell in enumerate(heading) if at not in used and cell.text.strip())


def _rows(text: str, source: str) -> Sequence[Row]:
    """Cut the list into cells, without what a spreadsheet writes around a text that looks like a number."""
    rows = cut_csv(text, source, ("serial", "s/n", "mac")).rows
    return [tuple(cell._replace(text=_unforced(cell.text.strip())) for cell in row) for row in rows]


def _unforced(text: str) -> str:
    """Take the text out of `="0041"` or of `'0041`."""
    match = _FORCED.fullmatch(text)
    return (match["formula"] or match["marked"] or "") if match else text


def _header(rows: Sequence[Row], source: str) -> tuple[dict[int, str], Sequence[Row]]:
    """Find the header: the columns that are known, by index, and the rows below."""
    for index, row in enumerate(rows[:HEADER_ROWS]):
        columns = {at: name for at, cell in enumerate(row) if (name := _column(cell.text))}
        if "serial" in columns.values() and len(columns) > 1:
            _refuse_twins(columns, row, source)
            if len(rows) == index + 1:
                raise InputError.single(source, "has a header and no rows below it")
            return columns, rows[index + 1 :]
    found = listed([repr(cell.text) for cell in rows[0]]) if rows else "nothing"
    allowed = "a header with serial and one of name, model, BMC address, BMC MAC, or a MAC by port, between commas, "
    raise InputError.single(
        source, f"has no header of an asset list; it begins with {found}", allowed=f"{allowed}semicolons or tabs"
    )


def _refuse_twins(columns: Mapping[int, str], row: Row, source: str) -> None:
    """Refuse two columns that mean the same."""
    first: dict[str, Cell] = {}
    for at, column in columns.items():
        earlier = first.setdefault(column, row[at])
        if earlier is not row[at]:
            place = f"{source}:{row[at].line}:{row[at].column}"
            what = f"{row[at].text!r} means the same as column {earlier.text!r}"
            raise InputError.single(place, what, hint="rename or remove one")


def _column(heading: str) -> str:
    """Name the column that a heading means; `mac:<port>` for the MAC address of a port, empty where unknown."""
    words = re.sub(r"[^a-z0-9]+", " ", heading.lower().translate(_UMLAUTS)).strip().replace("adresse", "address")
    for column, pattern in _COLUMNS.items():
        if re.fullmatch(pattern, words):
            return column
    match = _MAC_COLUMN.fullmatch(words)
    if match is None:
        return ""
    port = match["after"] or match["before"]
    return f"mac:{_PORT_NAMES.get(port, port)}"


def _line(header: Mapping[int, str], row: Row, source: str, problems: list[Problem]) -> _Line:
    """Read one row, noting every cell that cannot be read."""
    found = {name: row[at] for at, name in header.items() if at < len(row) and row[at].text.strip()}
    read = {name: _value(name, cell, source, problems) for name, cell in found.items()}
    asset = Asset(
        serial=read.get("serial", ""),
        model=read.get("model", ""),
        bmc_address=read.get("bmc_address", ""),
        bmc_mac=read.get("bmc_mac", ""),
        macs={name.removeprefix("mac:"): value for name, value in read.items() if name.startswith("mac:")},
        boot_serials=tuple(read[name] for name in ("boot_1", "boot_2") if read.get(name)),
    )
    if not asset.serial and "serial" not in found:
        problems.append(Problem(f"{source}:{row[0].line}:{row[0].column}", "has no serial number"))
    # Lists often have the name with its domain; names of the design have no dot.
    return _Line(read.get("name", "").lower().partition(".")[0], found.get("serial", row[0]), asset)


def _value(column: str, cell: Cell, source: str, problems: list[Problem]) -> str:
    """Read one cell; empty where it cannot be read."""
    text = cell.text.strip()
    try:
        if column == "bmc_mac" or column.startswith("mac:"):
            return _mac(text)
        if column == "bmc_address":
            return str(ip_address(text))
        if column in ("serial", "boot_1", "boot_2"):
            return _serial(text)
    except ValueError as error:
        problems.append(Problem(f"{source}:{cell.line}:{cell.column}", str(error)))
        return ""
    return text


def _mac(text: str) -> str:
    """Read a MAC address in any of its notations."""
    digits = re.sub(r"[:.\s-]", "", text.lower())
    if not re.fullmatch(r"[0-9a-f]{12}", digits):
        message = f"{text!r} is no MAC address"
        raise ValueError(message)
    if int(digits[:2], 16) & 1 or not int(digits, 16):
        message = f"{text!r} is not the MAC address of an adapter"
        raise ValueError(message)
    return ":".join(digits[at : at + 2] for at in range(0, len(digits), 2))


def _serial(text: str) -> str:
    """Read a serial number; a spreadsheet may have turned it into a power of ten."""
    if _ROUNDED.fullmatch(text):
        message = f"{text!r} was rounded by a spreadsheet: format the column as text and export it again"
        raise ValueError(message)
    if not re.fullmatch(r"[A-Za-z0-9._-]{2,64}", text):
        message = f"{text!r} is no serial number of letters, digits, dots and hyphens"
        raise ValueError(message)
    return text


def _twice(lines: Sequence[_Line], source: str) -> Iterator[Problem]:
    """Name everything that must be unique and is not."""
    seen: dict[str, int] = {}
    for line in lines:
        asset = line.asset
        values = (line.name, asset.serial, asset.bmc_address, asset.bmc_mac, *asset.macs.values(), *asset.boot_serials)
        for value in filter(None, values):
            if value in seen:
                yield Problem(
                    f"{source}:{line.cell.line}:{line.cell.column}", f"{value} stands in line {seen[value]} already"
                )
            seen.setdefault(value, line.cell.line)


def _assigned(lines: Sequence[_Line], source: str, designed: Design, problems: list[Problem]) -> dict[str, Asset]:
    """Give each row to a machine."""
    machines = {device.name: device for device in designed.devices if device.role in SERVER_ROLES | SWITCH_ROLES}
    free = _free(machines, {line.name for line in lines})
    assigned: dict[str, Asset] = {}
    for line in lines:
        name = line.name or _next(free, line.asset.model)
        if name in machines:
            assigned[name] = line.asset
        else:
            problems.append(_homeless(line, machines, source))
    return assigned


def _homeless(line: _Line, machines: Mapping[str, Device], source: str) -> Problem:
    """Say why a row belongs to no machine."""
    hint = "name the machines in a column `name`"
    if line.name:
        what, hint = f"{line.name!r} is no machine of the design", did_you_mean(line.name, machines)
    elif line.asset.model:
        what = f"no machine of model {line.asset.model!r} is left"
    else:
        what = "names neither a machine nor a model"
    return Problem(f"{source}:{line.cell.line}:{line.cell.column}", what, hint=hint)


def _free(machines: Mapping[str, Device], named: set[str]) -> dict[str, list[str]]:
    """List the machines that no row names, by model, in the order of their numbers."""
    free: dict[str, list[str]] = defaultdict(list)
    for device in sorted(machines.values(), key=lambda device: device.rank):
        if device.name not in named:
            free[_plain(device.model)].append(device.name)
    return free


def _next(free: Mapping[str, list[str]], model: str) -> str:
    """Take the next machine of a model; a list may write more or less of its name than the design does."""
    asked = _plain(model)
    for known, names in free.items():
        if asked and names and (asked in known or known in asked):
            return names.pop(0)
    return ""


def _plain(model: str) -> str:
    """Write a model's name without marks, in lower case."""
    return re.sub(r"[^a-z0-9]", "", model.lower())
