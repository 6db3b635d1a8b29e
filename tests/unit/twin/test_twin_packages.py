"""Stand-in packages: which there are, whether the real tools read them, and what an installation puts on a disk."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from jinja2 import Template
from rack_benches import Commands, keeper_in
from sites import deployment_of, deployment_with

from kvplan.schema.site.software import PackagesSite
from kvplan.site.render import rendered_tree
from kvplan.twin.packages import Built, Contents, PackageError, built
from kvplan.twin.packages.archives import gpu_driver
from kvplan.twin.packages.debs import built_debs
from kvplan.twin.packages.package import Package, completed, staged
from kvplan.twin.packages.rpms import built_rpms
from kvplan.twin.packages.wanted import listed, wanted
from kvplan.twin.rack.installed import INSTALLED, SCRIPT, run_scripts, unpack

if TYPE_CHECKING:
    from kvplan.site.deployment import Deployment
    from kvplan.twin.packages.wanted import Wanted
    from kvplan.twin.rack.plan import Face

PROGRAMS = ("rpmbuild", "rpm", "createrepo_c", "dnf", "dpkg", "dpkg-deb", "dpkg-scanpackages", "apt-cache", "tar")
ROLES = Path(__file__).parents[3] / "playbooks" / "roles"
URL = "http://172.24.0.10:8081"
CLOCK = Contents(
    files={"/usr/sbin/chronyd": "#!/bin/sh\necho 100%\n", "/etc/chrony.conf": "pool x\n"},
    links={"/usr/bin/clock": "../sbin/chronyd"},
    after='[ "$((7 % 4))" = 3 ] && echo "chrony 100%" >/told\n',
    requires=("libclock",),
)
CONTENTS: dict[Face, dict[str, Contents]] = {
    "rhel": {
        "chrony": CLOCK,
        "doca-ofed": Contents(requires=("mft",)),
        "gpfs.base": Contents(requires=("ksh", "nftables")),
    },
    "ubuntu": {"chrony": CLOCK, "tuned": Contents({"/usr/sbin/tuned": b"#!\x00"}), "gpfs.gnr": Contents()},
}

needs_tools = pytest.mark.skipif(
    os.geteuid() != 0 or not all(map(shutil.which, PROGRAMS)),
    reason="needs root and the tools of both kinds of package",
)


def wants(face: Face, deployment: Deployment | None = None) -> Wanted:
    deployment = deployment or deployment_of(8)
    return wanted(deployment, rendered_tree(deployment), face, CONTENTS[face])


def versions(packages: list[Package]) -> dict[str, str]:
    found = {package.name: package.version for package in packages}
    assert len(found) == len(packages)
    return found


def said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Built, Path]:
    directory = tmp_path_factory.mktemp("packages") / "served"
    return built(deployment_of(8), directory, URL, CONTENTS), directory


def file_of(made: tuple[Built, Path], key: str) -> Path:
    url: str = made[0].packages[key]["url"]
    return made[1] / url.removeprefix(f"{URL}/")


def test_what_the_answers_name_is_installed() -> None:
    tree = rendered_tree(deployment_of(8))
    section = re.search(r"(?ms)^%packages\b[^\n]*\n(.*?)^%end", tree["install/storage-001.ks"])
    assert section is not None
    named = [line.strip() for line in section[1].splitlines() if not line.startswith("@")]
    assert listed(tree, "rhel") == named
    answers = (yaml.safe_load(tree[f"install/{name}/user-data"]) for name in ("gpu-0001", "control-1"))
    assert {*listed(tree, "ubuntu")} == {name for read in answers for name in read["autoinstall"]["packages"]}
    rhel, ubuntu = (versions(wants(face).installed) for face in ("rhel", "ubuntu"))
    assert {*named} - {*rhel} == {"kernel-devel", "kernel-headers"}
    assert rhel["tuned"] == "9.6-1.standin"
    assert ubuntu["chrony"] == "24.04-1.standin"
    assert "libclock" in rhel
    assert "libclock" in ubuntu
    assert "tuned" not in ubuntu
    assert "tuned" in versions(wants("ubuntu").offered)


@pytest.mark.parametrize(("face", "setting"), [("rhel", "rhel_kernel"), ("ubuntu", "ubuntu_kernel")])
def test_the_planned_kernel_is_offered_as_the_role_asks_for_it(face: Face, setting: str) -> None:
    kernel = getattr(deployment_of(8).site.versions, setting)
    variables = yaml.safe_load((ROLES / "base_packages/vars/main.yml").read_text(encoding="utf-8"))
    asked = [Template(name).render(kv_kernel=kernel) for name in variables["base_packages_headers"][face]]
    offered = versions(wants(face).offered)
    assert {*asked} <= {*offered, *(f"{name}-{version}" for name, version in offered.items())}


def test_software_of_the_steps_has_the_versions_that_they_name() -> None:
    deployment = deployment_of(8)
    steps = {step["id"][3:]: step for step in yaml.safe_load(rendered_tree(deployment)["scale/steps.yaml"])}
    rpms, debs = wants("rhel"), wants("ubuntu")
    assert {*rpms.scale} == {"storage_scale"}
    assert {*debs.scale} == {"storage_scale_client"}
    assert [package.name for package in rpms.scale["storage_scale"]] == steps["software"]["reads"][0][2:]
    offered = {*versions(debs.offered), *versions(debs.all_scale)}
    assert {*steps["client-software"]["reads"][0][2:]} <= offered
    assert {*versions(rpms.all_scale).values(), *versions(debs.all_scale).values()} == {"6.0.0-1"}
    assert "nftables" in versions(rpms.offered)
    assert "ksh" in versions(rpms.installed)
    assert not [name for name in versions(rpms.offered) | versions(debs.offered) if name.startswith("gpfs.")]


def test_gpu_servers_in_the_storage_cluster_install_its_edition() -> None:
    joined = deployment_with(8, storage={"clients": "same-cluster"})
    assert "gpfs.license.ec" in versions(wants("ubuntu", joined).scale["storage_scale"])


def test_what_is_provided_is_not_built_again() -> None:
    shell = Package("bash", "1-1", provides=("/bin/sh",))
    user = Package("user", "1-1", Contents(requires=("/bin/sh", "deep")))
    deep = {"deep": Contents(requires=("deeper", "user"))}
    assert [package.name for package in completed([shell, user], deep, "2-1")] == ["bash", "user", "deep", "deeper"]


def test_two_packages_do_not_hold_different_things_at_one_path(tmp_path: Path) -> None:
    one, same = Contents({"/a": "x"}, {"/b": "a"}), Contents({"/a": "x"}, {"/b": "a"})
    assert staged(one, tmp_path) == staged(same, tmp_path) == ["/a", "/b"]
    for other in (
        Contents({"/a": "y"}),
        Contents({"/b": "x"}),
        Contents(links={"/b": "c"}),
        Contents(links={"/a": "b"}),
    ):
        with pytest.raises(PackageError, match=r"different things at /[ab]"):
            staged(other, tmp_path)
    with pytest.raises(PackageError, match="absolute"):
        staged(Contents({"etc/a": ""}), tmp_path)


def test_the_gpu_driver_tells_its_version(tmp_path: Path) -> None:
    script = gpu_driver("580.95.05").decode().replace("/usr/bin", str(tmp_path))
    subprocess.run(["/bin/sh", "-c", script], check=True)
    assert said(str(tmp_path / "nvidia-smi")) == "580.95.05\n"


@needs_tools
def test_rpm_reads_what_was_built(tmp_path: Path) -> None:
    (file,) = built_rpms([Package("chrony", "9.6-1.standin", CLOCK, ("ntp = 4",))], tmp_path)
    assert (
        said("rpm", "-qp", "--qf", "%{NAME} %{VERSION} %{RELEASE} %{ARCH}", str(file)) == "chrony 9.6 1.standin x86_64"
    )
    assert said("rpm", "-qlp", str(file)).split() == ["/etc/chrony.conf", "/usr/bin/clock", "/usr/sbin/chronyd"]
    assert said("rpm", "-qcp", str(file)).split() == ["/etc/chrony.conf"]
    assert said("rpm", "-qp", "--qf", "[%{FILEMODES:perms} ]", str(file)).split()[2] == "-rwxr-xr-x"
    assert CLOCK.after.strip() in said("rpm", "-qp", "--scripts", str(file))
    assert "ntp = 4" in said("rpm", "-qp", "--provides", str(file))
    required = {line for line in said("rpm", "-qp", "--requires", str(file)).splitlines() if "rpmlib" not in line}
    assert required == {"libclock", "/bin/sh"}


@needs_tools
def test_dpkg_reads_what_was_built(tmp_path: Path) -> None:
    (file,) = built_debs([Package("chrony", "24.04-1", CLOCK, ("time-daemon",))], tmp_path)
    fields = yaml.safe_load(said("dpkg-deb", "--field", str(file)))
    assert {"Package": "chrony", "Depends": "libclock", "Provides": "time-daemon", "Architecture": "amd64"}.items() <= (
        fields.items()
    )
    listing = said("dpkg-deb", "--contents", str(file))
    assert re.search(r"-rwxr-xr-x root/root .* \./usr/sbin/chronyd$", listing, re.MULTILINE)
    assert "./usr/bin/clock -> ../sbin/chronyd" in listing
    control = tmp_path / "control"
    said("dpkg-deb", "--control", str(file), str(control))
    assert (control / "conffiles").read_text(encoding="utf-8") == "/etc/chrony.conf\n"
    assert CLOCK.after in (control / "postinst").read_text(encoding="utf-8")


@needs_tools
def test_the_section_is_one_of_a_site(made: tuple[Built, Path]) -> None:
    section = PackagesSite.model_validate(made[0].packages)
    asked = deployment_of(8).site.packages
    for key in ("storage_scale", "storage_scale_client", "doca", "doca_ubuntu", "gpu_driver"):
        download, original = getattr(section, key), getattr(asked, key)
        assert sha256(file_of(made, key).read_bytes()).hexdigest() == download.sha256
        assert download.version == original.version
        assert download.url.rpartition("/")[2] == original.url.rpartition("/")[2]
    assert (section.rpm_repo, section.deb_repo) == (f"{URL}/rpm_repo", f"{URL}/deb_repo")


@needs_tools
def test_equal_contents_give_equal_files(made: tuple[Built, Path], tmp_path: Path) -> None:
    assert built(deployment_of(8), tmp_path / "again", URL, CONTENTS).packages == made[0].packages


@needs_tools
def test_dnf_finds_what_the_repository_offers(made: tuple[Built, Path], tmp_path: Path) -> None:
    def offered(name: str) -> set[str]:
        place = f"--repofrompath=kv,file://{made[1] / name}"
        options = (
            "--quiet",
            "--disablerepo=*",
            "--enablerepo=kv",
            place,
            f"--installroot={tmp_path}",
            "--releasever=9",
        )
        return {*said("dnf", *options, "repoquery", "--queryformat=%{name}-%{version}-%{release}").split()}

    rhel = wants("rhel")
    distribution = {f"{package.name}-{package.version}" for package in (*rhel.installed, *rhel.offered)}
    scale = {f"{package.name}-{package.version}" for package in rhel.all_scale}
    assert offered("rhel") == distribution
    assert offered("rpm_repo") == distribution | scale


@needs_tools
def test_apt_finds_what_the_repository_offers(made: tuple[Built, Path]) -> None:
    def offered(name: str) -> set[str]:
        text = (made[1] / name / "Packages").read_text(encoding="utf-8")
        files = re.findall(r"(?m)^Filename: (.*)$", text)
        assert all((made[1] / name / file).is_file() for file in files)
        return {*re.findall(r"(?m)^Package: (.*)$", text)}

    ubuntu = wants("ubuntu")
    assert offered("ubuntu") == {*versions([*ubuntu.installed, *ubuntu.offered])}
    assert offered("deb_repo") == offered("ubuntu") | {*versions(ubuntu.all_scale)}


@needs_tools
def test_each_name_of_the_step_is_one_file_of_the_archive(made: tuple[Built, Path]) -> None:
    role = "".join(path.read_text(encoding="utf-8") for path in (ROLES / "storage_nodes").rglob("*.yml"))
    (pattern,) = set(re.findall(r"""storage_nodes_pattern: ".*\| join\('\|'\) }}\)(.*)\"""", role))
    steps = yaml.safe_load(rendered_tree(deployment_of(8))["scale/steps.yaml"])
    with tarfile.open(file_of(made, "storage_scale")) as archive:
        held = archive.getnames()
    for name in steps[0]["commands"][0][3:]:
        assert len([file for file in held if re.search(f"/{re.escape(name)}{pattern}", file)]) == 1
    with tarfile.open(file_of(made, "storage_scale_client")) as archive:
        assert "gpfs_debs/gpfs.license.dm_6.0.0-1_amd64.deb" in archive.getnames()


