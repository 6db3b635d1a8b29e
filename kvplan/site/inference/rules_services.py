"""Rules about what stands around the engines: etcd, NATS, frontend, metrics, dashboard, and that no secret leaks."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from kvplan.site.inference.observe import known_metrics
from kvplan.site.inference.reading import DASHBOARD, PROMETHEUS, Rendered, Unit
from kvplan.site.inference.stack import KVBM
from kvplan.site.reading import yaml_in
from kvplan.site.rules import Break, rule
from kvplan.site.secrets import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

_METRIC: Final = re.compile(r"\b(?:vllm:|kvbm_|dynamo_|lmcache)[A-Za-z0-9_:]+")
_SECRET_NAME: Final = re.compile(r"PASSWORD|PASSWD|SECRET|(?<!TIK)TOKEN|CREDENTIAL|_KEY$|^KEY$")
_SECRET_VALUE: Final = re.compile(r"^(env|file|vault):|://[^/@\s]+:[^/@\s]+@|^(hf|sk|ghp)[_-][A-Za-z0-9]{16,}")


@rule("KV-INF-036", "There is a control node with a frontend, whose router is the Site's.")
def _control_node(rendered: Rendered) -> Iterator[Break]:
    if rendered.stack.control is None:
        text = "no control node: nothing finds engines, routes requests or watches"
        yield Break("servers", text, "Name the control nodes of the design in the Site.")
        return
    frontends = [unit for unit in rendered.units if unit.name == "kv-frontend"]
    if not frontends:
        yield Break(f"hosts/{rendered.stack.control.name}", "there is no frontend")
    for unit in frontends:
        if unit.argument("--router-mode") != rendered.stack.layout.router:
            text = f"the router is {unit.argument('--router-mode') or 'the default one'}"
            yield Break(unit.path, text, f"Set --router-mode={rendered.stack.layout.router}.")


@rule("KV-INF-021", "Etcd and NATS run where something asks for them, and everybody knows their address.")
def _services_needed(rendered: Rendered) -> Iterator[Break]:
    running = {unit.name for unit in rendered.units}
    for service, asks, variable in (("etcd", _asks_etcd, "ETCD_ENDPOINTS"), ("nats", _asks_nats, "NATS_SERVER")):
        askers = [unit for unit in _dynamo(rendered) if asks(rendered, unit)]
        if askers and f"kv-{service}" not in running:
            text = f"{len(askers)} units ask for {service}, which runs nowhere"
            yield Break(askers[0].path, text)
        for unit in askers:
            address = rendered.environment(unit).get(variable, "")
            if rendered.stack.services not in address:
                text = f"{variable} is {address or 'absent'}, {service} is at {rendered.stack.services}"
                yield Break(unit.path, text)


@rule("KV-INF-022", "Etcd and NATS do not run where nothing asks for them.", "info")
def _services_idle(rendered: Rendered) -> Iterator[Break]:
    for service, asks in (("etcd", _asks_etcd), ("nats", _asks_nats)):
        for unit in rendered.units:
            if unit.name == f"kv-{service}" and not any(asks(rendered, asker) for asker in _dynamo(rendered)):
                yield Break(unit.path, f"nothing asks for {service}", f"Leave {unit.name} out.")


def _dynamo(rendered: Rendered) -> list[Unit]:
    """List the units of Dynamo's processes."""
    return [unit for unit in rendered.units if {"dynamo.vllm", "dynamo.frontend"} & set(unit.arguments)]


def _asks_etcd(rendered: Rendered, unit: Unit) -> bool:
    """Tell whether a process is found through etcd, which is the default of all releases."""
    environment = rendered.environment(unit)
    return environment.get("DYN_STORE_KV", environment.get("DYN_DISCOVERY_BACKEND", "etcd")) == "etcd"


def _asks_nats(rendered: Rendered, unit: Unit) -> bool:
    """Tell whether a process sends requests, or events, through NATS."""
    environment = rendered.environment(unit)
    default = "nats" if rendered.stack.is_old else "zmq"
    by_events = environment.get("DYN_EVENT_PLANE", default) == "nats" and _has_events(unit)
    return environment.get("DYN_REQUEST_PLANE") == "nats" or by_events


def _has_events(unit: Unit) -> bool:
    """Tell whether an engine tells what it holds, or a frontend listens; engines do so by default."""
    if "dynamo.frontend" in unit.arguments:
        return unit.argument("--router-mode") == "kv"
    return '"enable_kv_cache_events":false' not in unit.argument("--kv-events-config").replace(" ", "")


