"""The recipe of boot media: as written for eight nodes, and every fault in it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from designs import plan_of
from sites import deployment_of, deployment_with, site_data

from kvplan.api import deployment
from kvplan.schema.site.site import Site
from kvplan.site.media.faults import RULES, media_faults
from kvplan.site.media.recipe import README, RECIPE, media_files, read_recipe, recipe_of
from kvplan.site.tree import tree_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvplan.site.deployment import Deployment

REPOSITORY = "http://172.24.0.10:8080/rhel-9.6"


def _tree(deployment: Deployment) -> dict[str, str]:
    """Render the recipe beside files that are as installers have them."""
    tree = {path: file.text for path, file in tree_of(media_files(deployment)).items()}
    for medium in recipe_of(deployment).media:
        tree |= {path: "" if path.endswith("meta-data") else "text\n" for path in medium.files.values()}
    return tree


def _images(**changes: Any) -> dict[str, Any]:
    """Return the images of a Site, changed."""
    return {**site_data(plan_of(8))["images"], **changes}


def _found(deployment: Deployment, tree: dict[str, str]) -> set[tuple[str, str]]:
    """Return the ids and severities of what is found."""
    return {(finding.id, finding.severity) for finding in media_faults(deployment, tree)}


@pytest.mark.parametrize("path", [RECIPE, README])
def test_as_written(path: str, golden: Callable[[str, str], None]) -> None:
    golden(f"site/{path}", _tree(deployment_of(8))[path])


def test_small_images_as_written(golden: Callable[[str, str], None]) -> None:
    site = deployment_with(8, images=_images(rhel_repo=REPOSITORY))
    golden("site/media/small-recipe.yaml", _tree(site)[RECIPE])


@pytest.mark.parametrize("nodes", [4, 8, 64])
def test_every_server_has_its_own_image(nodes: int) -> None:
    site = deployment_of(nodes)
    media = read_recipe(_tree(site)[RECIPE]).media
    assert [medium.server for medium in media] == [server.name for server in site.servers]
    assert {medium.kind for medium in media if medium.server.startswith("storage")} == {"rhel"}
    assert {medium.kind for medium in media if not medium.server.startswith("storage")} == {"ubuntu"}
    assert len({medium.url for medium in media}) == len(media)


def test_what_is_written_is_what_was_worked_out() -> None:
    site = deployment_with(8, images=_images(rhel_repo=REPOSITORY))
    assert read_recipe(_tree(site)[RECIPE]) == recipe_of(site)


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    for site in (deployment_of(8), deployment_with(8, images=_images(rhel_repo=REPOSITORY))):
        assert list(media_faults(site, _tree(site))) == []


def test_an_ipv6_media_server_goes_into_brackets() -> None:
    site = deployment_with(8, media={"address": "fd00::10", "port": 8080})
    assert recipe_of(site).media[0].url == "http://[fd00::10]:8080/kv/storage-001.iso"
    assert _found(site, _tree(site)) == {("KV-MED-010", "warning")}


def _changed(**fields: Any) -> Callable[[list[dict[str, Any]]], None]:
    """Return a change of fields of the first entry."""
    return lambda media: media[0].update(fields)


def _source(**fields: Any) -> Callable[[list[dict[str, Any]]], None]:
    """Return a change of the first entry's source."""
    return lambda media: media[0]["source"].update(fields)


def _argument(of: int, old: str, new: str | None = None) -> Callable[[list[dict[str, Any]]], None]:
    """Return a change of one argument of an entry; None takes it out."""

    def change(media: list[dict[str, Any]]) -> None:
        words = media[of]["arguments"]
        media[of]["arguments"] = [new if word == old else word for word in words if word != old or new is not None]

    return change


def _url(path: str, authority: str = "172.24.0.10:8080") -> Callable[[list[dict[str, Any]]], None]:
    """Return a change of the first entry's address and place."""
    return _changed(url=f"http://{authority}/{path}", output=path)


RECIPE_FAULTS: dict[str, tuple[Callable[[list[dict[str, Any]]], object], str]] = {
    "server left out": (lambda media: media.pop(0), "001"),
    "server twice": (lambda media: media.append({**media[0], "output": "kv/z.iso", "url": "x"}), "001"),
    "server of nobody": (_changed(server="storage-999"), "001"),
    "no sha256": (lambda media: media[0]["source"].pop("sha256"), "001"),
    "unknown field": (_changed(colour="red"), "001"),
    "host by name": (_url("kv/storage-001.iso", "media.kv.example:8080"), "002"),
    "other port": (_url("kv/storage-001.iso", "172.24.0.10:8081"), "002"),
    "port that is none": (_url("kv/storage-001.iso", "172.24.0.10:http"), "002"),
    "https": (_changed(url="https://172.24.0.10:8080/kv/storage-001.iso"), "002"),
    "no directory": (_url("storage-001.iso"), "003"),
    "two directories": (_url("boot/kv/storage-001.iso"), "003"),
    "no iso": (_url("kv/storage-001.img"), "003"),
    "space": (_url("kv/storage 001.iso"), "003"),
    "query": (_changed(url="http://172.24.0.10:8080/kv/storage-001.iso?x=.iso"), "003"),
    "other place": (_changed(output="kv/other.iso"), "003"),
    "long": (_url(f"kv/{'x' * 80}.iso"), "004"),
    "image twice": (lambda media: media[0].update(url=media[1]["url"], output=media[1]["output"]), "005"),
    "file from nowhere": (_changed(files={"/ks.cfg": "install/absent.ks"}), "006"),
    "other sha256": (_source(sha256="0123456789abcdef" * 4), "007"),
    "sha256 of nothing": (_source(sha256="0" * 64), "007"),
    "other source": (_source(url="http://172.24.0.10:8080/other.iso"), "007"),
    "no kickstart": (_argument(0, "inst.ks=cdrom:/ks.cfg"), "008"),
    "kickstart elsewhere": (_argument(0, "inst.ks=cdrom:/ks.cfg", "inst.ks=cdrom:/other.cfg"), "008"),
    "installer asks": (_argument(0, "inst.text"), "008"),
    "no autoinstall": (_argument(-1, "autoinstall"), "008"),
    "seed elsewhere": (_argument(-1, "ds=nocloud;s=/cdrom/kv/", "ds=nocloud;s=/cdrom/"), "008"),
    "seed cut by a shell": (_argument(-1, "ds=nocloud;s=/cdrom/kv/", "ds=nocloud"), "008"),
    "other version": (_source(version="9.4"), "009"),
    "repository from nowhere": (_argument(0, "console=tty0", "inst.repo=http://172.24.0.10/x"), "012"),
    "small without repository": (_changed(medium="small-image"), "012"),
    "other console": (_argument(0, "console=ttyS1,115200", "console=ttyS0,115200"), "013"),
}