@needs_tools
def test_doca_brings_a_repository_with_the_driver(made: tuple[Built, Path]) -> None:
    inside = "/usr/share/doca-host-3.1.0/repo"
    held = said("rpm", "-qlp", str(file_of(made, "doca"))).split()
    driver, tools = f"{inside}/doca-ofed-3.1.0-1.x86_64.rpm", f"{inside}/mft-9.6-1.standin.x86_64.rpm"
    assert {"/etc/yum.repos.d/doca.repo", driver, tools, f"{inside}/repodata/repomd.xml"} <= {*held}
    listing = said("dpkg-deb", "--contents", str(file_of(made, "doca_ubuntu")))
    for path in ("/etc/apt/sources.list.d/doca.list", f"{inside}/Packages", f"{inside}/doca-ofed_3.1.0-1_amd64.deb"):
        assert f" .{path}\n" in listing


@needs_tools
def test_what_a_site_does_not_name_is_in_its_repository(tmp_path: Path) -> None:
    kept = deployment_of(8).site.packages.model_dump(mode="json", include={"storage_scale", "doca"})
    packages = built(deployment_with(8, packages=kept), tmp_path / "served", URL, {}).packages
    assert {*packages} == {*kept, "rpm_repo", "deb_repo"}
    assert (tmp_path / "served/deb_repo/doca-ofed_3.1.0-1_amd64.deb").is_file()
    assert not (tmp_path / "served/rpm_repo/doca-ofed-3.1.0-1.x86_64.rpm").exists()