@rule("KV-INF-030", "Engines tell what they hold where the router asks for it, and only there.")
def _router_events(rendered: Rendered) -> Iterator[Break]:
    wanted = rendered.stack.layout.router == "kv"
    for unit in rendered.engines:
        if _has_events(unit) != wanted:
            telling = "does not tell" if wanted else "tells"
            text = f"the engine {telling} what it holds, the router is {rendered.stack.layout.router}"
            yield Break(unit.path, text)
    if wanted and rendered.stack.backend.startswith("lmcache"):
        text = "a router by KV sees no overlap with LMCache"
        yield Break("inference.engines.router", text, "Choose round-robin.", "warning")


@rule("KV-INF-019", "Every engine, the frontend and etcd are read by Prometheus, and nothing that does not exist.")
def _scrape_targets(rendered: Rendered) -> Iterator[Break]:
    stack = rendered.stack
    jobs = _jobs(rendered.tree.get(PROMETHEUS, ""))
    address = {server.name: server.admin_address for server in rendered.deployment.clients}
    wanted = {"engines": {f"{address.get(unit.host, '')}:{_system_port(rendered, unit)}" for unit in rendered.engines}}
    if stack.backend in KVBM:
        rows = (row for row in rendered.ports if row.purpose == "kvbm-metrics")
        wanted["kvbm"] = {f"{address.get(row.host, '')}:{row.port}" for row in rows}
    if stack.control:
        wanted["frontend"] = {f"{stack.services}:{stack.layout.frontend_port}"}
        wanted["etcd"] = {f"{stack.services}:{stack.port('etcd')}"} if stack.needs_etcd else set()
    for job, targets in wanted.items():
        for target in sorted(targets - jobs.get(job, set())):
            yield Break(PROMETHEUS, f"job {job} does not read {target}")
        for target in sorted(jobs.get(job, set()) - targets):
            yield Break(PROMETHEUS, f"job {job} reads {target}, where nothing answers")
    if stack.control:
        path = f"hosts/{stack.control.name}/etc/kv/prometheus.yml"
        if rendered.tree.get(path) != rendered.tree.get(PROMETHEUS):
            yield Break(path, f"is not {PROMETHEUS}")


def _system_port(rendered: Rendered, unit: Unit) -> str:
    """Return the port at which an engine serves its metrics."""
    return rendered.environment(unit).get("DYN_SYSTEM_PORT", "")


def _jobs(text: str) -> dict[str, set[str]]:
    """Read the targets of each job; what is no such configuration has none."""
    try:
        data = yaml_in(text)
        return {
            job["job_name"]: {target for config in job["static_configs"] for target in config["targets"]}
            for job in data["scrape_configs"]
        }
    except (ValueError, TypeError, KeyError):
        return {}


@rule("KV-INF-020", "The dashboard names only metrics that this release and back end export.")
def _dashboard(rendered: Rendered) -> Iterator[Break]:
    text = rendered.tree.get(DASHBOARD, "")
    try:
        panels = json.loads(text)["panels"]
        expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    except (json.JSONDecodeError, KeyError, TypeError):
        yield Break(DASHBOARD, "is no dashboard")
        return
    used = {metric for expression in expressions for metric in _METRIC.findall(expression)}
    for metric in sorted(used - known_metrics(rendered.stack)):
        text = f"{metric} is not exported with {rendered.stack.backend}"
        yield Break(DASHBOARD, text, "Take a metric of the catalogue's settings `inference.metric_`.")
    if not used:
        yield Break(DASHBOARD, "no panel shows a metric")


@rule("KV-INF-023", "No secret stands in a unit or an environment file.")
def _secrets(rendered: Rendered) -> Iterator[Break]:
    for path, variables in rendered.environments.items():
        yield from _secret_faults(path, variables)
    for unit in rendered.units:
        pairs = (entry.partition("=") for entry in unit.options.get("--env", ()))
        yield from _secret_faults(unit.path, {name: value for name, _, value in pairs})


def _secret_faults(path: str, variables: dict[str, str]) -> Iterator[Break]:
    """Find variables that hold a secret, without repeating it."""
    for name, value in variables.items():
        if PLACEHOLDER.fullmatch(value):
            continue
        if (_SECRET_NAME.search(name) and value) or _SECRET_VALUE.search(value):
            yield Break(path, f"{name} holds a secret", "Write a placeholder, and a reference in the Site.")
