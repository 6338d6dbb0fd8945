"""Kills and freezes leaders under load on a real control plane: how long nothing is bound.

    python -m benchmarks.failover --failovers 20

For podium and kube-scheduler in turns, on one kube-apiserver: two replicas with a lease of 4 s,
nodes that are nearly full, and pods that come and go all the time. Each fault hits the leader: in
turns it is killed, or frozen (SIGSTOP) and woken up once the other one leads. Printed are the time
without a binding, the time from the end of the lease to the next binding, and what went wrong.
"""

import argparse
import contextlib
import json
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from http.client import HTTPException
from itertools import count, pairwise
from pathlib import Path

from tests.support.control_plane import manifest, sides
from tests.support.control_plane.plane import ControlPlane, find_binaries
from tests.support.control_plane.processes import Scheduler, free_port
from tests.support.control_plane.stage import Stage

LEASE_SECONDS = 4
ELECTION = {"leaseDuration": "4s", "renewDeadline": "3s", "retryPeriod": "500ms"}
NODES, NODE_MILLI, POD_MILLI = 10, 2000, 400
ROOM = NODES * (NODE_MILLI // POD_MILLI)  # for pods
SPARE = 2  # pods that wait because all nodes are full
LOAD_SECONDS = 0.1
KINDS = ("podium", "kube-scheduler")


@dataclass
class Bindings:
    """What a watch shows of the pods of one namespace, while it happens."""

    times: list = field(default_factory=list)
    nodes: dict = field(default_factory=dict)  # by pod, None while it is pending
    over_committed: list = field(default_factory=list)
    bound_twice: list = field(default_factory=list)

    def see(self, change, pod):
        name, node = pod["metadata"]["name"], pod["spec"].get("nodeName")
        before = self.nodes.get(name)
        if change == "DELETED":
            self.nodes.pop(name, None)
            return
        if before and before != node:
            self.bound_twice.append(name)
        self.nodes[name] = node
        if node and not before:
            self.times.append(time.time())
            used = Counter(self.nodes.values())[node] * POD_MILLI
            if used > NODE_MILLI:
                self.over_committed.append(f"{name} on {node}: {used}m of {NODE_MILLI}m")

    def first_after(self, moment):
        return next((at for at in list(self.times) if at > moment), None)

    def gap_around(self, moment):
        """Return the longest time without a binding that begins or ends after this moment."""
        times = [at for at in list(self.times) if at > moment - 5]
        return max((b - a for a, b in pairwise(times) if b > moment), default=0)


class Replicas:
    """Two processes of one kind of scheduler, with their nodes, pods and lease."""

    def __init__(self, kind, stage, folder, kubeconfig, binaries):
        self.kind, self.stage, self.folder = kind, stage, folder
        self._binaries = binaries
        self._numbers = count()
        self.lease = f"failover-{kind}"
        self._config = folder / f"{kind}.json"
        self._config.write_text(json.dumps(self._configuration(kubeconfig)))
        self._kubeconfig = kubeconfig
        self.bindings = Bindings()
        self._pods = count()
        self.lost = 0
        self._is_over = False
        names = [f"{kind}-{number}" for number in range(NODES)]
        stage.ready_nodes(*names, cpu=f"{NODE_MILLI}m", group=kind)
        threading.Thread(target=self._watch, daemon=True).start()
        self.running = [self._start(), self._start()]

    def _configuration(self, kubeconfig):
        connection = {"kubeconfig": str(kubeconfig), "qps": 1000, "burst": 1000}
        return {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {**connection, "contentType": "application/json"},
            "leaderElection": {**ELECTION, "leaderElect": True, "resourceName": self.lease},
            "profiles": [{"schedulerName": self.kind}],
        }

    def _start(self):
        if self.kind == "podium":
            command = [sys.executable, "-m", "podium", "scheduler", "--logging-format=text"]
            command += manifest.secure(self._kubeconfig, free_port())
        else:
            command = [self._binaries["kube-scheduler"], "--bind-address=127.0.0.1"]
            command += [f"--secure-port={free_port()}", "--authentication-skip-lookup"]
        log = self.folder / f"{self.kind}-{next(self._numbers)}.log"
        return Scheduler([*command, f"--config={self._config}"], log)

    def _watch(self):
        while not self._is_over:
            with contextlib.suppress(OSError, ValueError, HTTPException):  # the server has ended
                self._watch_once()

    def _watch_once(self):
        path = self.stage.core("pods")
        version = self.stage.get(path)["metadata"]["resourceVersion"]
        with contextlib.closing(self.stage.side._connection()) as connection:
            watched = f"{path}?watch=true&resourceVersion={version}&timeoutSeconds=3000"
            connection.request("GET", watched, headers={"Accept": "application/json"})
            for line in connection.getresponse():
                event = json.loads(line)
                self.bindings.see(event["type"], event["object"])

    # --- load ------------------------------------------------------------------------------------

    def add_pod(self):
        self.stage.pod(
            f"p{next(self._pods)}",
            requests={"cpu": f"{POD_MILLI}m"},
            schedulerName=self.kind,
            nodeSelector={"group": self.kind},
        )

    def load(self, over):
        """Keep the nodes full and a few pods waiting; delete the oldest bound one all the time."""
        while not over.wait(LOAD_SECONDS):
            known = dict(self.bindings.nodes)
            bound = [name for name, node in known.items() if node]
            if len(bound) >= ROOM:
                self.stage.delete(self.stage.core(f"pods/{bound[0]}"))
            if len(known) - len(bound) < SPARE:
                self.add_pod()

    def wait_until_full(self):
        """Wait for full nodes, and for a standby that knows them; podium says when it does."""
        [standby] = [each for each in self.running if each is not self.leader()]
        standby.until_said("standing by")
        standby.wait_until(lambda: sum(map(bool, list(self.bindings.nodes.values()))) >= ROOM)

    # --- one failover ----------------------------------------------------------------------------

    def leader(self):
        """Return the process that leads: the one that acquired the lease last."""
        wanted = "successfully acquired lease"
        led = [each for each in self.running if wanted in each.said.lower()]
        return led[-1] if led else None

    def renewed_at(self):
        path = f"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/{self.lease}"
        spec = self.stage.get(path)["spec"]
        return spec["holderIdentity"], datetime.fromisoformat(spec["renewTime"]).timestamp()

    def fail_over(self, freezes):
        """Take the leader away; return the seconds without a binding, and after the lease."""
        leader = self.leader()
        [standby] = [each for each in self.running if each is not leader]
        at = time.time()
        leader.signal(signal.SIGSTOP) if freezes else leader.kill()
        time.sleep(0.3)  # a renewal that was under way
        holder, renewed = self.renewed_at()
        expires = renewed + LEASE_SECONDS
        while (first := self.bindings.first_after(max(at + 0.5, expires - 0.2))) is None:
            time.sleep(0.05)
            if time.time() > at + 30:
                raise SystemExit(f"{self.kind}: nothing was bound 30 s after a fault")
        time.sleep(1)
        assert self.renewed_at()[0] != holder
        if freezes:
            leader.signal(signal.SIGCONT)
            leader.ended()
        self.running = [standby, self._start()]
        return self.bindings.gap_around(at), first - expires

    def settle(self):
        """Return how many pods fit somewhere and are not bound after half a minute."""
        for _ in range(60):
            known = dict(self.bindings.nodes)
            bound = sum(1 for node in known.values() if node)
            if bound >= min(ROOM, len(known)):  # more than that is over-committed
                return 0
            time.sleep(0.5)
        return min(ROOM, len(known)) - bound

    def stop(self):
        self._is_over = True
        for each in self.running:
            each.stop()


def play(plane, binaries, failovers, folder):
    side = sides.real(plane)
    kinds = [
        Replicas(kind, Stage(side, f"of-{kind}"), folder, plane.admin, binaries) for kind in KINDS
    ]
    try:
        return kinds, measure(kinds, failovers)
    finally:
        for replicas in kinds:
            replicas.stop()


def measure(kinds, failovers):
    """Return what each failover took, by kind of scheduler."""
    for replicas in kinds:
        while replicas.leader() is None:
            time.sleep(0.2)
    results = {kind: [] for kind in KINDS}
    for number in range(failovers):
        for replicas in kinds:
            freezes = bool(number % 2)
            over = threading.Event()
            loading = threading.Thread(target=replicas.load, args=(over,))
            loading.start()
            time.sleep(4 if number else 10)  # full nodes, and a standby that knows them
            result = replicas.fail_over(freezes)
            over.set()
            loading.join()
            replicas.lost += replicas.settle()
            results[replicas.kind].append(result)
            what = "frozen" if freezes else "killed"
            gap, late = result
            wrong = len(replicas.bindings.over_committed), replicas.lost
            print(f"{number + 1:2} {replicas.kind:15} {what} {gap:5.2f} s without a binding, "
                  f"{late:+.2f} s after the lease; so far {wrong[0]} over-committed, "
                  f"{wrong[1]} lost", flush=True)  # fmt: skip
    return results


def table(kinds, results):
    print("\n| | without a binding: median, longest | after the lease: median, longest | "
          "over-committed | bound twice | lost |\n|---|---|---|---|---|---|")  # fmt: skip
    for replicas in kinds:
        gaps, late = zip(*results[replicas.kind], strict=True)
        seen = replicas.bindings
        print(
            f"| {replicas.kind} | {statistics.median(gaps):.2f} s, {max(gaps):.2f} s | "
            f"{statistics.median(late):.2f} s, {max(late):.2f} s | {len(seen.over_committed)} | "
            f"{len(seen.bound_twice)} | {replicas.lost} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--failovers", type=int, default=20, help="for each scheduler")
    parser.add_argument("--release", default="1.37", help="of the control plane")
    args = parser.parse_args()
    [binaries] = [each for each in find_binaries() if args.release in each.folder.name]
    with tempfile.TemporaryDirectory() as folder, ControlPlane(binaries) as plane:
        kinds, results = play(plane, binaries, args.failovers, Path(folder))
        table(kinds, results)


if __name__ == "__main__":
    main()
