"""Programs of simulated nodes: what an installation leaves on a disk, and what packages put beside it."""

from __future__ import annotations

from kvplan.twin.programs.installed import installed
from kvplan.twin.programs.packages import contents

__all__ = ["contents", "installed"]
