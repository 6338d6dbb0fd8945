"""`podium scheduler` as processes of their own, on an embedded cluster without a scheduler."""

import hashlib
import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
import yaml

from podium.cli import main
from tests.support.control_plane.processes import Scheduler, free_port

pytestmark = pytest.mark.slow


class Cluster:
    """An embedded cluster, and the schedulers that a test starts on it."""

    def __init__(self, home):
        self._home = home
        self.kubeconfig, self.state = home / "config", home / "cluster.json"
        self._schedulers = []

    def up(self):
        files = [f"--kubeconfig={self.kubeconfig}", f"--state-file={self.state}"]
        up = [sys.executable, "-m", "podium", "up", "--detach", "--nodes=3", "--no-scheduler"]
        subprocess.run([*up, *files], check=True, stdout=subprocess.DEVNULL)
        config = yaml.safe_load(self.kubeconfig.read_text())
        self.kubeconfig.write_text(yaml.safe_dump({**config, "current-context": "podium"}))
        self.url = json.loads(self.state.read_text())["url"]

    def down(self):
        for process in self._schedulers:
            process.kill()
        main(["down", f"--state-file={self.state}"])

    def scheduler(self, *flags):
        command = [sys.executable, "-m", "podium", "scheduler", "--secure-port=0"]
        log = self._home / f"scheduler-{len(self._schedulers)}.log"
        process = Scheduler(
            [*command, f"--kubeconfig={self.kubeconfig}", "--logging-format=text", *flags], log
        )
        self._schedulers.append(process)
        return process

    def create(self, *names):
        for name in names:
            pod = {"metadata": {"name": name}, "spec": {"containers": [{"name": "c"}]}}
            pod["spec"]["containers"][0]["image"] = "app:1"
            request = urllib.request.Request(
                f"{self.url}/api/v1/namespaces/default/pods",
                json.dumps(pod).encode(),
                {"Content-Type": "application/json"},
            )
            urllib.request.urlopen(request, timeout=30).close()

    def bindings(self, count):
        """The nodes that pods are seen on, by pod, until so many pods have one."""
        seen = {}
        with urllib.request.urlopen(f"{self.url}/api/v1/pods?watch=true", timeout=60) as events:
            while len(seen) < count:
                pod = json.loads(events.readline())["object"]
                if node := pod["spec"].get("nodeName"):
                    seen.setdefault(pod["metadata"]["name"], set()).add(node)
        return seen


@pytest.fixture
def cluster(tmp_path):
    made = Cluster(tmp_path)
    made.up()
    yield made
    made.down()


def test_a_leader_that_is_asked_to_end_releases_its_lease(cluster):
    leader = cluster.scheduler("--leader-elect-lease-duration=60s")
    leader.until_said("Successfully acquired lease")
    cluster.create("web")
    cluster.bindings(1)
    leader.signal(signal.SIGTERM)
    assert leader.ended() == 0

    # Without the release the next one would wait for a minute.
    after = cluster.scheduler("--leader-elect-lease-duration=60s")
    after.until_said("Successfully acquired lease")


NEVER_READY = """
import asyncio
import sys

from podium import framework as fwk


class NeverReady(fwk.PreBindPlugin):
    name = "NeverReady"

    async def pre_bind(self, state, pod, node_name):
        print("now", pod.name, "waits", file=sys.stderr, flush=True)
        await asyncio.Event().wait()
"""


def test_a_second_signal_ends_it_at_once(cluster, tmp_path):
    plugin = tmp_path / "never_ready.py"
    plugin.write_text(NEVER_READY)
    leader = cluster.scheduler(f"--plugin={plugin}")
    cluster.create("web")
    leader.until_said("now web waits")
    leader.signal(signal.SIGTERM)
    leader.signal(signal.SIGINT)
    assert leader.ended() == 1  # with one of them it would drain, release and end with 0

    assert "bindings that were still under way" not in leader.said


def test_without_election_it_ends_as_upstream_does(cluster):
    alone = cluster.scheduler("--leader-elect=false", "-v=3")
    cluster.create("web")
    alone.until_said("Attempting to schedule pod pod='default/web'")
    alone.until_said("Successfully bound pod to node pod='default/web'")
    alone.signal(signal.SIGUSR2)
    alone.until_said("Dump of scheduling queue summary='activeQ:0; backoffQ:0;")
    alone.signal(signal.SIGINT)
    assert alone.ended() == 1


