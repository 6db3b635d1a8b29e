"""What vdisks survive is read from the only table that there is of it, and compared with what was promised."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from mm_modules import call, loaded
from scale_racks import Rack

if TYPE_CHECKING:
    from pathlib import Path

PUBLISHED = """\
configuration data disk group fault tolerance remarks
------------------ --------------------------------- -------
rg descriptor      2 enclosure                       limiting fault tolerance

vdisk              RAID code        disk group fault tolerance         remarks
------------------  ---------------  ---------------------------------  -------
RG001LOGHOME        4WayReplication  2 enclosure                        limited by rg descriptor
RG001LOGTIP         2WayReplication  1 pdisk
RG001VS001          8+2p             1 node + 2 pdisks
RG001LG001AVERYLONGNAME  8+2P        2 nodes

"""
PROMISED = {"code": "4+2P", "nodes": 1, "devices": 0}


def read(text: str) -> Any:
    """Read a table."""
    loaded("mm_health")
    return sys.modules["ansible.module_utils.mm"].tolerances(text)


@pytest.fixture
def rack(tmp_path: Path) -> Rack:
    """Give four servers with their vdisks."""
    held = Rack(tmp_path, "compact")
    held.build("fileset")
    return held


def test_the_published_table_is_read() -> None:
    assert read(PUBLISHED) == {
        "RG001LOGHOME": ("4wayreplication", {"enclosure": 2}),
        "RG001LOGTIP": ("2wayreplication", {"pdisk": 1}),
        "RG001VS001": ("8+2p", {"node": 1, "pdisk": 2}),
        "RG001LG001AVERYLONGNAME": ("8+2p", {"node": 2}),
    }


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("RAID code ", "code ", "no table"),
        ("1 node + 2 pdisks", "some", "cannot be read"),
        ("vdisk  ", "disk  ", "no table"),
    ],
)
def test_another_table_fails_loudly(old: str, new: str, said: str) -> None:
    with pytest.raises(Exception, match=said):
        read(PUBLISHED.replace(old, new))


def test_the_gate_opens_where_vdisks_survive_what_was_promised(rack: Rack) -> None:
    assert not call(rack, "mm_health", promised=PROMISED)["failed"]


@pytest.mark.parametrize("promised", [{"nodes": 2}, {"devices": 1}, {"code": "8+3p"}])
def test_the_gate_stays_shut_where_they_survive_less(rack: Rack, promised: dict[str, Any]) -> None:
    result = call(rack, "mm_health", promised={**PROMISED, **promised})

    assert result["failed"]
    assert "rg1" in result["message"]
    assert "--fault-tolerance" in result["remedy"]


def test_a_pdisk_that_is_lost_takes_the_tolerance_of_a_node(rack: Rack) -> None:
    with rack.machine("storage-002") as machine:
        machine["drives"][0]["state"] = "missing"

    said = call(rack, "mm_health", promised=PROMISED)["message"]

    assert "fault tolerance of 8 vdisks of rg1 is 1 pdisk (RG1LG001VS1), planned is 1 node + 0 pdisk" in said
