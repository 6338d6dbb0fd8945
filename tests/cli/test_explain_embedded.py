"""`podium explain` and `podium serve` beside a scheduler that runs."""

import json
import re
import signal
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from podium.clock import LoopClock
from tests.support import dumps
from tests.support.commands import Shell

pytestmark = pytest.mark.slow

_PATIENCE_SECONDS = 30


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    made = Shell(tmp_path_factory.mktemp("up"))
    told = made.process("up", "--detach", "--nodes", "3")
    assert told.returncode == 0, told.stderr
    pods = (
        dumps.manifest("web"),
        dumps.manifest("huge", "100"),
        dumps.manifest("gated", schedulingGates=[{"name": "example.com/wait"}]),
    )
    made.out("apply", "-f", "-", stdin=yaml.safe_dump_all(pods))
    end = LoopClock().now() + _PATIENCE_SECONDS
    while "huge" not in made.out("explain", "queue") and LoopClock().now() < end:
        pass
    yield made
    made.run("down")


def explained(shell, *words):
    return json.loads(shell.run("explain", *words, "-o", "json").stdout)


def test_records_say_where_a_pod_is(shell):
    node = json.loads(shell.out("get", "pod", "web", "-o", "json"))["spec"]["nodeName"]
    found = explained(shell, "pod", "web", "--node", node)

    assert (found["source"]["kind"], found["source"]["recomputed"]) == ("scheduler", False)
    assert found["explanation"] is None
    (attempt,) = found["records"]["attempts"]
    assert attempt["onNode"]["verdict"] == "chosen"
    assert attempt["best"][0]["node"] == node
    assert shell.out("explain", "pod", "web").startswith(f"default/web is on {node}: ")


def test_a_pending_pod_is_worked_out_again(shell):
    found = explained(shell, "pod", "huge")

    assert (found["source"]["kind"], found["source"]["recomputed"]) == ("scheduler", True)
    assert found["source"]["notes"] == []  # the scheduler's own configuration was used
    assert found["explanation"]["message"] in found["records"]["attempts"][-1]["message"]
    assert found["records"]["queued"]["rejectedBy"] == ["NodeResourcesFit"]
    text = shell.run("explain", "pod", "huge")
    assert "Queue:\n  unschedulable since " in text.stdout
    assert text.returncode == 1


def test_a_gated_pod(shell):
    found = explained(shell, "pod", "gated")

    assert found["explanation"]["state"] == "gated"
    assert found["records"]["queued"]["gatedBy"] == "SchedulingGates"


def test_attempts(shell):
    assert "Attempt 1 at " in shell.out("explain", "pod", "web", "--attempt", "1")
    done = shell.run("explain", "pod", "web", "--attempt", "9")
    assert done.stderr == "podium: no record of attempt 9 of default/web; remembered: 1\n"


def test_names_that_do_not_exist(shell):
    pod, node = shell.run("explain", "pod", "hug"), shell.run("explain", "node", "node-9")

    assert pod.stderr == 'podium: no pod default/hug; did you mean "huge"?\n'
    assert node.stderr.startswith("podium: no node node-9; did you mean ")
    assert (pod.returncode, node.returncode) == (2, 2)


def test_a_scheduler_of_another_cluster_is_not_asked(shell, tmp_path):
    address = json.loads(shell.state.read_text())["scheduler"]
    other = tmp_path / "config"
    config = yaml.safe_load(shell.kubeconfig.read_text())
    config["clusters"][0]["cluster"]["server"] = "http://127.0.0.1:9"
    other.write_text(yaml.safe_dump(config))
    done = shell.run("explain", "queue", "--server", address, "--kubeconfig", str(other))

    assert "not for http://127.0.0.1:9; leave --server out" in done.stderr


def test_watching(shell):
    process = shell.start("explain", "queue", "--watch", "-o", "json")
    try:
        first = json.loads(process.line())
        pods = {each["pod"] for each in first["records"]["pods"]}
        shell.out("apply", "-f", "-", stdin=yaml.safe_dump(dumps.manifest("late", "100")))
        while "default/late" not in pods:
            later = json.loads(process.line())
            pods = {each["pod"] for each in later["records"]["pods"]}
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        process.end()
    assert process.returncode == 130


def test_serve_sees_changes(shell):
    process = shell.start("serve", "--port", "0")
    try:
        url = re.search(r"http://\S+:\d+", process.line())[0]
        path = Path(re.search(r"in (\S+),", process.line())[1])
        assert path.stat().st_mode & 0o777 == 0o600
        token = path.read_text().strip()
        fit = {"pod": dumps.manifest("other", "100")}
        assert ask(url, token, "/v1/fit", fit)["fits"] is False
        giant = dumps.node("giant", "1000")  # for the pods that wait, too
        del giant["metadata"]["uid"]
        shell.out("apply", "-f", "-", stdin=yaml.safe_dump(giant))
        end = LoopClock().now() + _PATIENCE_SECONDS
        while not (found := ask(url, token, "/v1/fit", fit))["fits"] and LoopClock().now() < end:
            pass
        assert [each["node"] for each in found["nodes"]] == ["giant"]
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    assert errors.startswith("note: the profiles are those of the scheduler at http://127.0.0.1:")
    assert not path.exists()


def ask(url, token, path, body):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
        return json.loads(answer.read())
