"""One rung of the ladder: a cluster of one size, the phases of a scheduler's life, its figures."""

import json
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

QUIET_SECONDS = 0.5
QUIET_SHARE = 0.2  # of one CPU, less than which a process is idle; the heartbeat takes some
PHASES = ("list", "steady", "nodes", "relist")
FIGURES = (
    "nodes",
    "pods",
    "first_s",
    "synced_s",
    "memory_mb",
    "node_kb",
    "pod_kb",
    "pod_us",
    "relist_s",
    "gc_ms",
    *(f"{phase}_pause_ms" for phase in PHASES),
    *(f"{phase}_pause_cpu_ms" for phase in PHASES),
)


class Child:
    """A process that answers each line with a line of JSON."""

    def __init__(self, *command, log=None):
        self.begun = time.time()
        self._process = subprocess.Popen(
            [sys.executable, "-m", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,  # Ctrl-C goes to the benchmark only, which ends its children
        )
        self.pid = self._process.pid

    def first_line(self):
        return self._process.stdout.readline().strip()

    def ask(self, line):
        print(line, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"a process ended: {self._process.args}")
        return json.loads(answer)

    def until_quiet(self):
        """Wait until the process does nothing but beat."""
        before = self._cpu_ticks()
        while True:
            time.sleep(QUIET_SECONDS)
            now = self._cpu_ticks()
            if now - before < 100 * QUIET_SECONDS * QUIET_SHARE:
                return
            before = now

    def _cpu_ticks(self):
        stat = Path(f"/proc/{self.pid}/stat").read_text()
        return sum(map(int, stat.rpartition(")")[2].split()[11:13]))

    def end(self):
        self._process.kill()
        self._process.wait()


@contextmanager
def running(nodes, pods):
    """Yield a synthetic server of this size and a scheduler on it."""
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        children = [Child("benchmarks.scale.server", str(nodes), str(pods))]
        try:
            url = children[0].first_line()
            config = Path(folder) / "scheduler.json"
            config.write_text(json.dumps(configuration(folder, url)))
            flags = [f"--config={config}", "--leader-elect=false", "--secure-port=0"]
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
    path = Path(folder) / "kubeconfig"
    path.write_text(json.dumps(kubeconfig))
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(path), "qps": 5000, "burst": 5000},
    }


def climb(nodes, pods, scheduled, say):
    """Return the figures of a cluster of this size."""
    empty = memory_of(1, 0, say)
    without_pods = memory_of(nodes, 0, say)
    with running(nodes, pods) as (server, scheduler):
        say(f"{nodes:,} nodes, {pods:,} pods: the first list")
        first = server.ask("first")["first_bound"]
        scheduler.until_quiet()
        phases = {"list": scheduler.ask("list")}
        for phase in PHASES[1:]:
            say(f"{nodes:,} nodes, {pods:,} pods: {phase}")
            run_phase(phase, server, scheduled)
            scheduler.until_quiet()
            phases[phase] = scheduler.ask(phase)
    say("")
    memory = phases["list"]["memory_bytes"]
    return {
        "nodes": nodes,
        "pods": pods,
        "first_s": first - scheduler.begun,
        "synced_s": 0.0,
        "memory_mb": memory / 1e6,
        "node_kb": (without_pods - empty) / nodes / 1e3,
        "pod_kb": (memory - without_pods) / pods / 1e3,
        "pod_us": 1e6 * phases["steady"]["cpu_seconds"] / scheduled,
        "relist_s": phases["relist"]["cpu_seconds"],
        "gc_ms": max(each["gc_ms"] for each in phases.values()),
        **{f"{name}_pause_ms": each["pause_ms"] for name, each in phases.items()},
        **{f"{name}_pause_cpu_ms": each["pause_cpu_ms"] for name, each in phases.items()},
    }


def memory_of(nodes, pods, say):
    say(f"{nodes:,} nodes, {pods:,} pods: memory")
    with running(nodes, pods) as (server, scheduler):
        server.ask("first")
        scheduler.until_quiet()
        return scheduler.ask("memory")["memory_bytes"]


def run_phase(phase, server, scheduled):
    match phase:
        case "steady":
            server.ask(f"create {scheduled}")
        case "nodes":
            server.ask("touch")
        case "relist":
            server.ask(f"relist {scheduled}")