def test_other_features_a_log_for_programs_and_what_it_shows_of_itself(cluster):
    gates = (
        "AllBeta=false,SchedulerAsyncAPICalls=true,LoggingBetaOptions=true,"
        "StorageCapacityScoring=true,TaintTolerationComparisonOperators=true"
    )
    port = free_port()
    serving = ("--emulated-version=1.36", "--leader-elect=false", f"--plain-http-port={port}")
    alone = cluster.scheduler(f"--feature-gates={gates}", "--logging-format=json", *serving)
    cluster.create("web", "db")
    alone.until_said("Serving without")
    line = json.loads(next(line for line in alone.said.splitlines() if "Serving wit" in line))
    said = f"Serving without TLS and authentication on 127.0.0.1:{port}"
    assert (line["msg"], line["v"]) == (said, 0)
    assert cluster.bindings(2).keys() == {"web", "db"}

    with urllib.request.urlopen(f"http://127.0.0.1:{port}/configz", timeout=30) as answer:
        shown = json.load(answer)["componentconfig"]
    assert shown["clientConnection"]["kubeconfig"] == str(cluster.kubeconfig)
    assert shown["leaderElection"]["leaderElect"] is False
    [profile] = shown["profiles"]
    assert len(profile["plugins"]["multiPoint"]["enabled"]) == 19


def test_the_dashboard_is_off_unless_it_is_asked_for_and_top_shows_the_same(cluster, capsys):
    ports = free_port(), free_port()
    for port, flags in zip(ports, ((), ("--dashboard",)), strict=True):
        alone = cluster.scheduler("--leader-elect=false", f"--plain-http-port={port}", *flags)
        alone.until_said("Serving without TLS")

    assert status_of(f"http://127.0.0.1:{ports[0]}/dashboard/") == 404
    assert status_of(f"http://127.0.0.1:{ports[1]}/dashboard/") == 401

    alone.until_said("dashboard: http")
    link = re.search(r"dashboard: (\S+)", alone.said)[1]
    assert main(["top", "--server", link, "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["overview"]["nodes"] == 3
    assert main(["top", "--server", link]) == 1  # it was used
    assert "a link works once" in capsys.readouterr().err
    assert main(["top", "--server", f"http://127.0.0.1:{ports[0]}/dashboard/?token=x"]) == 1
    assert "start the scheduler with --dashboard" in capsys.readouterr().err


def status_of(url):
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        pytest.param(["--kubeconfig=nowhere"], "nowhere", id="no-kubeconfig"),
        pytest.param(["--master=http://127.0.0.1:9", "--config=nowhere"], "nowhere", id="no-file"),
        pytest.param(["--master=http://127.0.0.1:9", "--watch-config"], "no file to", id="watch"),
        pytest.param(
            ["--master=http://127.0.0.1:9", "--bind-address=192.0.2.1"], "192.0.2.1", id="address"
        ),
        pytest.param(["--leader-elect=maybe"], "must be true or false", id="boolean"),
        pytest.param(["--leader-elect-retry-period=2"], "missing unit", id="duration"),
        pytest.param(
            ["--master=http://127.0.0.1:9", "--leader-elect-lease-duration=1s"],
            "leaseDuration",
            id="lease",
        ),
    ],
)
def test_what_is_wrong_is_told(flags, told, capsys):
    try:
        status = main(["scheduler", *flags])
    except SystemExit as ended:
        status = ended.code

    assert status == 2
    assert told in capsys.readouterr().err


def test_a_changed_configuration_is_used_without_a_restart(cluster, tmp_path):
    file = tmp_path / "scheduler.yaml"
    head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    off = "leaderElection: {leaderElect: false}\n"
    file.write_text(head + off)
    port = free_port()
    flags = (f"--config={file}", "--watch-config", f"--plain-http-port={port}")
    alone = cluster.scheduler(*flags)
    alone.until_said("Serving without")
    file.write_text(head + "parallelism: 0")
    alone.until_said("configuration not reloaded")
    file.write_text(head + off + "podMaxBackoffSeconds: 77")
    alone.until_said("configuration reloaded")

    def ask(path):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
            return answer.read().decode()

    shown = json.loads(ask("/configz"))
    assert shown["componentconfig"]["podMaxBackoffSeconds"] == 77
    assert shown["file"]["hash"] == f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"
    assert 'podium_config_reloads_total{result="failure"} 1.0' in ask("/metrics")
    assert 'podium_config_reloads_total{result="success"} 1.0' in ask("/metrics")
    with urllib.request.urlopen(f"{cluster.url}/api/v1/events?watch=true", timeout=60) as events:
        about = {"ConfigReloaded", "ConfigReloadFailed"}
        while about:
            about.discard(json.loads(events.readline())["object"]["reason"])
