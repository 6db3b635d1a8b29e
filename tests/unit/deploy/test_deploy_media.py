"""Boot media while deploying: missing ones are named before anything begins, controllers are watched reading theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest
from played import Fake, run, stand_in
from sites import deployment_of

from kvplan.deploy import media, mediaserver
from kvplan.deploy.events import MediumSent
from kvplan.deploy.media import Shelf, needed
from kvplan.deploy.mediaserver import offered
from kvplan.errors import InputError
from kvplan.site.media.recipe import recipe_of
from kvplan.site.media.server import serving

if TYPE_CHECKING:
    from kvplan.deploy.runner import Job
    from kvplan.site.media.recipe import BootMedium

HERE = "127.0.0.1"


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Give a deployment of phases that install and prepare; the Site's address is on this machine, at a free port."""
    fake = stand_in(tmp_path, monkeypatch, "provision", "base")
    served = mediaserver.media_served

    def here(root: Path, _address: str, _port: int, tell: object) -> object:
        return served(root, HERE, _free_port(), tell)  # type: ignore[arg-type]

    monkeypatch.setattr(media, "media_served", here)
    return fake


def _free_port() -> int:
    """Find a port that nobody listens at."""
    with serving(Path(), HERE, 0) as server:
        return int(server.url.rpartition(":")[2])


def media_of(*servers: str) -> tuple[BootMedium, ...]:
    """Return the media of some servers."""
    return needed(recipe_of(deployment_of(4)).media, servers)


def lay(root: Path, *servers: str) -> None:
    """Lay media down."""
    for medium in media_of(*servers):
        target = root / medium.output
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"x" * 1000)


def test_missing_media_are_named_before_anything_begins(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    lay(Path("media"), "storage-001")
    assert run() == 3
    err = capsys.readouterr().err
    assert "storage-002.iso: the boot medium of storage-002 is not there" in err
    assert "kvplan render plan.json site.yaml --media" in err
    assert "storage-001.iso" not in err
    assert fake.jobs == []
    assert run("--from", "base") == 0


def test_a_check_and_installed_servers_need_no_media(fake: Fake, tmp_path: Path) -> None:
    assert run("--check") == 0
    lay(tmp_path / "elsewhere", *(medium.server for medium in recipe_of(deployment_of(4)).media))
    assert run("--media", "elsewhere", "--only", "provision") == 0
    assert run("--accept-changes") == 0
    assert fake.phases == ["provision", "base", "provision", "provision", "base"]


def test_a_medium_is_handed_out_while_phases_run(
    fake: Fake, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    port = _free_port()
    monkeypatch.setattr(f"{__name__}._free_port", lambda: port)
    lay(Path("media"), *(medium.server for medium in recipe_of(deployment_of(4)).media))
    path = media_of("storage-002")[0].output

    def fetch(_: Job) -> None:
        with urlopen(f"http://{HERE}:{port}/{path}") as answer:
            assert len(answer.read()) == 1000

    fake.meanwhile = fetch
    assert run("--format", "json", "--only", "provision") == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    sent = {"event": "medium_sent", "host": "storage-002", "client": HERE, "sent_bytes": 1000, "size_bytes": 1000}
    assert sent in events
    with pytest.raises(OSError, match="refused"):
        urlopen(f"http://{HERE}:{port}/{path}")


def test_what_another_server_has_is_not_missed(tmp_path: Path) -> None:
    lay(tmp_path, "storage-001")
    with serving(tmp_path, HERE, 0) as server:
        port = int(server.url.rpartition(":")[2])
        shelf = Shelf(HERE, port, tmp_path / "none", media_of("storage-001", "storage-002"))
        with pytest.raises(InputError) as caught:
            shelf.check("build")
        with shelf.handed_out(print):
            assert offered(HERE, port, [f"/{shelf.media[0].output}"])
    assert ["storage-002" in str(problem) for problem in caught.value.problems] == [True]
    assert offered(HERE, port, ["/kv/storage-001.iso"]) == frozenset()


def test_nothing_is_listened_at_where_nothing_is_needed() -> None:
    with Shelf("192.0.2.255", 1, Path(), ()).handed_out(print):
        pass


def test_a_medium_that_was_read_twice_is_read_whole() -> None:
    assert [MediumSent("h", "c", sent, 100).share for sent in (10, 100, 250)] == [0.1, 1.0, 1.0]
