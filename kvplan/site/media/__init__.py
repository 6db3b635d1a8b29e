"""Boot media: the recipe of each machine's installer image, the image itself, and the server that hands it out.

What is given here is pure. `build` and `server` read and write files, and are for the command line to call.
"""

from __future__ import annotations

from kvplan.site.media.faults import ALL_RULES, RULES, media_faults
from kvplan.site.media.recipe import media_files

__all__ = ["ALL_RULES", "RULES", "media_faults", "media_files"]
