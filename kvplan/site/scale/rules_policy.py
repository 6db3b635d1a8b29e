"""Rules about eviction: what may be deleted, when, and by how many at a time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kvplan.site.scale.cluster import DIRECTORY
from kvplan.site.scale.grammar import option
from kvplan.site.scale.policy import EVENTS, INSTALLED_SCRIPT, POLICY, SCRIPT
from kvplan.site.scale.rule import Found, Rule, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.scale.policy_grammar import PolicyRule
    from kvplan.site.scale.rendered import Rendered

_AGAIN: Final = "render the tree again"
_INSTALL: Final = "scale/policy/install.yaml"
_STEPS: Final = "scale/steps.yaml"
_CONTROLS: Final = ("evict.policy", "kv-evict", "install.yaml")
_WORK: Final = re.compile(r"-[sg] (\S+)")
_DEFAULT: Final = re.compile(r"\bwork=\"?\$\{\w+:-([^}]+)\}")
_PARTS: Final = 2


@rule(39, "error", "Nothing deletes files under a back end that does not allow it.")
def _unsafe(rendered: Rendered) -> Iterator[Found]:
    if rendered.cluster.allows_eviction:
        return
    for name in _CONTROLS:
        if f"scale/policy/{name}" in rendered.tree:
            text = f"files of {rendered.deployment.backend.id} must not be deleted from outside"
            yield Found(f"scale/policy/{name}", text, "remove it, or choose another cache back end")
    for verb in ("mmaddcallback", "mmchpolicy", "mmapplypolicy"):
        for step, _ in rendered.commands(verb):
            yield Found(_STEPS, f"{step.id} runs {verb} under {rendered.deployment.backend.id}", "remove it")


@rule(40, "error", "The policy deletes between the watermarks: the high one above the low one, both as the Site says.")
def _watermarks(rendered: Rendered) -> Iterator[Found]:
    marks = [held.threshold for held in rendered.policy if held.action == "DELETE" and held.threshold]
    if rendered.policy and not marks:
        yield Found(POLICY, "no rule deletes between watermarks", _AGAIN)
    for high, low in marks:
        if low >= high:
            yield Found(POLICY, f"low mark {low} % is not below high mark {high} %", "exchange the two")
        elif (high, low) != rendered.cluster.pool_marks:
            wanted = rendered.cluster.pool_marks
            text = f"marks {high} and {low} % of the pool; the Site's are {wanted[0]} and {wanted[1]} %"
            yield Found(POLICY, text, _AGAIN)
    named = re.search(r"\bhigh_percent=(\d+)", rendered.script)
    if rendered.script and (not named or int(named[1]) != rendered.cluster.storage.watermarks.high_percent):
        yield Found(SCRIPT, "the high mark of the script is not the Site's", _AGAIN)


@rule(41, "error", "The policy touches nothing outside the cache fileset.")
def _inside(rendered: Rendered) -> Iterator[Found]:
    fileset, root = rendered.cluster.storage.fileset, f"'{rendered.cluster.cache_path}/"
    for held in rendered.policy:
        if held.action in ("DELETE", "MIGRATE") and held.filesets != (fileset,):
            text = f"rule {held.name} is for {', '.join(held.filesets) or 'every fileset'}"
            yield Found(POLICY, text, f"limit it with FOR FILESET ('{fileset}')")
        for path in _paths(held):
            if not path.startswith(root) or ".." in path:
                yield Found(POLICY, f"rule {held.name} speaks of {path}, outside the fileset", _AGAIN)


@rule(42, "error", "What is being written is spared before any rule deletes.")
def _spared(rendered: Rendered) -> Iterator[Found]:
    actions = [held.action for held in rendered.policy]
    if "DELETE" not in actions:
        return
    first = actions.index("DELETE")
    spares = [
        held for held in rendered.policy[:first] if held.action == "EXCLUDE" and "MODIFICATION_TIME" in held.where
    ]
    if not spares:
        yield Found(POLICY, "no rule before the first DELETE excludes young files", "exclude them first")
    elif "<" not in spares[0].where:
        yield Found(POLICY, f"rule {spares[0].name} excludes old files, not young ones", "compare with <")


@rule(43, "error", "A rule without a threshold deletes only what is retired.")
def _bounded(rendered: Rendered) -> Iterator[Found]:
    for held in rendered.policy:
        if held.action == "DELETE" and not held.threshold and not any("/retired-" in path for path in _paths(held)):
            text = f"rule {held.name} deletes at any fill, and not only retired directories"
            yield Found(POLICY, text, "give it a THRESHOLD")


@rule(
    44,
    "error",
    "Files go by the time that the file system keeps: of access where that is exact, else of creation.",
)
def _weight(rendered: Rendered) -> Iterator[Found]:
    exact = any(option(argv, "-S") == "no" for _, argv in rendered.commands("mmvdisk", "filesystem", "create"))
    if exact != rendered.cluster.storage.access_times:
        yield Found(_STEPS, "mmcrfs -S does not keep access times as the Site says", _AGAIN)
    wanted = "ACCESS_TIME" if exact else "CREATION_TIME"
    for held in rendered.policy:
        if held.threshold and held.weight != ("CURRENT_TIMESTAMP", "-", wanted):
            text = f"rule {held.name} weighs by {' '.join(held.weight) or 'nothing'}"
            yield Found(POLICY, text, f"weigh by CURRENT_TIMESTAMP - {wanted}, so that the oldest go first")


@rule(45, "error", "One eviction runs at a time: on the node by a lock, in the cluster by --single-instance.")
def _single(rendered: Rendered) -> Iterator[Found]:
    lines = [line for line in rendered.script.splitlines() if line.startswith("mmapplypolicy ")]
    if rendered.script and not lines:
        yield Found(SCRIPT, "does not run mmapplypolicy", _AGAIN)
    for line in lines:
        if "--single-instance" not in line.split():
            yield Found(SCRIPT, "mmapplypolicy runs without --single-instance", "add --single-instance")
    if rendered.script and "flock --nonblock" not in rendered.script:
        yield Found(SCRIPT, "takes no lock", "take a lock with flock --nonblock")


@rule(46, "error", "Eviction keeps its work files off the file system that is full.")
def _work_directory(rendered: Rendered) -> Iterator[Found]:
    default = _DEFAULT.search(rendered.script)
    named = [match.replace('"${work}"', default[1] if default else "") for match in _WORK.findall(rendered.script)]
    mount = f"{rendered.cluster.storage.mount}/"
    if rendered.script and not named:
        yield Found(SCRIPT, "names no work directory", "name a local one with -s")
    for path in named:
        if not path.startswith("/") or f"{path}/".startswith(mount):
            yield Found(SCRIPT, f"work directory {path or 'none'} is on the file system", "name a local one with -s")


@rule(47, "error", "The callback runs the installed script for every event of a full pool or fileset.")
def _callback(rendered: Rendered) -> Iterator[Found]:
    if not rendered.install:
        return
    made = [argv for _, argv in rendered.commands("mmaddcallback")]
    if len(made) != 1:
        yield Found(_INSTALL, f"registers {len(made)} callbacks", "register one")
    for argv in made:
        events = set((option(argv, "--event") or "").split(","))
        if not set(EVENTS) <= events:
            yield Found(_INSTALL, f"the callback misses {', '.join(sorted(set(EVENTS) - events))}", _AGAIN)
        if option(argv, "--command") != INSTALLED_SCRIPT:
            yield Found(_INSTALL, f"the callback runs {option(argv, '--command')}", f"run {INSTALLED_SCRIPT}")
    tested = [argv for _, argv in rendered.commands("mmchpolicy")]
    if [option(argv, "-I") for argv in tested] != ["test", "yes"]:
        yield Found(_INSTALL, "the policy is installed without a test before", "run mmchpolicy with -I test first")
    for argv in tested:
        if argv[2:3] != [f"{DIRECTORY}/policy/evict.policy"]:
            yield Found(_INSTALL, f"mmchpolicy reads {argv[2] if len(argv) > _PARTS else 'nothing'}", _AGAIN)


@rule(48, "warning", "Files can be deleted as fast as the cache is written.")
def _rate(rendered: Rendered) -> Iterator[Found]:
    if rendered.eviction and not rendered.eviction.get("fits"):
        fill, delete = rendered.eviction.get("fill_files_per_s"), rendered.eviction.get("delete_files_per_s")
        text = f"{fill} files a second are written, {delete} can be deleted: the quota fills up and writes fail"
        yield Found("scale/eviction.json", text, "write larger chunks, or measure scale.delete_files_per_s_per_node")


@rule(49, "error", "The policy places files, for installed rules replace the default.")
def _placement(rendered: Rendered) -> Iterator[Found]:
    if rendered.policy and not any(held.action == "SET" and not held.where for held in rendered.policy):
        yield Found(POLICY, "no rule places files: creating one would fail", "add a rule SET POOL")


def _paths(held: PolicyRule) -> list[str]:
    """List the paths that a rule compares with."""
    return [word for word in held.where if word.startswith("'/")]


RULES: Final[tuple[Rule, ...]] = (
    _unsafe, _watermarks, _inside, _spared, _bounded, _weight, _single, _work_directory, _callback, _rate, _placement,
)  # fmt: skip
