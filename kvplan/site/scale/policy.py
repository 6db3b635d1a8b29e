"""Eviction of the cache fileset between its watermarks, for back ends under which files may be deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kvplan.render.data import data_json
from kvplan.site.scale.cluster import DIRECTORY, POOL, SERVER_CLASS, daemons
from kvplan.site.scale.step import Step
from kvplan.site.templating import rendered
from kvplan.site.tree import EXECUTABLE, File
from kvplan.site.yaml_out import yaml_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.scale.cluster import Cluster

POLICY: Final = "scale/policy/evict.policy"
SCRIPT: Final = "scale/policy/kv-evict"
INSTALLED_SCRIPT: Final = "/usr/local/sbin/kv-evict"
WORK: Final = "/var/mmfs/kv-evict"
"""Where mmapplypolicy keeps its lists, on every node that takes part."""
EVENTS: Final = ("lowDiskSpace", "noDiskSpace", "softQuotaExceeded")
_PERCENT: Final = 100
_WHO: Final = {
    "none": "Nothing else deletes them: clean up while the engines are stopped.",
    "private-pool": "Each worker reuses the space of its own pool.",
    "registry": "Its registry deletes files that it has given up, if it is set to.",
}


def policy_files(cluster: Cluster) -> Iterator[File]:
    """Write the policy with what installs and runs it, or say why there is none.

    Parameters
    ----------
    cluster
        The cluster.

    Yields
    ------
    File
        Files below `scale/policy`, and the rate of eviction beside them.

    References
    ----------
    IBM Storage Scale 6.0 documentation: policy rules, mmapplypolicy, mmchpolicy, mmaddcallback.
    """
    if not cluster.allows_eviction:
        backend = cluster.deployment.backend
        values = {"backend": backend.id, "title": backend.title, "note": backend.note, "who": _WHO[backend.eviction]}
        yield File("scale/policy/README.md", rendered("scale/policy/README.md.j2", **values))
        return
    values = _values(cluster)
    yield File(POLICY, rendered("scale/policy/evict.policy.j2", **values))
    yield File(SCRIPT, rendered("scale/policy/kv-evict.j2", **values), EXECUTABLE)
    yield File("scale/policy/install.yaml", yaml_text(_install(cluster)))
    yield File("scale/eviction.json", data_json(eviction_report(cluster)))


def eviction_report(cluster: Cluster) -> dict[str, Any]:
    """Compare how fast the cache fills with how fast files can be deleted.

    files a second = bytes written a second / bytes of a file

    Parameters
    ----------
    cluster
        The cluster.

    Returns
    -------
    dict
        Rates, whether deleting keeps up, and how long the cache takes from the low mark to the high one.
    """
    rate, marks = cluster.deployment.plan.demand.write_bytes_per_s, cluster.storage.watermarks
    fill = rate / cluster.file_bytes
    delete = cluster.number("delete_files_per_s_per_node") * len(cluster.deployment.storage)
    between = cluster.capacity_bytes * cluster.storage.quota_percent // _PERCENT
    span = between * (marks.high_percent - marks.low_percent) / _PERCENT
    return {
        "file_bytes": cluster.file_bytes,
        "fill_bytes_per_s": round(rate),
        "fill_files_per_s": round(fill, 1),
        "delete_files_per_s": round(delete, 1),
        "fits": delete >= fill,
        "low_to_high_s": round(span / rate) if rate else None,
    }


def _values(cluster: Cluster) -> dict[str, Any]:
    """Gather what the templates name."""
    storage = cluster.storage
    spared = "spare_minutes" if cluster.deployment.backend.external_delete == "safe" else "grace_minutes"
    pool_high, pool_low = cluster.pool_marks
    return {
        "file_system": storage.file_system,
        "fileset": storage.fileset,
        "cache_path": cluster.cache_path,
        "access_times": storage.access_times,
        "high_percent": storage.watermarks.high_percent,
        "low_percent": storage.watermarks.low_percent,
        "quota_percent": storage.quota_percent,
        "pool": POOL,
        "pool_high": pool_high,
        "pool_low": pool_low,
        "spare_minutes": int(cluster.number(spared)),
        "policy_path": f"{DIRECTORY}/policy/evict.policy",
        "workers": SERVER_CLASS,
        "work_path": WORK,
    }


def _install(cluster: Cluster) -> list[dict[str, Any]]:
    """Write the steps that install the policy, in the form of steps.yaml."""
    device, path = cluster.storage.file_system, f"{DIRECTORY}/policy/evict.policy"
    steps = (
        Step(
            name="policy_rules",
            title="Install the rules, so that the threshold of the pool raises lowDiskSpace",
            minutes="policy",
            reads=[["mmlspolicy", device, "-L"]],
            commands=[["mmchpolicy", device, path, "-I", "test"], ["mmchpolicy", device, path, "-I", "yes"]],
            done_when="mmlspolicy prints the rules of evict.policy",
        ),
        Step(
            name="policy_script",
            title="Install kv-evict on every storage node, for any of them may manage the file system",
            minutes="policy",
            runs_on="each-storage-node",
            daemons="any",
            reads=[
                ["cmp", f"{DIRECTORY}/policy/kv-evict", INSTALLED_SCRIPT],
                ["test", "-d", WORK],
                ["mmdsh", "-N", SERVER_CLASS, "true"],
            ],
            commands=[
                ["install", "-d", "-m", "0700", WORK],
                ["install", "-m", "0755", f"{DIRECTORY}/policy/kv-evict", INSTALLED_SCRIPT],
            ],
            done_when="script and working directory are there, and mmdsh reaches every storage node without a question",
        ),
        Step(
            name="policy_callback",
            title="Run kv-evict when the pool or the fileset is filled",
            minutes="policy",
            reads=[["mmlscallback", "kv-evict", "-Y"]],
            commands=[_callback(cluster)],
            done_when="mmlscallback lists kv-evict with these events",
        ),
    )
    return [step.data(number, cluster) for number, step in enumerate(steps, 1)]


def _callback(cluster: Cluster) -> list[str]:
    """Write the command that registers the callback on storage nodes only."""
    return [
        "mmaddcallback", "kv-evict", "--command", INSTALLED_SCRIPT, "--event", ",".join(EVENTS),
        "--parms", "%eventName %fsName", "-N", daemons(cluster.deployment.storage),
    ]  # fmt: skip
