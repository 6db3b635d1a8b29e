"""What is watched: the targets that Prometheus reads, and the dashboard of the cache."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kvplan.site.inference.stack import KVBM
from kvplan.site.yaml_out import yaml_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.inference.stack import Stack

_WIDTH, _HEIGHT, _PER_ROW = 12, 8, 2
DASHBOARD_UID: Final = "kv-cache"


class Query(NamedTuple):
    """One line of a panel: its name and its expression."""

    name: str
    expression: str


class Panel(NamedTuple):
    """One panel: its title, the unit as Grafana names it, and its lines."""

    title: str
    unit: str
    queries: tuple[Query, ...]


def prometheus_yml(stack: Stack) -> str:
    """Write the configuration of Prometheus.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    str
        YAML with one target an engine, labelled by its host, and the services of the control node.
    """
    jobs: list[dict[str, Any]] = [{"job_name": "engines", "static_configs": list(_targets(stack, "system"))}]
    if stack.backend in KVBM:
        jobs.append({"job_name": "kvbm", "static_configs": list(_targets(stack, "kvbm-metrics"))})
    services = {"frontend": stack.layout.frontend_port} | ({"etcd": stack.port("etcd")} if stack.needs_etcd else {})
    jobs += [
        {"job_name": name, "static_configs": [{"targets": [f"{stack.services}:{port}"]}]}
        for name, port in services.items()
    ]
    interval = f"{stack.text('scrape_interval_s')}s"
    return yaml_text({"global": {"scrape_interval": interval}, "scrape_configs": jobs})


def dashboard_json(stack: Stack) -> str:
    """Write the dashboard of the cache.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    str
        JSON as Grafana provisions it; it names only metrics that the release and the back end export.
    """
    panels = [
        {
            "id": number + 1,
            "type": "timeseries",
            "title": panel.title,
            "gridPos": {
                "x": number % _PER_ROW * _WIDTH,
                "y": number // _PER_ROW * _HEIGHT,
                "w": _WIDTH,
                "h": _HEIGHT,
            },
            "datasource": {"type": "prometheus", "uid": "prometheus"},
            "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
            "targets": [
                {"refId": chr(ord("A") + index), "legendFormat": query.name, "expr": query.expression}
                for index, query in enumerate(panel.queries)
            ],
        }
        for number, panel in enumerate(_panels(stack))
    ]
    data = {
        "uid": DASHBOARD_UID,
        "title": f"KV cache, {stack.backend}",
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "panels": panels,
    }
    return f"{json.dumps(data, indent=2)}\n"


def datasource_yml(stack: Stack) -> str:
    """Write the data source of Grafana.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    str
        YAML as Grafana provisions it.
    """
    source: dict[str, Any] = {
        "name": "Prometheus",
        "uid": "prometheus",
        "type": "prometheus",
        "access": "proxy",
        "url": f"http://{stack.services}:{stack.port('prometheus')}",
        "isDefault": True,
    }
    return yaml_text({"apiVersion": 1, "datasources": [source]})


def provider_yml() -> str:
    """Write where Grafana finds dashboards.

    Returns
    -------
    str
        YAML as Grafana provisions it.
    """
    provider: dict[str, Any] = {"name": "kvplan", "type": "file", "options": {"path": "/etc/kv/grafana/dashboards"}}
    return yaml_text({"apiVersion": 1, "providers": [provider]})


def known_metrics(stack: Stack) -> frozenset[str]:
    """Give the metrics that engines with this back end export.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    frozenset of str
        Names of the settings that apply to the back end.
    """
    return frozenset(
        str(row.value)
        for row in stack.deployment.settings.values()
        if row.id.startswith("inference.metric_") and (not row.applies_to or stack.backend in row.applies_to)
    )


def _targets(stack: Stack, purpose: str) -> Iterator[dict[str, Any]]:
    """Give the targets of each host, one an engine."""
    for host, engines in groupby(stack.engines, key=lambda engine: engine.server):
        yield {
            "targets": [f"{host.admin_address}:{engine.ports[purpose]}" for engine in engines],
            "labels": {"host": host.name},
        }


def _panels(stack: Stack) -> tuple[Panel, ...]:
    """List the panels."""
    gpu = Query("GPU memory", f"{_rate(stack, 'gpu_hits')} / {_rate(stack, 'gpu_queries')}")
    tier = Query("tier", f"{_rate(stack, 'hits')} / {_rate(stack, 'queries')}")
    read, written = _bandwidth(stack)
    ttft = tuple(Query(f"p{percent}", _quantile(stack, "ttft", percent)) for percent in (50, 95))
    return (
        Panel("Hit rate", "percentunit", (tier, gpu)),
        Panel("Read bandwidth of the tier", "Bps", (Query("read", read),)),
        Panel("Write bandwidth of the tier", "Bps", (Query("written", written),)),
        Panel("Time to first token", "s", ttft),
        Panel("Evictions", "ops", _evictions(stack)),
        Panel("GPU blocks in use", "percentunit", (Query("mean", f"avg({stack.text('metric_gpu_use')})"),)),
        Panel("Time in the queue", "s", (Query("p95", _quantile(stack, "queue", 95)),)),
    )


def _evictions(stack: Stack) -> tuple[Query, ...]:
    """Give what shows that blocks are pushed out: preempted requests, and sampled evictions where they are counted."""
    lines = [Query("preempted requests", _rate(stack, "preemptions"))]
    if stack.backend == "vllm-fs":
        lines.append(Query("blocks out of GPU memory, sampled", _rate(stack, "evictions_sampled")))
    return tuple(lines)


def _bandwidth(stack: Stack) -> tuple[str, str]:
    """Give bytes read from and written to the tier a second.

    Back ends that count blocks or tokens only are multiplied with the Plan's bytes.
    """
    kv, block = stack.deployment.plan.kv, stack.deployment.plan.request.block_tokens
    if stack.backend == "vllm-fs":
        files = 'tier!~"0:.*"'
        return _rate(stack, "tier_read", files), _rate(stack, "tier_write", files)
    if stack.backend == "llmd-fs":
        kinds = ("SHARED_STORAGE_to_GPU", "GPU_to_SHARED_STORAGE")
        read, written = (_rate(stack, "offload_bytes", f'transfer_type="{kind}"') for kind in kinds)
        return read, written
    if stack.backend == "kvbm-disk":
        blocks = f"({_rate(stack, 'kvbm_disk_writes')} + {_rate(stack, 'kvbm_disk_writes_direct')})"
        read_block, written_block = (
            f"{value * block:.0f}" for value in (kv.loaded_bytes_per_token, kv.stored_bytes_per_token)
        )
        return f"{_rate(stack, 'kvbm_disk_reads')} * {read_block}", f"{blocks} * {written_block}"
    fresh = " - ".join(_rate(stack, name) for name in ("prompt_tokens", "gpu_hits", "hits"))
    return f"{_rate(stack, 'hits')} * {kv.loaded_bytes_per_token:.0f}", f"({fresh}) * {kv.stored_bytes_per_token:.0f}"


def _rate(stack: Stack, name: str, where: str = "") -> str:
    """Give the rate of a counter over all engines."""
    chosen = f"{{{where}}}" if where else ""
    return f"sum(rate({stack.text(f'metric_{name}')}{chosen}[5m]))"


def _quantile(stack: Stack, name: str, percent: int) -> str:
    """Give a quantile of a histogram over all engines."""
    buckets = f"sum by (le) (rate({stack.text(f'metric_{name}')}[5m]))"
    return f"histogram_quantile({percent / 100:g}, {buckets})"
