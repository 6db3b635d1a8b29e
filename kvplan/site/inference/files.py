"""All files of the engines and of the services around them."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from kvplan.site.inference import observe, services, units
from kvplan.site.inference.connector import cufile_json, lmcache_yaml
from kvplan.site.inference.stack import PortRow, Stack
from kvplan.site.templating import rendered
from kvplan.site.tree import File

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.site.deployment import Deployment, Server


def inference_files(deployment: Deployment) -> Iterator[File]:
    """Write units and environment of every engine, the services of the control node, and what is watched.

    Parameters
    ----------
    deployment
        Plan and Site.

    Yields
    ------
    File
        Files below `hosts/<server>/etc`, and `inference/`.
    """
    stack = Stack(deployment)
    for engine in stack.engines:
        etc = f"hosts/{engine.server.name}/etc"
        yield File(f"{etc}/systemd/system/{engine.unit}.service", units.engine_unit(stack, engine))
        yield File(f"{etc}/kv/engine-{engine.number}.env", units.engine_environment(stack, engine))
    for server in deployment.clients:
        yield from _server_files(stack, server)
    yield from _overview(stack)
    if stack.control:
        yield from _control_files(stack, f"hosts/{stack.control.name}/etc")


def _server_files(stack: Stack, server: Server) -> Iterator[File]:
    """Write what the engines of a GPU server share."""
    etc = f"hosts/{server.name}/etc"
    if stack.uses_gds:
        addresses = tuple(port.address for port in server.fabric)
        yield File(f"{etc}/kv/cufile.json", cufile_json(stack, addresses))
    if stack.lmcache_server:
        yield File(f"{etc}/systemd/system/kv-lmcache.service", units.lmcache_unit(stack))
    elif stack.backend in ("lmcache-fs", "lmcache-gds"):
        yield File(f"{etc}/kv/lmcache.yaml", lmcache_yaml(stack))


def _control_files(stack: Stack, etc: str) -> Iterator[File]:
    """Write the services of the control node."""
    written = {
        "kv-frontend": services.frontend_unit,
        "kv-prometheus": services.prometheus_unit,
        "kv-grafana": services.grafana_unit,
        **({"kv-etcd": services.etcd_unit} if stack.needs_etcd else {}),
        **({"kv-nats": services.nats_unit} if stack.needs_nats else {}),
    }
    for name, write in written.items():
        yield File(f"{etc}/systemd/system/{name}.service", write(stack))
    yield File(f"{etc}/kv/frontend.env", services.frontend_environment(stack))
    yield File(f"{etc}/kv/prometheus.yml", observe.prometheus_yml(stack))
    yield File(f"{etc}/kv/grafana/datasources/prometheus.yaml", observe.datasource_yml(stack))
    yield File(f"{etc}/kv/grafana/dashboards/provider.yaml", observe.provider_yml())
    yield File(f"{etc}/kv/grafana/dashboards/kv-cache.json", observe.dashboard_json(stack))


def _overview(stack: Stack) -> Iterator[File]:
    """Write what a person looks at: ports, targets, dashboard, and the order of starting."""
    yield File("inference/ports.csv", ports_csv(stack.port_rows))
    yield File("inference/prometheus.yml", observe.prometheus_yml(stack))
    yield File("inference/dashboard.json", observe.dashboard_json(stack))
    facts = {
        "backend": stack.deployment.backend,
        "versions": stack.deployment.site.versions,
        "assumed": sorted(
            (row.title, row.note.removeprefix("assumed: "))
            for row in stack.deployment.settings.values()
            if row.area == "inference"
            and row.confidence == "assumed"
            and (not row.applies_to or stack.backend in row.applies_to)
        ),
    }
    yield File("inference/README.md", rendered("inference/README.md.j2", stack=stack, **facts))


def ports_csv(rows: tuple[PortRow, ...]) -> str:
    """Write the table of ports.

    Parameters
    ----------
    rows
        The rows.

    Returns
    -------
    str
        CSV with a header.

    Examples
    --------
    >>> print(ports_csv((PortRow("gpu-1", "0", "system", 8081),)), end="")
    host,engine,purpose,port
    gpu-1,0,system,8081
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(PortRow._fields)
    writer.writerows(rows)
    return out.getvalue()
