"""What all hosts, or those of a group, have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvplan.site.secrets import secret_references

if TYPE_CHECKING:
    from kvplan.site.deployment import Deployment


def all_vars(deployment: Deployment) -> dict[str, Any]:
    """Return what every host may need: place, people, software, and who answers by which name.

    Parameters
    ----------
    deployment
        What is deployed.

    Returns
    -------
    dict
        Variables that begin with `kv_`.
    """
    site, plan = deployment.site, deployment.plan
    network = site.network
    return {
        "kv_site": site.name,
        "kv_plan_sha256": deployment.plan_sha256,
        "kv_profile": plan.profile.name,
        "kv_domain": network.domain,
        "kv_dns_servers": list(network.dns),
        "kv_ntp_servers": list(network.ntp),
        "kv_syslog": [service.model_dump() for service in network.syslog],
        "kv_timezone": network.timezone,
        "kv_fabric_mtu_bytes": network.fabric_mtu_bytes,
        "kv_host_mtu_bytes": network.host_mtu_bytes,
        "kv_admin_user": site.access.user,
        "kv_ssh_keys": list(site.access.ssh_keys),
        "kv_media_url": f"http://{site.media.address}:{site.media.port}",
        "kv_images": site.images.model_dump(exclude_none=True),
        "kv_packages": site.packages.model_dump(exclude_none=True),
        "kv_versions": site.versions.model_dump(),
        "kv_licences": [licence.model_dump() for licence in site.licences],
        "kv_storage": site.storage.model_dump(),
        "kv_storage_nodes": _storage_names(deployment),
        "kv_control_address": next((server.admin_address for server in deployment.control), None),
        "kv_secrets": secret_references(site),
    }


def group_vars(deployment: Deployment) -> dict[str, dict[str, Any]]:
    """Return what the hosts of each group have in common.

    Parameters
    ----------
    deployment
        What is deployed.

    Returns
    -------
    dict of dict
        Variables by group.
    """
    site, profile = deployment.site, deployment.plan.profile
    user = {"ansible_user": site.access.user, "ansible_become": True}
    return {
        "storage": {
            **user,
            "kv_os": "rhel",
            "kv_os_version": site.versions.rhel,
            "kv_kernel": site.versions.rhel_kernel,
            "kv_erasure_code": profile.erasure_code,
            "kv_block_bytes": profile.block_bytes,
            "kv_drives_per_node": profile.drives_per_node,
            "kv_drive_bytes": profile.drive_bytes,
            "kv_recovery_groups": profile.recovery_groups,
        },
        "gpu": {
            **user,
            "kv_os": "ubuntu",
            "kv_os_version": site.versions.ubuntu,
            "kv_kernel": site.versions.ubuntu_kernel,
            "kv_model": site.inference.engines.served_name,
            "kv_model_path": site.inference.engines.model_path,
            "kv_cache_backend": site.inference.cache_backend,
            "kv_engine_image": site.inference.engines.image,
            "kv_gpus": site.inference.engines.gpus_per_server,
            "kv_tensor_parallel": deployment.plan.request.tp,
        },
        "control": {
            **user,
            "kv_os": "ubuntu",
            "kv_os_version": site.versions.ubuntu,
            "kv_kernel": site.versions.ubuntu_kernel,
        },
        "switches": {"ansible_user": site.access.switch_user, "kv_os": "cumulus"},
        "bmc": {"ansible_connection": "local", "kv_bmc_port": 443},
    }


def _storage_names(deployment: Deployment) -> list[dict[str, str]]:
    """List the storage nodes with the names and addresses of their daemons."""
    return [
        {"name": server.name, "daemon": server.names.daemon_fqdn, "address": server.daemon_address}
        for server in deployment.storage
    ]
