"""A public key that is too short.

RSA keys of less than 3,072 bits are below what is asked for from now on, and Red Hat Enterprise Linux refuses those
below 2,048 at the login.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvplan.checks.framework import Check, Found
from kvplan.checks.keys import rsa_bits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvplan.checks.framework import Context

LEAST_BITS = 3072
"""RSA bits of a strength of 128 bits: NIST SP 800-57."""


def run(context: Context) -> Iterator[Found]:
    """Measure RSA keys."""
    for index, key in enumerate(context.site.access.ssh_keys):
        bits = rsa_bits(key)
        if bits is not None and bits < LEAST_BITS:
            yield Found("access.ssh_keys", f"ssh-rsa of {bits:,} bits", ("access", "ssh_keys", index))


CHECK = Check(
    id="KV-SEC-001",
    severity="warning",
    title="Keys are long enough",
    expected="ssh-ed25519, ecdsa, or ssh-rsa of 3,072 bits or more",
    remedy="make a new key: ssh-keygen -t ed25519",
    manual="ssh-keygen -l -f KEY.pub",
    source="NIST SP 800-57 part 1, table 2; RHEL 9 system-wide cryptographic policies",
    run=run,
)
