"""Units of the services on the control node: frontend, etcd, NATS, Prometheus, Grafana."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.site.inference.container import container_unit, environment, offline, probe, runtime, user

if TYPE_CHECKING:
    from kvplan.site.inference.stack import Stack


def frontend_unit(stack: Stack) -> str:
    """Write the unit of the frontend.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    str
        The unit; it is active once the process answers, with or without engines.
    """
    needed = ("kv-etcd.service",) * stack.needs_etcd + ("kv-nats.service",) * stack.needs_nats
    model = stack.layout.model_path
    check = probe(stack, stack.layout.frontend_port, "/live")
    return container_unit(
        stack,
        name="kv-frontend",
        description="Frontend: OpenAI API and router",
        after=needed,
        requires=needed,
        paths=(model,),
        options=(
            "--sdnotify=healthy",
            *check,
            *user(stack, "kv-frontend"),
            "--env-file=/etc/kv/frontend.env",
            f"--volume={model}:{model}:ro",
        ),
        command=(
            *(stack.layout.image, "python3", "-m", "dynamo.frontend"),
            *("--http-host=0.0.0.0", f"--http-port={stack.layout.frontend_port}"),
            f"--router-mode={stack.layout.router}",
        ),
    )


def frontend_environment(stack: Stack) -> str:
    """Write the environment of the frontend.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    str
        One variable a line.
    """
    seed, home = str(stack.layout.hash_seed), "/var/cache/kv-frontend"
    variables = {"PYTHONHASHSEED": seed, **offline(stack), "HOME": home, **runtime(stack)}
    return environment("the frontend, read by kv-frontend.service", variables)


def etcd_unit(stack: Stack) -> str:
    """Write the unit of etcd, through which engines are found.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    str
        The unit.
    """
    clients = f"http://{stack.services}:{stack.port('etcd')}"
    peers = f"http://127.0.0.1:{stack.port('etcd_peer')}"
    return _service(
        stack,
        "kv-etcd",
        "etcd: which engines there are",
        stack.deployment.site.inference.etcd_image,
        (
            *("etcd", "--name=kv", "--data-dir=/data"),
            *(f"--listen-client-urls={clients}", f"--advertise-client-urls={clients}"),
            *(f"--listen-peer-urls={peers}", f"--initial-advertise-peer-urls={peers}", f"--initial-cluster=kv={peers}"),
        ),
    )


def nats_unit(stack: Stack) -> str:
    """Write the unit of NATS, which carries events of engines to the router.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    str
        The unit.
    """
    return _service(
        stack,
        "kv-nats",
        "NATS: events of engines",
        stack.deployment.site.inference.nats_image,
        (
            *("--jetstream", "--store_dir=/data", f"--addr={stack.services}"),
            *(f"--port={stack.port('nats')}", f"--http_port={stack.port('nats_monitor')}"),
        ),
    )


def prometheus_unit(stack: Stack) -> str:
    """Write the unit of Prometheus.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    str
        The unit.
    """
    return _service(
        stack,
        "kv-prometheus",
        "Prometheus: metrics of engines and services",
        stack.deployment.site.inference.prometheus_image,
        (
            *("--config.file=/etc/kv/prometheus.yml", "--storage.tsdb.path=/data"),
            f"--storage.tsdb.retention.time={stack.text('retention_days')}d",
            f"--web.listen-address={stack.services}:{stack.port('prometheus')}",
        ),
        "--volume=/etc/kv/prometheus.yml:/etc/kv/prometheus.yml:ro",
    )


def grafana_unit(stack: Stack) -> str:
    """Write the unit of Grafana: dashboards for reading, no accounts, hence no password.

    Parameters
    ----------
    stack
        The engines.

    Returns
    -------
    str
        The unit.
    """
    variables = {
        "GF_SERVER_HTTP_ADDR": stack.services,
        "GF_SERVER_HTTP_PORT": str(stack.port("grafana")),
        "GF_PATHS_DATA": "/data",
        "GF_PATHS_PROVISIONING": "/etc/kv/grafana",
        "GF_AUTH_ANONYMOUS_ENABLED": "true",
        "GF_AUTH_ANONYMOUS_ORG_ROLE": "Viewer",
        "GF_AUTH_DISABLE_LOGIN_FORM": "true",
        "GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION": "true",
    }
    return _service(
        stack,
        "kv-grafana",
        "Grafana: the dashboard of the cache",
        stack.deployment.site.inference.grafana_image,
        (),
        *(f"--env={name}={value}" for name, value in variables.items()),
        "--volume=/etc/kv/grafana:/etc/kv/grafana:ro",
    )


def _service(stack: Stack, name: str, description: str, image: str, command: tuple[str, ...], *options: str) -> str:
    """Write the unit of a service of the control node, which keeps its data on the local disk."""
    data = (f"--user={stack.layout.uid}:{stack.layout.gid}", f"--volume=/var/lib/{name}:/data:U")
    return container_unit(
        stack,
        name=name,
        description=description,
        options=("--sdnotify=conmon", *data, *options),
        command=(image, *command),
        keeps_data=True,
    )
