"""Which API server a process talks to: that of a kubeconfig, of an address, or of its own pod.

`podium scheduler` calls `find_endpoint`; commands of users call `users_endpoint`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from podium.client.endpoint import Endpoint, server_address
from podium.client.kubeconfig import endpoint_of, load
from podium.client.logins import TokenFile
from podium.clock import Clock
from podium.errors import CredentialsError
from podium.files import read_small
from podium.tls import Tls


def find_endpoint(
    clock: Clock, kubeconfig: Path | None = None, context: str = "", master: str = ""
) -> Endpoint:
    """Find the API server as kube-scheduler does: by a file, an address, or both.

    Without either it is the cluster of the pod that this process runs in. An address replaces the
    one in the file. Raise ``CredentialsError`` if something is missing.
    """
    if kubeconfig is None and not master:
        return in_cluster(clock)
    if kubeconfig is None:
        return Endpoint(server_address(master, "--master"), "--master")
    found = endpoint_of(load(kubeconfig), clock, context)
    return replace(found, server=server_address(master, "--master")) if master else found


def users_endpoint(clock: Clock, kubeconfig: Path | None = None, context: str = "") -> Endpoint:
    """Find the API server as kubectl does: $KUBECONFIG, the home directory, then this pod."""
    config = load(kubeconfig)
    if not config.contexts and kubeconfig is None and "KUBERNETES_SERVICE_HOST" in os.environ:
        return in_cluster(clock)
    return endpoint_of(config, clock, context)


MOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_SOURCE = "the service account of this pod"
_HINT = "give a kubeconfig with --kubeconfig, or run in a pod with a service account"


def in_cluster(
    clock: Clock, environment: Mapping[str, str] = os.environ, mount: Path = MOUNT
) -> Endpoint:
    """Return the API server of the pod that this process runs in.

    The address is in the environment, the credentials are in a mounted directory, where the token
    is renewed from time to time. Raise ``CredentialsError`` if this is not a pod.
    """
    host = environment.get("KUBERNETES_SERVICE_HOST", "")
    port = environment.get("KUBERNETES_SERVICE_PORT", "")
    if not host or not port:
        raise CredentialsError(
            "no kubeconfig was given, and this process does not run in a pod: "
            f"KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; {_HINT}"
        )
    address = f"https://{f'[{host}]' if ':' in host else host}:{port}"
    return Endpoint(
        server=server_address(address, _SOURCE),
        source=_SOURCE,
        tls=Tls(ca=_read(mount / "ca.crt")),
        login=TokenFile(mount / "token", clock, _SOURCE),
        namespace=_namespace(mount / "namespace"),
    )


def _read(path: Path) -> bytes:
    try:
        return read_small(path)
    except OSError as error:
        raise CredentialsError(f"{_SOURCE}: cannot be read: {error}; {_HINT}") from error


def _namespace(path: Path) -> str:
    try:
        return read_small(path).decode().strip() or "default"
    except (OSError, UnicodeDecodeError):
        return "default"
