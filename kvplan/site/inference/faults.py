"""All rules over the rendered files of engines and services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kvplan.site.inference import rules_engines, rules_hosts, rules_services
from kvplan.site.inference.reading import Rendered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kvplan.schema.design import Finding
    from kvplan.site.deployment import Deployment

_RULES: Final[tuple[Callable[[Rendered], Iterator[Finding]], ...]] = (
    rules_hosts.port_twice,
    rules_hosts.port_in_reserved_range,
    rules_hosts.gpu_twice_or_unused,
    rules_hosts.tensor_parallelism,
    rules_hosts.numa_pin,
    rules_engines.transfer_form,
    rules_engines.connector,
    rules_engines.other_release,
    rules_engines.hash_seed,
    rules_engines.failure_policy,
    rules_engines.hybrid_flag,
    rules_engines.hybrid_support,
    rules_engines.model_layers,
    rules_engines.cache_paths,
    rules_hosts.mount_required,
    rules_hosts.timeouts,
    rules_hosts.limits,
    rules_hosts.image_tag,
    rules_services.scrape_targets,
    rules_services.dashboard,
    rules_services.services_needed,
    rules_services.services_idle,
    rules_services.secrets,
    rules_engines.release_range,
    rules_hosts.ports_not_in_table,
    rules_engines.cpu_tier,
    rules_engines.disk_cache,
    rules_engines.engines_alike,
    rules_engines.unreleased,
    rules_services.router_events,
    rules_engines.block_sizes,
    rules_hosts.engine_files,
    rules_engines.switches_off,
    rules_hosts.host_namespaces,
    rules_hosts.user,
    rules_services.control_node,
    rules_hosts.gpudirect,
)
"""The rules in the order of their numbers; each says in its docstring what it checks."""


def _sentences() -> Iterator[tuple[str, str]]:
    """Read number and sentence from each rule's docstring."""
    for rule in _RULES:
        number, _, sentence = str(rule.__doc__).partition(": ")
        yield f"KV-INF-{number}", sentence[0].upper() + sentence[1:]


RULES: Final[dict[str, str]] = dict(_sentences())
"""What each rule checks."""


def inference_faults(deployment: Deployment, tree: Mapping[str, str]) -> Iterator[Finding]:
    """Check the rendered files of engines and services.

    Parameters
    ----------
    deployment
        Plan and Site.
    tree
        Text of every rendered file by path.

    Yields
    ------
    Finding
        What is wrong, rule by rule.
    """
    rendered = Rendered(deployment, tree)
    for rule in _RULES:
        yield from rule(rendered)
