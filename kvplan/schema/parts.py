"""The catalogue rows that a Plan is built from, kept in it, so that later verbs need no table to know them."""

from __future__ import annotations

from kvplan.schema.base import Record
from kvplan.schema.hardware import Drive, Gpu, Nic, PositiveInt, Server, Switch
from kvplan.schema.software import SoftwareSet


class PlanParts(Record):
    """What one storage node, one client server and one switch are made of, as the tables had it on that day.

    `client_nics` and `storage_nics` count the adapters of one storage node.
    """

    server: Server
    drive: Drive
    client_nic: Nic
    client_nics: PositiveInt
    storage_nic: Nic
    storage_nics: PositiveInt
    switch: Switch
    gpu: Gpu
    gpu_nic: Nic
    client_server: Server
    software: SoftwareSet
