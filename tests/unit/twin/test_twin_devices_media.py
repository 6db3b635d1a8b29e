"""Small boot media, and what a server makes of the one that it starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sites import deployment_of

from kvplan.site.media.inspection import MENUS
from kvplan.site.media.recipe import RECIPE, read_recipe
from kvplan.site.media.server import serving
from kvplan.site.render import rendered_tree
from kvplan.twin.bmc.fetching import unreadable
from kvplan.twin.devices.media import image, write_media
from kvplan.twin.devices.reading import MediumError, Ranges, medium_at, medium_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kvplan.site.media.server import MediaHttpServer, Served

MARK = "cat > /etc/kvplan/installed <<'EOF'\nname=one\nserial=S1\nEOF\n"
RHEL_MENU = "linux /vmlinuz inst.ks=cdrom:/ks.cfg inst.text\n"


@pytest.fixture
def answers() -> list[Served]:
    return []


@pytest.fixture
def server(tmp_path: Path, answers: list[Served]) -> Iterator[MediaHttpServer]:
    (tmp_path / "kv").mkdir()
    with serving(tmp_path, "127.0.0.1", 0, answers.append) as served:
        yield served


def test_each_server_has_its_medium_where_the_recipe_says(
    tmp_path: Path, server: MediaHttpServer, answers: list[Served]
) -> None:
    deployed = deployment_of(8)
    written = write_media(deployed, tmp_path, {"console_password_hash": "$6$hash"})
    recipe = read_recipe(rendered_tree(deployed)[RECIPE])
    assert [str(path.relative_to(tmp_path)) for path in written] == [medium.output for medium in recipe.media]
    servers = {one.name: one for one in deployed.servers}
    for name in ("storage-001", "gpu-0001"):
        url = f"{server.url}/kv/{name}.iso"
        assert unreadable(url, "127.0.0.1") == ""
        medium = medium_at(url, "127.0.0.1")
        assert medium.serial == servers[name].site.serial
        assert medium.drives == servers[name].site.boot_drives.serials
        assert medium.keys == deployed.site.access.ssh_keys
        assert f"name={name}\nserial={medium.serial}\nplan_sha256={deployed.plan_sha256}\n" == medium.marker
    assert {answer.status for answer in answers} == {200, 206}
    assert b"$6$hash" in written[0].read_bytes()
    assert b"kv_secret_" not in written[0].read_bytes()


def test_a_secret_that_is_not_known_keeps_its_place(tmp_path: Path) -> None:
    assert b"{{ kv_secret_console_password_hash }}" in write_media(deployment_of(8), tmp_path)[0].read_bytes()


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"/ks.cfg": MARK}, "no entry of its boot menu tells an installer where answers are"),
        ({MENUS["rhel"]: RHEL_MENU}, "there is no /ks.cfg on the medium"),
        ({MENUS["rhel"]: RHEL_MENU, "/ks.cfg": "text\n"}, "say of no server that they are its own"),
        ({MENUS["ubuntu"]: "linux /v ds=nocloud;s=/cdrom/kv/\n"}, "there is no /kv/user-data on the medium"),
    ],
)
def test_what_installs_nothing_says_why(
    tmp_path: Path, server: MediaHttpServer, files: dict[str, str], why: str
) -> None:
    (tmp_path / "kv/x.iso").write_bytes(image({path: text.encode() for path, text in files.items()}))
    with pytest.raises(MediumError, match=why):
        medium_at(f"{server.url}/kv/x.iso")


def test_what_is_no_image_or_not_there_says_so(tmp_path: Path, server: MediaHttpServer) -> None:
    (tmp_path / "kv/x.iso").write_bytes(bytes(100_000))
    for name in ("x", "y"):
        with pytest.raises(MediumError, match=f"{name}.iso can not be read"):
            medium_at(f"{server.url}/kv/{name}.iso")


def test_only_the_bytes_that_are_read_are_fetched(tmp_path: Path, answers: list[Served]) -> None:
    (tmp_path / "kv").mkdir()
    (tmp_path / "kv/x.iso").write_bytes(bytes(range(250)) * 40)
    with serving(tmp_path, "127.0.0.1", 0, answers.append) as server:
        file = Ranges(f"{server.url}/kv/x.iso")
        assert (file.readable(), file.seekable()) == (True, True)
        assert file.seek(-10, 2) == 9_990
        assert file.read(20) == bytes(range(240, 250))
        assert (file.tell(), file.read(1)) == (10_000, b"")
        file.seek(5)
        assert file.seek(2, 1) == 7
        assert file.read(3) == bytes([7, 8, 9])
    # Each answer is noted after it was sent; all are once the server has ended.
    assert [answer.sent_bytes for answer in answers] == [0, 10, 3]


def test_the_mark_is_found_however_it_is_indented() -> None:
    text = "        cat > /target/etc/kvplan/installed <<'EOF'\n        name=one\n        serial=S1\n        EOF\n"
    assert medium_of(text).marker == "name=one\nserial=S1\n"
