"""A scheduler that is started as kubeadm's manifest of a static pod says, and its probes."""

import sys

from tests.support.control_plane import callers
from tests.support.control_plane.manifest import arguments, container
from tests.support.control_plane.processes import Scheduler

PODIUM = (sys.executable, "-m", "podium", "scheduler")
PROBES = ("startupProbe", "livenessProbe", "readinessProbe")


def scheduler(program, kubeconfig, port, log, *more):
    return Scheduler([*program, *arguments(kubeconfig, port), *more], log)


def probe(port):
    """What each probe of the manifest is answered, as the kubelet asks: with nothing."""
    found = {}
    for name in PROBES:
        get = container()[name]["httpGet"]
        assert (get["scheme"], get["host"]) == ("HTTPS", "127.0.0.1")
        found[name] = callers.ask(port, get["path"]).code
    return found
