"""Machines of a deployment, and what is said of one that lacks what a file needs."""

from __future__ import annotations

import pytest
from sites import deployment_of, deployment_with


def test_a_server_is_reached_at_its_first_management_port() -> None:
    server = deployment_of(8).storage[0]
    assert (server.name, server.admin_address) == ("storage-001", "172.24.64.9")


def test_a_server_without_a_management_port_is_named_with_the_option() -> None:
    server = deployment_with(8, build={"management": {"host_ports": 0}}).storage[0]
    with pytest.raises(ValueError, match=r"^storage-001 has no management port: set build\.management\.host_ports to"):
        _ = server.admin_address
