"""The tree of files that render writes: each file with its content and its mode, and no path twice."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

MANIFEST: Final = "manifest.json"
"""The file that lists all others, with the hash and the mode of each."""
READABLE: Final = 0o644
PRIVATE: Final = 0o600
"""Mode of a file that a secret enters later, or whose content an attacker could use."""
EXECUTABLE: Final = 0o755


@dataclass(frozen=True, slots=True)
class File:
    """One file of the tree: its path below the output directory, its text, and its mode."""

    path: str
    text: str
    mode: int = READABLE

    @property
    def content(self) -> bytes:
        """The bytes that are written."""
        return self.text.encode()

    @property
    def sha256(self) -> str:
        """The hash of its content."""
        return sha256(self.content).hexdigest()


def tree_of(files: Iterable[File]) -> dict[str, File]:
    """Order files by path, and see that each path is plain and taken once.

    Parameters
    ----------
    files
        The files, in any order.

    Returns
    -------
    dict of File
        Files by path, in the order of paths.

    Raises
    ------
    ValueError
        When a path leads out of the tree, is absolute, or is taken twice.

    Examples
    --------
    >>> list(tree_of([File("b/x", ""), File("a", "")]))
    ['a', 'b/x']
    """
    tree: dict[str, File] = {}
    for file in sorted(files, key=lambda file: file.path):
        plain = PurePosixPath(file.path)
        if plain.is_absolute() or ".." in plain.parts or str(plain) != file.path:
            message = f"{file.path!r} is no plain path below the output directory"
            raise ValueError(message)
        if file.path in tree:
            message = f"{file.path!r} is written twice"
            raise ValueError(message)
        tree[file.path] = file
    return tree
