"""What the state is made of."""

from __future__ import annotations

from typing import Any

Doc = dict[str, Any]
"""Plain data, as JSON holds it."""
