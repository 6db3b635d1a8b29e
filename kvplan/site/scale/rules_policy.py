"""Rules about eviction: what may be deleted, when, and by how many at a time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kvplan.site.rules import Break, rule
from kvplan.site.scale.cluster import DIRECTORY
from kvplan.site.scale.grammar import option
from kvplan.site.scale.policy import EVENTS, INSTALLED_SCRIPT, POLICY, SCRIPT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.scale.policy_grammar import PolicyRule
    from kvplan.site.scale.rendered import Rendered

_INSTALL: Final = "scale/policy/install.yaml"
_STEPS: Final = "scale/steps.yaml"
_CONTROLS: Final = ("evict.policy", "kv-evict", "install.yaml")
_WORK: Final = re.compile(r"-[sg] (\S+)")
_DEFAULT: Final = re.compile(r"\bwork=\"?\$\{\w+:-([^}]+)\}")
_PARTS: Final = 2


@rule("KV-SCL-039", "Nothing deletes files under a back end that does not allow it.")
def _unsafe(rendered: Rendered) -> Iterator[Break]:
    if rendered.cluster.allows_eviction:
        return
    for name in _CONTROLS:
        if f"scale/policy/{name}" in rendered.tree:
            text = f"files of {rendered.deployment.backend.id} must not be deleted from outside"
            yield Break(f"scale/policy/{name}", text, "remove it, or choose another cache back end")
    for verb in ("mmaddcallback", "mmchpolicy", "mmapplypolicy"):
        for step, _ in rendered.commands(verb):
            yield Break(_STEPS, f"{step.id} runs {verb} under {rendered.deployment.backend.id}", "remove it")


@rule("KV-SCL-040", "The policy deletes between the watermarks: the high one above the low one, both as the Site says.")
def _watermarks(rendered: Rendered) -> Iterator[Break]:
    marks = [held.threshold for held in rendered.policy if held.action == "DELETE" and held.threshold]
    if rendered.policy and not marks:
        yield Break(POLICY, "no rule deletes between watermarks")
    for high, low in marks:
        if low >= high:
            yield Break(POLICY, f"low mark {low} % is not below high mark {high} %", "exchange the two")
        elif (high, low) != rendered.cluster.pool_marks:
            wanted = rendered.cluster.pool_marks
            text = f"marks {high} and {low} % of the pool; the Site's are {wanted[0]} and {wanted[1]} %"
            yield Break(POLICY, text)
    named = re.search(r"\bhigh_percent=(\d+)", rendered.script)
    if rendered.script and (not named or int(named[1]) != rendered.cluster.storage.watermarks.high_percent):
        yield Break(SCRIPT, "the high mark of the script is not the Site's")


@rule("KV-SCL-041", "The policy touches nothing outside the cache fileset.")
def _inside(rendered: Rendered) -> Iterator[Break]:
    fileset, root = rendered.cluster.storage.fileset, f"'{rendered.cluster.cache_path}/"
    for held in rendered.policy:
        if held.action in ("DELETE", "MIGRATE") and held.filesets != (fileset,):
            text = f"rule {held.name} is for {', '.join(held.filesets) or 'every fileset'}"
            yield Break(POLICY, text, f"limit it with FOR FILESET ('{fileset}')")
        for path in _paths(held):
            if not path.startswith(root) or ".." in path:
                yield Break(POLICY, f"rule {held.name} speaks of {path}, outside the fileset")


@rule("KV-SCL-042", "What is being written is spared before any rule deletes.")
def _spared(rendered: Rendered) -> Iterator[Break]:
    actions = [held.action for held in rendered.policy]
    if "DELETE" not in actions:
        return
    first = actions.index("DELETE")
    spares = [
        held for held in rendered.policy[:first] if held.action == "EXCLUDE" and "MODIFICATION_TIME" in held.where
    ]
    if not spares:
        yield Break(POLICY, "no rule before the first DELETE excludes young files", "exclude them first")
    elif "<" not in spares[0].where:
        yield Break(POLICY, f"rule {spares[0].name} excludes old files, not young ones", "compare with <")


@rule("KV-SCL-043", "A rule without a threshold deletes only what is retired.")
def _bounded(rendered: Rendered) -> Iterator[Break]:
    for held in rendered.policy:
        if held.action == "DELETE" and not held.threshold and not any("/retired-" in path for path in _paths(held)):
            text = f"rule {held.name} deletes at any fill, and not only retired directories"
            yield Break(POLICY, text, "give it a THRESHOLD")


@rule("KV-SCL-044", "Files go by the time that the file system keeps: of access where that is exact, else of creation.")
def _weight(rendered: Rendered) -> Iterator[Break]:
    exact = any(option(argv, "-S") == "no" for _, argv in rendered.commands("mmvdisk", "filesystem", "create"))
    if exact != rendered.cluster.storage.access_times:
        yield Break(_STEPS, "mmcrfs -S does not keep access times as the Site says")
    wanted = "ACCESS_TIME" if exact else "CREATION_TIME"
    for held in rendered.policy:
        if held.threshold and held.weight != ("CURRENT_TIMESTAMP", "-", wanted):
            text = f"rule {held.name} weighs by {' '.join(held.weight) or 'nothing'}"
            yield Break(POLICY, text, f"weigh by CURRENT_TIMESTAMP - {wanted}, so that the oldest go first")


@rule("KV-SCL-045", "One eviction runs at a time: on the node by a lock, in the cluster by --single-instance.")
def _single(rendered: Rendered) -> Iterator[Break]:
    lines = [line for line in rendered.script.splitlines() if line.startswith("mmapplypolicy ")]
    if rendered.script and not lines:
        yield Break(SCRIPT, "does not run mmapplypolicy")
    for line in lines:
        if "--single-instance" not in line.split():
            yield Break(SCRIPT, "mmapplypolicy runs without --single-instance", "add --single-instance")
    if rendered.script and "flock --nonblock" not in rendered.script:
        yield Break(SCRIPT, "takes no lock", "take a lock with flock --nonblock")


@rule("KV-SCL-046", "Eviction keeps its work files off the file system that is full.")
def _work_directory(rendered: Rendered) -> Iterator[Break]:
    default = _DEFAULT.search(rendered.script)
    named = [match.replace('"${work}"', default[1] if default else "") for match in _WORK.findall(rendered.script)]
    mount = f"{rendered.cluster.storage.mount}/"
    if rendered.script and not named:
        yield Break(SCRIPT, "names no work directory", "name a local one with -s")
    for path in named:
        if not path.startswith("/") or f"{path}/".startswith(mount):
            yield Break(SCRIPT, f"work directory {path or 'none'} is on the file system", "name a local one with -s")


@rule("KV-SCL-047", "The callback runs the installed script for every event of a full pool or fileset.")
def _callback(rendered: Rendered) -> Iterator[Break]:
    if not rendered.install:
        return
    made = [argv for _, argv in rendered.commands("mmaddcallback")]
    if len(made) != 1:
        yield Break(_INSTALL, f"registers {len(made)} callbacks", "register one")
    for argv in made:
        events = set((option(argv, "--event") or "").split(","))
        if not set(EVENTS) <= events:
            yield Break(_INSTALL, f"the callback misses {', '.join(sorted(set(EVENTS) - events))}")
        if option(argv, "--command") != INSTALLED_SCRIPT:
            yield Break(_INSTALL, f"the callback runs {option(argv, '--command')}", f"run {INSTALLED_SCRIPT}")
    tested = [argv for _, argv in rendered.commands("mmchpolicy")]
    if [option(argv, "-I") for argv in tested] != ["test", "yes"]:
        yield Break(_INSTALL, "the policy is installed without a test before", "run mmchpolicy with -I test first")
    for argv in tested:
        if argv[2:3] != [f"{DIRECTORY}/policy/evict.policy"]:
            yield Break(_INSTALL, f"mmchpolicy reads {argv[2] if len(argv) > _PARTS else 'nothing'}")


@rule("KV-SCL-048", "Files can be deleted as fast as the cache is written.", "warning")
def _rate(rendered: Rendered) -> Iterator[Break]:
    if rendered.eviction and not rendered.eviction.get("fits"):
        fill, delete = rendered.eviction.get("fill_files_per_s"), rendered.eviction.get("delete_files_per_s")
        text = f"{fill} files a second are written, {delete} can be deleted: the quota fills up and writes fail"
        yield Break("scale/eviction.json", text, "write larger chunks, or measure scale.delete_files_per_s_per_node")


@rule("KV-SCL-049", "The policy places files, for installed rules replace the default.")
def _placement(rendered: Rendered) -> Iterator[Break]:
    if rendered.policy and not any(held.action == "SET" and not held.where for held in rendered.policy):
        yield Break(POLICY, "no rule places files: creating one would fail", "add a rule SET POOL")


def _paths(held: PolicyRule) -> list[str]:
    """List the paths that a rule compares with."""
    return [word for word in held.where if word.startswith("'/")]