@needs_tools
def test_an_installation_is_one_to_rpm(made: tuple[Built, Path], tmp_path: Path) -> None:
    unpack(made[0].installed / "rhel", tmp_path)
    asked = ("rpm", "--root", str(tmp_path), "--dbpath", "/var/lib/rpm")
    assert {*said(*asked, "-qa", "--qf", "%{NAME}\n").split()} == {*versions(wants("rhel").installed)}
    assert "system-release(releasever) = 9" in said(*asked, "-q", "--provides", "redhat-release").splitlines()
    assert said(*asked, "-V", "--noscripts", "--nodeps", "chrony") == ""
    assert (tmp_path / "etc/chrony.conf").read_text(encoding="utf-8") == "pool x\n"


@needs_tools
def test_an_installation_is_one_to_dpkg(made: tuple[Built, Path], tmp_path: Path) -> None:
    unpack(made[0].installed / "ubuntu", tmp_path)
    shown = said("dpkg-query", f"--admindir={tmp_path}/var/lib/dpkg", "--show", "--showformat=${Package} ${Status}\n")
    assert {*shown.splitlines()} == {f"{name} install ok installed" for name in versions(wants("ubuntu").installed)}
    assert (tmp_path / "etc/chrony.conf").read_text(encoding="utf-8") == "pool x\n"
    assert (tmp_path / "var/lib/dpkg/info/chrony.postinst").is_file()


