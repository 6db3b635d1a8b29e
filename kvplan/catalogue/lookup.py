"""Finding a row by what people call it: its id, an alias, the end of its id, or a fragment that fits one row only."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from kvplan.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_CANDIDATES = 8
"""So many candidates of an ambiguous word are listed."""

Names: TypeAlias = "Mapping[str, tuple[str, ...]]"


@dataclass(frozen=True, slots=True)
class NameIndex:
    """The names of a table's rows in lower case, by how directly they name: id, alias, last part of the id."""

    table: str
    noun: str
    ids: frozenset[str]
    tiers: tuple[Names, ...]

    @classmethod
    def of(cls, table: str, noun: str, rows: Iterable[tuple[str, tuple[str, ...]]]) -> NameIndex:
        """Build the index from the ids and aliases of a table's rows.

        Parameters
        ----------
        table
            Name of the table, for hints.
        noun
            What a row is, for messages, such as `model`.
        rows
            Id and aliases of each row.

        Returns
        -------
        NameIndex
            The names, ready to be looked up.

        Examples
        --------
        >>> index = NameIndex.of("models", "model", [("openai/gpt-oss-120b", ("oss",)), ("openai/gpt-oss-20b", ())])
        >>> [index.find(word) for word in ("openai/gpt-oss-120b", "OSS", "GPT-OSS-20B", "s-20b")]
        ['openai/gpt-oss-120b', 'openai/gpt-oss-120b', 'openai/gpt-oss-20b', 'openai/gpt-oss-20b']
        """
        listed = tuple(rows)
        tiers = (
            _grouped((row_id, row_id) for row_id, _ in listed),
            _grouped((alias, row_id) for row_id, aliases in listed for alias in aliases),
            _grouped((row_id.rpartition("/")[2], row_id) for row_id, _ in listed),
        )
        return cls(table, noun, frozenset(row_id for row_id, _ in listed), tiers)

    def find(self, word: str) -> str:
        """Return the id of the one row that a word names.

        Parameters
        ----------
        word
            An id, an alias, the part of an id after its last slash, or a fragment of any of them; letter case does
            not matter. The more direct way to name a row wins.

        Returns
        -------
        str
            The id.

        Raises
        ------
        InputError
            When no row has such a name, with names that are close; or when several have, naming up to eight.
        """
        # An id as it is written always means itself, even where it is also a fragment of others.
        if word in self.ids:
            return word
        lowered = word.strip().lower()
        found = next((tier[lowered] for tier in self.tiers if lowered in tier), ()) or self._holding(lowered)
        if len(found) == 1:
            return found[0]
        raise self._ambiguous(word, found) if found else self._unknown(word)

    def _holding(self, fragment: str) -> tuple[str, ...]:
        """List the rows with a name that holds a fragment."""
        matches = (ids for tier in self.tiers for name, ids in tier.items() if fragment and fragment in name)
        return tuple(dict.fromkeys(row_id for ids in matches for row_id in ids))

    def _ambiguous(self, word: str, found: tuple[str, ...]) -> InputError:
        """Build the error for a word that names several rows."""
        listed = ", ".join(sorted(found)[:MAX_CANDIDATES])
        more = f" and {len(found) - MAX_CANDIDATES} more" if len(found) > MAX_CANDIDATES else ""
        what = f"{word!r} fits {len(found)} rows of the catalogue"
        return InputError.single(self.noun, what, allowed=f"{listed}{more}", hint="give more of the name")

    def _unknown(self, word: str) -> InputError:
        """Build the error for a word that names nothing."""
        names = dict.fromkeys(name for tier in reversed(self.tiers) for name in tier)
        hint = did_you_mean(word, names) or f"see `kvplan catalogue list {self.table}`"
        return InputError.single(self.noun, f"{word!r} is not in the catalogue", hint=hint)


def _grouped(pairs: Iterable[tuple[str, str]]) -> Names:
    """Group the ids under their names in lower case."""
    grouped: defaultdict[str, list[str]] = defaultdict(list)
    for name, row_id in pairs:
        grouped[name.lower()].append(row_id)
    return {name: tuple(dict.fromkeys(ids)) for name, ids in grouped.items()}
