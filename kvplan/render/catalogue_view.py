"""Catalogue tables and rows as sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvplan.core.paths import is_numeric, scalars
from kvplan.render.figures import both_bytes
from kvplan.render.view import Grid, Section, View
from kvplan.units import GB, format_rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvplan.schema.base import Record
    from kvplan.schema.software import CacheBackend, VersionRange

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]
"""Headers and rows of a table."""
_ROW_HEADERS = ("field", "value")
_YES = {True: "yes", False: "no"}
_EVICTION = {
    "none": "nobody",
    "private-pool": "itself, per worker",
    "registry": "its registry hub",
}


def tables_view(version: str, sha256: str, counts: Mapping[str, int]) -> View:
    """List the tables with their row counts."""
    rows = tuple((name, f"{count:,}") for name, count in counts.items())
    return (Section(f"Catalogue {version}", (f"sha256 {sha256}",), Grid(("Table", "Rows"), rows, "lr")),)


def rows_view(table: str, rows: Sequence[Record]) -> View:
    """List the rows of a table: id, what it is, confidence; sources stand in `show` and in the other formats."""
    headers, cells = rows_table(rows)
    grid = Grid(headers[:3], tuple(row[:3] for row in cells), "lll")
    return (Section(f"{table} ({len(rows):,})", grid=grid, below=("sources: --format csv, or `catalogue show`",)),)


def rows_table(rows: Sequence[Record]) -> Table:
    """Return the rows of a table as texts."""
    cells: list[tuple[str, ...]] = []
    for row in rows:
        data = row.model_dump(mode="json")
        what = data.get("title") or data.get("family") or data.get("unit") or data.get("version") or ""
        cells.append((str(data.get("id", "")), str(what), str(data["confidence"]), str(data["source"])))
    return ("id", "what", "confidence", "source"), cells


def row_view(row: Record) -> View:
    """Show one row, one line a field; layer groups and other lists one line an element, sizes with their unit."""
    fields = _fields(row)
    shown = tuple((path, _with_unit(path, value) if is_numeric(value) else _text(value)) for path, value in fields)
    return (Section(shown[0][1] if shown else "", grid=Grid(_ROW_HEADERS, shown, "ll")),)


def _with_unit(field: str, number: float) -> str:
    """Write a number in the unit that its field's name states."""
    if field.endswith("_bytes"):
        return both_bytes(number)
    if field.endswith("_bytes_per_s"):
        return format_rate(number)
    if field.endswith("_bits_per_s"):
        return f"{number / GB:,.6g} Gb/s"
    return f"{number:,.15g}"


def row_table(row: Record) -> Table:
    """Return one row as field and value."""
    return _ROW_HEADERS, [(path, _text(value)) for path, value in _fields(row)]


def backends_view(rows: Sequence[CacheBackend]) -> View:
    """Compare the back ends in two grids that fit a narrow terminal, and say where each claim comes from."""
    headers, cells = backends_table(rows)
    first, second = headers[:7], (headers[0], *headers[7:13])
    return (
        Section("Cache back ends", grid=Grid(first, tuple(row[:7] for row in cells), "lllllll")),
        Section("What they need and store", grid=Grid(second, tuple((row[0], *row[7:13]) for row in cells), "lllllll")),
        Section("Notes", tuple(f"{row.id}: {row.note or row.title} [{row.confidence}; {row.source}]" for row in rows)),
    )


def backends_table(rows: Sequence[CacheBackend]) -> Table:
    """Return the back ends as texts."""
    headers = (
        "Back end",
        "Dynamo",
        "vLLM",
        "Released",
        "Shared",
        "Restart",
        "Evicted by",
        "CPU tier",
        "GPUDirect",
        "Hybrid",
        "State",
        "MLA copies",
        "Chunk",
        "Confidence",
        "Source",
    )
    return headers, [_backend_row(row) for row in rows]


def _backend_row(row: CacheBackend) -> tuple[str, ...]:
    """Build the row of one back end."""
    hybrid = f"{row.hybrid_manager_since_vllm or 'yes'}+" if row.hybrid_manager else "no"
    return (
        row.id,
        _range(row.dynamo),
        _range(row.vllm),
        _YES[row.released],
        _YES[row.shared_between_engines],
        "survives" if row.survives_restart else "lost",
        _EVICTION[row.eviction],
        "needed" if row.needs_cpu_tier else "none",
        "optional" if row.gpudirect == "reads-and-writes-optional" else row.gpudirect,
        hybrid.replace("yes+", "yes"),
        "stored" if row.stores_recurrent_state else "no",
        row.latent_copies,
        f"{row.default_chunk_tokens} tokens",
        row.confidence,
        row.source,
    )


def _range(versions: VersionRange) -> str:
    """Write a version range."""
    if not versions.first and not versions.last:
        return "any"
    if not versions.last:
        return f"{versions.first}+"
    return f"{versions.first} - {versions.last}" if versions.first else f"up to {versions.last}"


def _fields(row: Record) -> list[tuple[str, Any]]:
    """Flatten a row, its id first, without what is empty; numbers and yes or no stay what they are."""
    data = row.model_dump(mode="json", exclude_none=True)
    found = [pair for key, value in data.items() for pair in _flat(key, value) if pair[1] not in ("", "[]", "{}")]
    return sorted(found, key=lambda pair: pair[0] != "id")


def _flat(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the lines of one field: lists of records one line an element, other lists on one line."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        for index, item in enumerate(value):
            yield f"{key}[{index}]", ", ".join(f"{name} {part}" for name, part in item.items())
    elif isinstance(value, list):
        yield key, ", ".join(map(_text, value))
    else:
        yield from scalars(value, key)


def _text(value: Any) -> str:
    """Write a scalar, booleans as words."""
    return _YES[value] if isinstance(value, bool) else str(value)
