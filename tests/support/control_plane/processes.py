"""Programs that tests start and stop: any, podium's scheduler, and kube-scheduler.

Their output goes to a file, which errors quote.
"""

import json
import socket
import subprocess
import sys
from pathlib import Path

from podium.release import LATEST
from tests.support.control_plane import manifest

_STOP_SECONDS = 10
_TAIL_LINES = 15


class ProgramFailed(Exception):
    """A program ended, or did not do what it was started for; with its last words."""


class Program:
    """One process; ``with`` or ``stop`` ends it, by its id and nobody else's."""

    def __init__(self, arguments, log):
        self._log = Path(log)
        with self._log.open("wb") as output:
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # after Ctrl-C it is needed until `stop`
            )
        self.pid = self._process.pid

    def wait_until(self, is_ready, attempts=600):
        """Ask every tenth of a second; a program that ends before it is ready is an error."""
        for _ in range(attempts):
            if is_ready():
                return
            try:
                self._process.wait(0.1)  # the pause between two questions, cut short by its end
            except subprocess.TimeoutExpired:
                continue
            raise self._failure("ended")
        raise self._failure("is not ready")

    def signal(self, number):
        self._process.send_signal(number)

    def ended(self, seconds=30):
        """Its exit code, once it has ended by itself."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise self._failure("does not end") from None

    def stop(self):
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _failure(self, what):
        tail = self._log.read_text(errors="replace").splitlines()[-_TAIL_LINES:]
        return ProgramFailed("\n".join([f"{self._process.args[0]} {what}:", *tail]))


USER = "system:kube-scheduler"
PACKER = "packer"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"

# Longer than a retry period and a second; see docs/leader-election.md.
LEASE_SECONDS, RENEW_SECONDS, RETRY_SECONDS = 4, 3, 1
# client-go's bound: a look to see the last renewal, the lease, a look to see that it ran out, each
# with a pause of up to 2.2 retry periods before it; and two requests of the longest kind.
MOST_TAKEOVER_SECONDS = LEASE_SECONDS + 2 * 2.2 * RETRY_SECONDS + 2 * RENEW_SECONDS / 2

_PACKING = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "NodeResourcesFitArgs",
    "scoringStrategy": {
        "type": "MostAllocated",
        "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}],
    },
}


def configuration(kubeconfig):
    """Two profiles, and a lease that a test can wait for."""
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {
            "kubeconfig": str(kubeconfig),
            "contentType": "application/json",
            "qps": 1000,
            "burst": 1000,
        },
        "leaderElection": {
            "leaderElect": True,
            "leaseDuration": f"{LEASE_SECONDS}s",
            "renewDeadline": f"{RENEW_SECONDS}s",
            "retryPeriod": f"{RETRY_SECONDS}s",
        },
        "profiles": [
            {"schedulerName": "default-scheduler"},
            {
                "schedulerName": PACKER,
                "pluginConfig": [{"name": "NodeResourcesFit", "args": _PACKING}],
            },
        ],
    }


def _written(folder, name, kubeconfig):
    path = folder / f"{name}.json"
    path.write_text(json.dumps(configuration(kubeconfig)))
    return path


class Scheduler(Program):
    """A scheduler with its log; ``with`` waits until it leads."""

    def __init__(self, arguments, log):
        super().__init__(arguments, log)
        self._said = log

    def __enter__(self):
        try:
            self.until_said("Successfully acquired lease")
        except ProgramFailed:
            self.stop()
            raise
        return self

    @property
    def said(self):
        return self._said.read_text()

    @property
    def complaints(self):
        return [line for line in self.said.splitlines() if " WARNING " in line or " ERROR " in line]

    def until_said(self, text):
        """Wait for words in its log; a process that ends before is an error."""
        self.wait_until(lambda: text.lower() in self.said.lower())

    def kill(self):
        self._process.kill()
        self._process.wait()


def podium(folder, kubeconfig, *flags, name="podium", release=LATEST):
    config = _written(folder, name, kubeconfig)
    command = [sys.executable, "-m", "podium", "scheduler", f"--config={config}"]
    usual = ["--secure-port=0", "--logging-format=text", f"--emulated-version={release}"]
    return Scheduler([*command, *usual, *flags], folder / f"{name}.log")


def deployed(folder, kubeconfig, *flags, **options):
    """podium on the secure port, with the flags of kubeadm's manifest."""
    serving = manifest.secure(kubeconfig, free_port())
    return podium(folder, kubeconfig, *serving, *flags, **options)


def kube_scheduler(binaries, folder, kubeconfig, *flags):
    arguments = [
        binaries["kube-scheduler"],
        f"--config={_written(folder, 'kube-scheduler', kubeconfig)}",
        "--bind-address=127.0.0.1",
        f"--secure-port={free_port()}",
        "--authentication-skip-lookup",
        *flags,
    ]
    return Scheduler(arguments, folder / "kube-scheduler.log")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
