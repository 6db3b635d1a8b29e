"""How much a file may hold, the same for YAML and JSON."""

from __future__ import annotations

MAX_DEPTH = 64
"""Levels of nesting; deeper files are made to exhaust a reader."""

MAX_DIGITS = 300
"""Digits of a whole number; more fit no float."""
