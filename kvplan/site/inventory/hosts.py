"""What is true of one host only: labels, names, ports and neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvplan.site.secrets import controller_secret

if TYPE_CHECKING:
    from kvplan.schema.design import Port
    from kvplan.site.deployment import Deployment, HostPort, Server, SwitchUnit


def server_vars(deployment: Deployment, server: Server) -> dict[str, Any]:
    """Return the variables of a server.

    Parameters
    ----------
    deployment
        What is deployed.
    server
        The server.

    Returns
    -------
    dict
        Variables of Ansible's connection, and others that begin with `kv_`.
    """
    device, site = server.device, server.site
    data: dict[str, Any] = {
        "ansible_host": server.admin_address,
        "kv_name": server.name,
        "kv_role": server.role,
        "kv_number": device.number,
        "kv_serial": site.serial,
        "kv_model": device.model,
        "kv_rack": device.rack,
        "kv_position_u": device.position_u,
        "kv_admin_name": server.names.admin_fqdn,
        "kv_daemon_name": server.names.daemon_fqdn,
        "kv_daemon_address": server.daemon_address,
        "kv_loopback": server.loopback or None,
        "kv_asn": device.asn,
        "kv_boot_serials": list(site.boot_drives.serials),
        "kv_boot_window_gb": [site.boot_drives.least_gb, site.boot_drives.most_gb],
        "kv_management_ports": [
            {"name": port.port.name, "mac": port.mac, "address": port.port.address} for port in server.management
        ],
        "kv_fabric_ports": [_fabric_port(deployment, port) for port in server.fabric],
        "kv_files": f"hosts/{server.name}",
    }
    if site.data_drives:
        data["kv_data_drives"] = site.data_drives.model_dump()
        data["kv_recovery_group"] = device.recovery_group
    return data


def _fabric_port(deployment: Deployment, port: HostPort) -> dict[str, Any]:
    """Return one port of a server with its far end, so that a check needs no other host."""
    return {
        "name": port.name,
        "mac": port.mac,
        "adapter": port.nic.id,
        "network": port.port.network,
        "rail": port.port.rail,
        "address": port.port.address,
        "gateway": port.gateway,
        "mtu_bytes": deployment.site.network.host_mtu_bytes,
        "speed_gbit_per_s": round(port.port.bits_per_s / 1e9),
        "switch": port.port.peer_device,
        "switch_port": port.port.peer_port,
        "switch_asn": deployment.devices[port.port.peer_device].asn,
    }


def controller_vars(server: Server) -> dict[str, Any]:
    """Return the variables of a server's controller.

    Parameters
    ----------
    server
        The server.

    Returns
    -------
    dict
        Where the controller answers, of which kind it is, and what its password is called in `kv_secrets`.
    """
    bmc = server.site.bmc
    return {
        "ansible_host": bmc.address,
        "kv_host": server.name,
        "kv_serial": server.site.serial,
        "kv_bmc_kind": bmc.kind,
        "kv_bmc_user": bmc.user,
        "kv_bmc_password": controller_secret(server.name),
        "kv_bmc_tls_verify": bmc.tls_verify,
        "kv_bmc_mac": bmc.mac,
    }


def switch_vars(deployment: Deployment, switch: SwitchUnit) -> dict[str, Any]:
    """Return the variables of a switch.

    Parameters
    ----------
    deployment
        What is deployed.
    switch
        The switch.

    Returns
    -------
    dict
        Labels, numbers, and every port with the neighbour that LLDP must show on it.
    """
    device, site = switch.device, switch.site
    return {
        "ansible_host": device.management_address.partition("/")[0],
        "kv_name": switch.name,
        "kv_role": switch.role,
        "kv_serial": site.serial,
        "kv_model": device.model,
        "kv_mac": site.mac,
        "kv_cumulus": site.cumulus,
        "kv_rack": device.rack,
        "kv_loopback": device.loopback.partition("/")[0] or None,
        "kv_asn": device.asn,
        "kv_configuration": f"switches/{switch.name}.yaml",
        "kv_neighbours": [_neighbour(deployment, port) for port in switch.ports],
    }


def _neighbour(deployment: Deployment, port: Port) -> dict[str, Any]:
    """Return one port of a switch and what must answer at its far end."""
    far = deployment.devices.get(port.peer_device)
    return {
        "port": port.name,
        "neighbour": port.peer_device,
        "neighbour_port": port.peer_port,
        "neighbour_role": far.role if far else None,
        "speed_gbit_per_s": round(port.bits_per_s / 1e9),
    }