@pytest.mark.parametrize("fault", RECIPE_FAULTS)
def test_a_fault_in_the_recipe_is_found(fault: str) -> None:
    site = deployment_of(8)
    tree = _tree(site)
    data = yaml.safe_load(tree[RECIPE])
    change, expected = RECIPE_FAULTS[fault]
    change(data["media"])
    tree[RECIPE] = yaml.safe_dump(data)
    assert f"KV-MED-{expected}" in {rule for rule, _ in _found(site, tree)}


@pytest.mark.parametrize("text", ["media: [", "", "media: 5", "[]"])
def test_what_is_no_recipe_is_found(text: str) -> None:
    site = deployment_of(8)
    assert _found(site, {**_tree(site), RECIPE: text}) == {("KV-MED-001", "error")}


def test_a_recipe_that_is_not_there_is_found() -> None:
    assert _found(deployment_of(8), {}) == {("KV-MED-001", "error")}


def test_an_empty_kickstart_is_found() -> None:
    site = deployment_of(8)
    assert _found(site, {**_tree(site), "install/storage-002.ks": "\n"}) == {("KV-MED-006", "error")}


def _network(**changes: Any) -> dict[str, Any]:
    """Return the network of a Site, changed."""
    return {**site_data(plan_of(8))["network"], **changes}


def _image(**changes: Any) -> dict[str, Any]:
    """Return the RHEL image of a Site, changed."""
    return {**_images()["rhel"], **changes}


OUTSIDE = {"address": "192.0.2.10", "port": 8080}
SITE_FAULTS: dict[str, tuple[dict[str, Any], set[tuple[str, str]]]] = {
    "media server behind the gateway": ({"media": OUTSIDE}, {("KV-MED-010", "warning")}),
    "media server out of reach": (
        {"media": OUTSIDE, "network": _network(management_gateway=None)},
        {("KV-MED-010", "error")},
    ),
    "address of a controller": ({"media": {"address": "172.24.64.8"}}, {("KV-MED-011", "error")}),
    "address of a host": ({"media": {"address": "172.24.64.9"}}, {("KV-MED-011", "error")}),
    "address of a switch": ({"media": {"address": "172.24.128.8"}}, {("KV-MED-011", "error")}),
    "hash left as it was": ({"images": _images(rhel=_image(sha256="0" * 64))}, {("KV-MED-007", "error")}),
    "image of another release": ({"images": _images(rhel=_image(version="9.4"))}, {("KV-MED-009", "error")}),
    "image of a longer number": ({"images": _images(rhel=_image(version="9.60"))}, {("KV-MED-009", "error")}),
    "repository on a disk": ({"images": _images(rhel_repo="/srv/rhel")}, {("KV-MED-012", "error")}),
}


@pytest.mark.parametrize("fault", SITE_FAULTS)
def test_a_fault_in_the_site_is_found(fault: str) -> None:
    sections, expected = SITE_FAULTS[fault]
    site = deployment_with(8, **sections)
    assert _found(site, _tree(site)) == expected


def test_a_point_release_is_of_its_release() -> None:
    ubuntu = {**_images()["ubuntu"], "version": "24.04.3"}
    site = deployment_with(8, images=_images(ubuntu=ubuntu))
    assert _found(site, _tree(site)) == set()


def test_an_old_controller_is_found() -> None:
    plan = plan_of(8)
    data = site_data(plan)
    data["servers"][0]["bmc"]["kind"] = "supermicro-x10"
    site = deployment(plan, Site.model_validate(data))
    assert _found(site, _tree(site)) == {("KV-MED-014", "warning")}


def test_every_rule_is_planted() -> None:
    planted = {f"KV-MED-{rule}" for _, rule in RECIPE_FAULTS.values()}
    planted |= {rule for _, found in SITE_FAULTS.values() for rule, _ in found}
    assert planted | {"KV-MED-014"} == set(RULES)
    assert list(RULES) == [f"KV-MED-{number:03}" for number in range(1, len(RULES) + 1)]
