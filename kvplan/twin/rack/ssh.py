"""How nodes are reached from within the rack: keys, a configuration for `ssh`, and what an inventory is told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from kvplan.twin.rack.shell import run

if TYPE_CHECKING:
    from kvplan.twin.rack.plan import RackPlan
    from kvplan.twin.rack.shell import Run

KEY: Final = "id_ed25519"
CONTROL_PATH: Final = "/run/kv/cm"
"""For shared connections: within the rack, so short, and gone with it."""


def made_key(path: Path, comment: str, command: Run = run) -> tuple[str, str]:
    """Make a key.

    Parameters
    ----------
    path
        Where its private half goes.
    comment
        Whose it is.
    command
        Runs the machine's commands.

    Returns
    -------
    tuple of str
        Private and public half.
    """
    command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path))
    return path.read_text(encoding="ascii"), Path(f"{path}.pub").read_text(encoding="ascii")


def ssh_config(plan: RackPlan, directory: Path) -> str:
    """Write the configuration for `ssh -F`.

    Parameters
    ----------
    plan
        The rack.
    directory
        Where its key and the known hosts are.

    Returns
    -------
    str
        Text: every name of a node leads to its management address.
    """
    lines = []
    for node in plan.nodes:
        lines += [f"Host {' '.join((node.name, *node.aliases))}", f"  HostName {node.address}"]
    lines += [
        "Host *",
        f"  User {plan.user}",
        f"  IdentityFile {directory / KEY}",
        "  IdentitiesOnly yes",
        f"  UserKnownHostsFile {directory / 'known_hosts'}",
        "  GlobalKnownHostsFile /dev/null",
        "  StrictHostKeyChecking yes",
        "  BatchMode yes",
        "  ConnectTimeout 5",
        "  ServerAliveInterval 3",
        "  ServerAliveCountMax 2",
        f"  ControlPath {CONTROL_PATH}/%C",
    ]
    return "\n".join(lines) + "\n"


def known_hosts(plan: RackPlan, public_keys: dict[str, str]) -> str:
    """Write the known hosts.

    Parameters
    ----------
    plan
        The rack.
    public_keys
        The host key of each node.

    Returns
    -------
    str
        Text: every name and the address of a node with its key.
    """
    return "".join(
        f"{','.join((node.address, node.name, *node.aliases))} {' '.join(public_keys[node.name].split()[:2])}\n"
        for node in plan.nodes
    )


def relearn(path: Path, node: str, public_key: str) -> None:
    """Change the key of a node in the known hosts, after it was installed anew.

    Parameters
    ----------
    path
        The known hosts, as `known_hosts` wrote them.
    node
        Name of the node.
    public_key
        Its new key.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    kept = [line.split() for line in lines]
    new = " ".join(public_key.split()[:2])
    text = "".join(f"{names} {new if node in names.split(',') else ' '.join(key)}\n" for names, *key in kept)
    # Readers see all of the old one or all of the new one.
    beside = path.with_name(f"{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def inventory(plan: RackPlan, directory: Path) -> dict[str, dict[str, str]]:
    """List what overrides an inventory's variables.

    Parameters
    ----------
    plan
        The rack.
    directory
        Where its key and the configuration for `ssh` are.

    Returns
    -------
    dict of dict
        Variables by node.
    """
    return {
        node.name: {
            "ansible_host": node.address,
            "ansible_user": plan.user,
            "ansible_ssh_private_key_file": str(directory / KEY),
            "ansible_ssh_common_args": f"-F {directory / 'ssh_config'}",
            "ansible_control_path_dir": CONTROL_PATH,
        }
        for node in plan.nodes
    }