@needs_tools
def test_scripts_of_an_installation_run_on_the_disk_and_fail_loudly(made: tuple[Built, Path], tmp_path: Path) -> None:
    ran: list[tuple[tuple[str, ...], str]] = []

    def note(*words: str, stdin: str, seconds: float) -> str:
        ran.append((words, stdin))
        return str(seconds)

    run_scripts(made[0].installed / "rhel", tmp_path, note)
    ((words, script),) = ran
    assert words[-4:] == ("chroot", str(tmp_path), "/bin/sh", "-e")
    told = tmp_path / "told"
    subprocess.run(["/bin/sh", "-e"], input=script.replace("/told", str(told)), text=True, check=True)
    assert told.read_text(encoding="utf-8") == "chrony 100%\n"
    (tmp_path / SCRIPT).write_text("", encoding="utf-8")
    run_scripts(tmp_path, tmp_path, lambda *_, **__: pytest.fail("nothing to run"))


def test_a_node_gets_the_installation_of_its_operating_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kvplan.twin.rack.keeper.lay", lambda _image, upper, _root: (upper / "etc").mkdir())
    place = tmp_path / INSTALLED / "rhel"
    place.mkdir(parents=True)
    (place / SCRIPT).write_text("chown frr /etc/frr\n", encoding="utf-8")
    commands = Commands()
    keeper_in(tmp_path, commands, shared=str(tmp_path), off=("storage-001", "gpu-0001")).build()
    disk = tmp_path / "disks/storage-001"
    (unpacked,) = (at for at, text in enumerate(commands.seen) if text.startswith("tar "))
    assert commands.seen[unpacked].endswith(f"{place}/files.tar -C {disk}/upper")
    (mounted,) = (at for at, text in enumerate(commands.seen) if text.startswith("mount -t overlay storage-001"))
    (script,) = (at for at, text in enumerate(commands.seen) if text == "chown frr /etc/frr")
    assert unpacked < mounted < script
    assert f"chroot {disk}/root /bin/sh" in commands.seen[script - 1]
