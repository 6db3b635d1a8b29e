"""Packages that stand in for those of a distribution and of vendors: real RPM and deb files, in real repositories."""

from __future__ import annotations

from kvplan.twin.packages.building import Built, built
from kvplan.twin.packages.contents import Contents
from kvplan.twin.packages.package import PackageError

__all__ = ["Built", "Contents", "PackageError", "built"]
