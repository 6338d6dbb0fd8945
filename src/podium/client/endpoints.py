"""Which API server a process is to talk to, by a kubeconfig or an address; the commands call it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from podium.client.endpoint import Endpoint, server_address
from podium.client.in_cluster import in_cluster
from podium.client.kubeconfig import endpoint_of, load
from podium.clock import Clock


def find_endpoint(
    clock: Clock, kubeconfig: Path | None = None, context: str = "", master: str = ""
) -> Endpoint:
    """As kube-scheduler: a file, an address, or both; with neither, the pod's own cluster.

    An address wins over the one in the file. ``CredentialsError`` says what is missing.
    """
    if kubeconfig is None and not master:
        return in_cluster(clock)
    if kubeconfig is None:
        return Endpoint(server_address(master, "--master"), "--master")
    found = endpoint_of(load(kubeconfig), clock, context)
    return replace(found, server=server_address(master, "--master")) if master else found
