"""The devices of a rack that are no servers: their controllers, its switches, and the server of packages."""

from __future__ import annotations

from kvplan.twin.devices.client import Devices
from kvplan.twin.devices.order import DevicesOrder, devices_order

__all__ = ["Devices", "DevicesOrder", "devices_order"]
