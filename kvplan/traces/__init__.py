"""Request traces, read in whatever public form they come; nothing here counts a hit, that is `kvplan.core.reuse`."""

from __future__ import annotations
