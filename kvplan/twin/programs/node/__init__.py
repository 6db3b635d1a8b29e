"""Programs that run on a simulated node. They are shipped as text, and know nothing but the node's own disk."""

from __future__ import annotations
