"""kubeadm's manifest of kube-scheduler: the arguments and the probes of its container."""

from pathlib import Path

import yaml

MANIFEST = Path(__file__).parents[2] / "data" / "kubeadm" / "kube-scheduler.yaml"
SCHEDULER_CONF = "/etc/kubernetes/scheduler.conf"


def container():
    [found] = yaml.safe_load(MANIFEST.read_text())["spec"]["containers"]
    return found


def arguments(kubeconfig, port):
    """Those of the manifest. The mounted file is elsewhere, and so is the port: tests share it."""
    program, *given = container()["command"]
    assert program == "kube-scheduler"
    mounted = [word.replace(SCHEDULER_CONF, str(kubeconfig)) for word in given]
    return [*mounted, f"--secure-port={port}"]


def secure(kubeconfig, port):
    """The arguments of the manifest, except what a configuration file says."""
    of_file = ("--kubeconfig=", "--leader-elect=")
    return [each for each in arguments(kubeconfig, port) if not each.startswith(of_file)]
