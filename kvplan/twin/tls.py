"""Certificates that sign themselves, for as long as a context lasts."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import ExitStack

_KEY: Final = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30")


def certificate(stack: ExitStack, name: str, hosts: Iterable[str]) -> Path | None:
    """Make a certificate with its key beside it.

    Parameters
    ----------
    stack
        Ends with the certificate.
    name
        Whose it is, such as `bmc`.
    hosts
        The addresses that it is for.

    Returns
    -------
    Path or None
        The certificate; its key ends in `.key`. None where there is no openssl.
    """
    openssl = shutil.which("openssl")
    if openssl is None:
        return None
    path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=f"kvplan-{name}-"))) / f"{name}.pem"
    names = ",".join(f"IP:{host}" for host in sorted(set(hosts)))
    files = ("-keyout", f"{path}.key", "-out", str(path))
    subject = ("-subj", f"/CN={name}", "-addext", f"subjectAltName={names}")
    command = [openssl, "req", "-x509", *_KEY, *subject, *files]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - fixed words and addresses
    return path


def context_of(path: Path | None) -> ssl.SSLContext | None:
    """Speak TLS with a certificate, or not at all without one.

    Parameters
    ----------
    path
        What `certificate` made.

    Returns
    -------
    ssl.SSLContext or None
        For a server.
    """
    if path is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, f"{path}.key")
    return context
