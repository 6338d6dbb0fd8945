"""What readers of the dashboard's stream cost a scheduler: CPU per pod with readers and without.

    python -m benchmarks.dashboard_stream [--nodes N] [--pods N] [--rounds N] [--readers N]

Starts an embedded cluster without a scheduler, and beside it `podium scheduler --dashboard` in a
process of its own, whose CPU time is measured. Rounds with and without readers alternate: in each,
so many pods are created, placed and deleted again. The readers render nothing.

On a machine that others use, the CPU per pod varies by more than the readers cost. So the CPU of
the threads beside the scheduler's own is printed as well: the server and the stream run there, and
what they take with readers and do not take without is the cost of the readers.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from statistics import median

import yaml

READER = """\
import sys, urllib.request
opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
opener.open(sys.argv[1]).read()
stream = opener.open(sys.argv[1].partition("?")[0] + "api/stream")
print("reads", flush=True)
while stream.read1(1 << 16):
    pass
"""
DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments"
PORT = 18251


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name, usual in (("nodes", 1000), ("pods", 3000), ("rounds", 4), ("readers", 3)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the cluster, too
    with tempfile.TemporaryDirectory() as home:
        measured = Measured(Path(home), args)
        try:
            measured.run()
        finally:
            measured.end()


class Measured:
    """A cluster and a scheduler with a dashboard."""

    def __init__(self, home, args):
        self._home, self._args = home, args
        self._environment = {
            **os.environ, "XDG_STATE_HOME": str(home), "KUBECONFIG": str(home / "config"),
        }  # fmt: skip
        self._podium("up", "--detach", "--no-scheduler", f"--nodes={args.nodes}")
        state = json.loads((home / "podium" / "cluster.json").read_text())
        self._url = state["url"]
        config = yaml.safe_load((home / "config").read_text())
        (home / "config").write_text(yaml.safe_dump({**config, "current-context": "podium"}))
        self._scheduler = subprocess.Popen(
            [sys.executable, "-m", "podium", "scheduler", f"--kubeconfig={home / 'config'}",
             "--leader-elect=false", "--secure-port=0", f"--plain-http-port={PORT}", "--dashboard"],
            stdout=subprocess.PIPE, stderr=(home / "scheduler.log").open("w"), text=True,
            env=self._environment,
        )  # fmt: skip
        self._link = self._scheduler.stdout.readline().removeprefix("dashboard: ").strip()

    def _podium(self, *words):
        command = [sys.executable, "-m", "podium", *words]
        subprocess.run(command, env=self._environment, check=True, stdout=subprocess.DEVNULL)

    def run(self):
        self._call("POST", DEPLOYMENT, deployment())
        self._round()  # the first one is slower
        costs = {0: [], self._args.readers: []}
        for number in range(2 * self._args.rounds):
            # 0 3 3 0 0 3 3 0: a drift of the machine hits both alike.
            readers = self._args.readers if number % 4 in (1, 2) else 0
            whole, beside = self._round(readers)
            costs[readers].append((whole, beside))
            print(
                f"{readers} readers: {whole:.1f} us of CPU per pod, {beside:.1f} beside", flush=True
            )
        self._report(costs[0], costs[self._args.readers])

    def _report(self, without, with_readers):
        whole, more = (median(each for each, _ in costs) for costs in (without, with_readers))
        beside = [sum(each for _, each in costs) / len(costs) for costs in (without, with_readers)]
        readers = self._args.readers
        print(f"{self._args.nodes} nodes, {self._args.pods} pods: {whole:.1f} us of CPU per pod")
        print(f"with {readers} readers {more:.1f} us: {100 * (more / whole - 1):+.1f} %")
        cost = beside[1] - beside[0]
        print(
            f"threads beside: {beside[0]:.1f} and {beside[1]:.1f} us: {100 * cost / whole:+.1f} %"
        )

    def _round(self, readers=0):
        """Return the CPU of the scheduler per pod in us: of all threads, and beside its own."""
        reading = [self._reader() for _ in range(readers)]
        time.sleep(1)
        before, beside = self._cpu(), self._beside()
        self._scale(self._args.pods)
        self._wait(self._args.pods)
        spent = self._cpu() - before, self._beside() - beside
        for each in reading:
            each.kill()
            each.wait()
        self._scale(0)
        self._wait(0)
        time.sleep(2)
        return tuple(1e6 * each / self._args.pods for each in spent)

    def _reader(self):
        reader = subprocess.Popen(
            [sys.executable, "-c", READER, self._link], stdout=subprocess.PIPE, text=True
        )
        reader.stdout.readline()
        # Each link works once; the scheduler prints the next one.
        self._link = self._scheduler.stdout.readline().removeprefix("dashboard: ").strip()
        return reader

    def _scale(self, replicas):
        patch = {"spec": {"replicas": replicas}}
        kind = "application/merge-patch+json"
        self._call("PATCH", f"{DEPLOYMENT}/many", patch, kind)

    def _wait(self, placed):
        """Wait until the scheduler knows so many placed pods; each look costs it a little."""
        while self._placed() != placed:
            time.sleep(0.5)

    def _placed(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/metrics") as answer:
            for line in answer.read().decode().splitlines():
                if line.startswith('scheduler_cache_size{type="pods"}'):
                    return int(float(line.split()[-1]))
        return -1

    def _call(self, method, path, body=None, kind="application/json"):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": kind}
        request = urllib.request.Request(self._url + path, data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def _cpu(self):
        """Return the CPU seconds of all its threads so far."""
        # The clock of another process, as clock_getcpuclockid(3) returns it: /proc counts in 10 ms.
        return time.clock_gettime((~self._scheduler.pid << 3) | 2)

    def _beside(self):
        """Return the CPU seconds of its threads but the first, which schedules."""
        ticks = 0
        for task in Path(f"/proc/{self._scheduler.pid}/task").iterdir():
            fields = (task / "stat").read_text().rpartition(")")[2].split()
            if task.name != str(self._scheduler.pid):
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def end(self):
        self._scheduler.kill()
        self._scheduler.wait()
        self._podium("down")


def deployment():
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "10m"}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "many", "namespace": "default"},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "many"}},
            "template": {
                "metadata": {"labels": {"app": "many"}},
                "spec": {"containers": [container]},
            },
        },
    }


if __name__ == "__main__":
    main()
