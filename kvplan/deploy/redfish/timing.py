"""How long to wait for a controller, and how often to look."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Timing:
    """Clock, sleep, and patience [s]; `tries` is how often what a controller refuses for now is asked again."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    power_s: float = 300
    media_s: float = 180
    poll_s: float = 2
    retry_s: float = 3
    tries: int = 10

    def wait(self, reached: Callable[[], bool], limit_s: float) -> bool:
        """Look until something is reached.

        Parameters
        ----------
        reached
            Tells whether it is.
        limit_s
            How long to look [s].

        Returns
        -------
        bool
            Whether it was reached in time; it is looked at once more when the time is over.
        """
        end = self.now() + limit_s
        while not reached():
            if self.now() >= end:
                return False
            self.sleep(self.poll_s)
        return True
