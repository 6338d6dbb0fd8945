"""One rung of the ladder: a cluster of one size, the phases of a scheduler's life, its figures."""

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

QUIET_SECONDS = 0.5
QUIET_SHARE = 0.2  # of one CPU, less than which a process is idle; the heartbeat takes some
PHASES = ("list", "steady", "nodes", "relist")
SERVERS = {"synthetic": "benchmarks.scale.server", "embedded": "benchmarks.scale.embedded"}


class Failed(Exception):
    """A process of the benchmark ended too early."""


class Child:
    """A process that answers each line with a line of JSON, and ends when its input ends."""

    def __init__(self, module, *arguments, log):
        self.begun = time.time()
        self._log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
                start_new_session=True,  # Ctrl-C goes to the benchmark, which ends its children
            )

    def line(self):
        answer = self._process.stdout.readline().strip()
        if not answer:
            end = self._log.read_text(errors="replace").splitlines()[-5:]
            raise Failed("\n  ".join([f"{' '.join(self._process.args[2:])} ended:", *end]))
        return answer

    def ask(self, line):
        print(line, file=self._process.stdin, flush=True)
        return json.loads(self.line())

    def until_quiet(self):
        """Wait until the process does nothing but beat."""
        before = self._cpu_seconds()
        while True:
            time.sleep(QUIET_SECONDS)
            now = self._cpu_seconds()
            if now - before < QUIET_SECONDS * QUIET_SHARE:
                return
            before = now

    def _cpu_seconds(self):
        stat = Path(f"/proc/{self._process.pid}/stat").read_text()
        ticks = sum(map(int, stat.rpartition(")")[2].split()[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def end(self):
        self._process.kill()
        self._process.wait()


@contextmanager
def running(server, nodes, pods):
    """Yield a server with a cluster of this size, and a scheduler on it."""
    with tempfile.TemporaryDirectory() as name:
        folder, children = Path(name), []
        try:
            log = folder / "server.log"
            children.append(Child(SERVERS[server], str(nodes), str(pods), log=log))
            config = folder / "scheduler.json"
            config.write_text(json.dumps(configuration(folder, children[0].line())))
            flags = [f"--config={config}", "--leader-elect=false", "--secure-port=0"]
            log = folder / "scheduler.log"
            children.append(Child("benchmarks.scale.scheduler", *flags, log=log))
            yield children
        finally:
            for child in children:
                child.end()


def configuration(folder, url):
    cluster = {"name": "c", "cluster": {"server": url}}
    context = {"name": "c", "context": {"cluster": "c", "user": "c"}}
    kubeconfig = {"apiVersion": "v1", "kind": "Config", "current-context": "c"}
    kubeconfig |= {"clusters": [cluster], "contexts": [context]}
    kubeconfig["users"] = [{"name": "c", "user": {}}]
    path = folder / "kubeconfig"
    path.write_text(json.dumps(kubeconfig))
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(path), "qps": 5000, "burst": 5000},
    }


def climb(server, size, scheduled, say):
    """Return the figures of a cluster of this size."""
    nodes, pods = size
    what = f"{nodes:,} nodes, {pods:,} pods"
    say(f"{what}: memory of the nodes alone")
    empty, without_pods = memory_of(server, 1), memory_of(server, nodes)
    with running(server, nodes, pods) as (api, scheduler):
        say(f"{what}: the first list")
        first = api.ask("first")["first_bound"] - scheduler.begun
        scheduler.until_quiet()
        phases = {"list": scheduler.ask("list")}
        for phase in PHASES[1:]:
            say(f"{what}: {phase}")
            api.ask(command(phase, scheduled))
            scheduler.until_quiet()
            phases[phase] = scheduler.ask(phase)
    memory = phases["list"]["memory_bytes"]
    return {
        "nodes": nodes,
        "pods": pods,
        "first_seconds": first,
        "first_cpu_seconds": phases["list"]["cpu_seconds"],
        "memory_bytes": memory,
        "node_bytes": (without_pods - empty) / nodes,
        "pod_bytes": (memory - without_pods) / pods,
        "pod_cpu_us": 1e6 * phases["steady"]["cpu_seconds"] / scheduled,
        "relist_cpu_seconds": phases["relist"]["cpu_seconds"],
        "gc_ms": max(each["gc_ms"] for each in phases.values()),
        "pause_ms": max(each["pause_ms"] for each in phases.values()),
        **{f"{name}_pause_ms": each["pause_cpu_ms"] for name, each in phases.items()},
    }


def memory_of(server, nodes):
    with running(server, nodes, 0) as (api, scheduler):
        api.ask("first")
        scheduler.until_quiet()
        return scheduler.ask("memory")["memory_bytes"]


def command(phase, scheduled):
    return {"steady": f"create {scheduled}", "nodes": "touch", "relist": f"relist {scheduled}"}[
        phase
    ]
