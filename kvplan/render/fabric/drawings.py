"""The drawings of a Design, for the verb and for pages that embed them."""

from __future__ import annotations

from kvplan.render.fabric.fabric_svg import fabric_svg
from kvplan.render.fabric.racks_svg import racks_svg

__all__ = ["fabric_svg", "racks_svg"]
