"""A bar on a terminal for what takes longer than two seconds; nothing anywhere else."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, TaskID

PATIENCE_S: Final = 2.0
"""Who waits less wants no bar."""


class Bar:
    """Shows one phase after the other, once patience has run out.

    Parameters
    ----------
    clock
        Tells the time [s].
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began_s = clock()
        self._shown: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def tell(self, doing: str, done: int, total: int) -> None:
        """Take note of how far something is.

        Parameters
        ----------
        doing
            What is being done.
        done
            How much of it is done.
        total
            How much there is to do.
        """
        if self._shown is None:
            if self._clock() - self._began_s < PATIENCE_S:
                return
            self._shown = _started()
        if doing not in self._tasks:
            for task in self._tasks.values():
                self._shown.update(task, visible=False)
            self._tasks[doing] = self._shown.add_task(doing, total=total)
        self._shown.update(self._tasks[doing], completed=done, total=total)

    def close(self) -> None:
        """Take the bar away, so that only the result is left on the screen."""
        if self._shown is not None:
            self._shown.stop()


@contextmanager
def bar() -> Iterator[Callable[[str, int, int], None] | None]:
    """Give what shows progress on stderr, or None where that is no terminal.

    Yields
    ------
    callable or None
        Called with what is being done, how much of it is done, and of how much.
    """
    if not sys.stderr.isatty():
        yield None
        return
    shown = Bar()
    try:
        yield shown.tell
    finally:
        shown.close()


def _started() -> Progress:
    """Start a bar that leaves nothing behind."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    shown = Progress(*columns, console=Console(stderr=True), transient=True)
    shown.start()
    return shown
