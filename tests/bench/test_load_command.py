"""The command with other loads and other schedulers: what it prints, and what it leaves behind."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from podium.cli import main
from tests.support.bench_cluster import embedded_side, standing
from tests.support.fake_schedulers import fake_scheduler

pytestmark = pytest.mark.slow

WORKLOADS = """
- name: Case
  workloadTemplate:
  - {opcode: createNodes, count: 3}
  - {opcode: createPods, count: 5, namespace: before}
  - {opcode: createPods, count: 20, namespace: shop, collectMetrics: true}
  workloads: [{name: Small}]
- name: Refused
  defaultPodTemplatePath: pod.yaml
  workloadTemplate:
  - {opcode: createPods, count: 20, namespace: shop, collectMetrics: true}
  workloads: [{name: Small}]
"""
REFUSED = "{kind: Pod, metadata: {labels: {a: '?'}}, spec: {containers: [{name: c, image: i}]}}"


@pytest.fixture
def file(tmp_path):
    (tmp_path / "pod.yaml").write_text(REFUSED)
    path = tmp_path / "case.yaml"
    path.write_text(WORKLOADS)
    return str(path)


@pytest.fixture
def side(tmp_path):
    with embedded_side(tmp_path) as side:
        yield side


def bench(*arguments):
    return main(["bench", "--workload", "Case/*", *map(str, arguments)])


def test_a_drain_is_timed_from_when_the_scheduler_begins(file, side, capsys):
    before = standing(side)

    status = bench("--kubeconfig", side.kubeconfig, "--drain", "-o", "json", file)

    found = json.loads(capsys.readouterr().out)
    assert status == 0
    assert found["pods"] == 20
    assert found["pods_per_second"] > 0
    # All wait from the same moment on, so the last pod waits for the whole of the drain.
    assert found["bind_p99_ms"] <= 1_000 * 20 / found["pods_per_second"] + 1
    assert standing(side) == before


@pytest.mark.parametrize(
    ("op", "said"),
    [
        (
            "{opcode: startCollectingMetrics, name: all, namespaces: [shop]}",
            "--drain is for pods with collectMetrics, not startCollectingMetrics",
        ),
        (
            "{opcode: createPods, count: 2, steadyState: true, duration: 1s, collectMetrics: true}",
            "--drain: createPods with steadyState has no backlog",
        ),
        pytest.param(
            "{opcode: createPodSets, count: 1, namespacePrefix: team, createPodsOp: {opcode:"
            " createPods, count: 2, steadyState: true, duration: 1s, collectMetrics: true}}",
            "--drain: createPods with steadyState has no backlog",
            id="in-a-set",
        ),
    ],
)
def test_a_workload_without_a_backlog_is_no_drain(op, said, tmp_path, capsys):
    file = tmp_path / "case.yaml"
    ends = "{opcode: stopCollectingMetrics}" if "start" in op else "{opcode: barrier}"
    file.write_text(f"[{{name: Case, workloadTemplate: [{op}, {ends}], workloads: [{{name: A}}]}}]")

    assert bench("--embedded", "--drain", file) == 1
    assert f"podium: Case/A: {said}" in capsys.readouterr().err


def test_several_processes_create_the_same_pods(file, side, capsys):
    before = standing(side)

    status = bench("--kubeconfig", side.kubeconfig, "--generators", 3, "-o", "json", file)

    found = json.loads(capsys.readouterr().out)
    assert (status, found["pods"]) == (0, 20)
    assert found["created_pods_per_second"] > 0
    assert standing(side) == before


def test_a_generator_that_fails_says_why(file, side, capsys):
    before = standing(side)
    at = ["bench", "--kubeconfig", str(side.kubeconfig), "--generators", "2", file]

    status = main([*at, "--workload", "*"])

    out, err = capsys.readouterr()
    assert status == 1
    assert [line.split()[0] for line in out.splitlines()] == ["workload", "Case/Small"]
    assert "podium: Refused/Small: load generator" in err
    assert "ended with status 1:" in err
    assert "metadata.labels: Invalid value" in err
    assert standing(side) == before


def test_schedulers_are_compared(file, side, tmp_path, capsys):
    before = standing(side)
    other = f"mine={fake_scheduler(tmp_path, 'binds')}"
    at = ("--kubeconfig", side.kubeconfig, "--compare", other, "--runs", 2)
    plot = tmp_path / "plot.svg"

    status = bench(*at, "-o", "json", "--plot", plot, file)

    found = json.loads(capsys.readouterr().out)
    assert (status, found["name"]) == (0, "Case/Small")
    assert [one["scheduler"] for one in found["schedulers"]] == ["podium", "mine"]
    assert all([run["pods"] for run in one["runs"]] == [20, 20] for one in found["schedulers"])
    assert all(one["pods_per_second_ratio"] > 0 for one in found["schedulers"])
    assert ">3 nodes, 20 measured pods, which one process creates meanwhile<" in plot.read_text()
    assert standing(side) == before


BAD = {
    "created": (
        [],
        {
            "dies": "dies ended with status 1:\n  no licence found",
            "hangs": "1 pod found no node, and for 15 s none has:\n  1: no scheduler has",
            "nothing": "cannot start nothing: ",
        },
    ),
    "drain": (
        ["--drain"],
        {
            "dies-when-held": "dies-when-held ended with status 1:\n  no lease today",
            "hangs-when-held": "the scheduler did not acquire its Lease within 15 s",
        },
    ),
}


@pytest.mark.parametrize(("flags", "expected"), BAD.values(), ids=list(BAD))
def test_schedulers_that_are_no_good_stop_no_other(flags, expected, file, side, capsys):
    before, folder = standing(side), side.kubeconfig.parent
    others = [f"--compare={kind}={fake_scheduler(folder, kind)}" for kind in expected]
    others.append("--compare=bind-loop")
    at = ["--kubeconfig", side.kubeconfig, "--timeout", "15s", *flags]

    status = bench(*at, *others, "-o", "json", file)

    out, err = capsys.readouterr()
    podium, *bad, loop = json.loads(out)["schedulers"]
    assert status == 1
    assert podium["median"]["pods"] == loop["median"]["pods"] == 20
    for one, (kind, said) in zip(bad, expected.items(), strict=True):
        assert one["median"] is one["pods_per_second_ratio"] is None
        assert one["error"].startswith(said)
        assert f"podium: Case/Small: {kind}: {said}" in err
    assert standing(side) == before


def test_ctrl_c_ends_generators_and_schedulers(file, side, tmp_path):
    before = standing(side)
    other = f"other={fake_scheduler(tmp_path, 'hangs-when-held')}"
    command = [sys.executable, "-m", "podium", "bench", "--kubeconfig", str(side.kubeconfig)]
    command += ["--compare", other, "--drain", "--generators", "2", "--workload", "Case/*"]

    environment = {**os.environ, "TMPDIR": str(tmp_path)}  # so that commands of children name it

    with subprocess.Popen([*command, file], stdout=subprocess.PIPE, env=environment) as process:
        try:
            side.wait_for("/api/v1/pods", lambda pod: is_in(pod, "shop"))
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        finally:
            process.kill()

    assert process.returncode == 130
    assert standing(side) == before
    assert not running_with(tmp_path)


def running_with(path):
    """The commands of all processes that name this path."""
    commands = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended meanwhile
            commands.append(file.read_bytes())
    return [command for command in commands if bytes(path) in command]


def is_in(pod, namespace):
    return pod["metadata"]["namespace"] == namespace


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--drain"], "--drain needs a cluster: --embedded or --kubeconfig"),
        (["--generators", "2"], "--generators needs a cluster"),
        (["--compare", "bind-loop"], "--compare needs a cluster"),
        (["--embedded", "--plot", "a.svg"], "--plot draws a comparison"),
        (
            ["--embedded", "--compare", "bind-loop", "--plot", "missing/a.svg"],
            "--plot: there is no folder missing",
        ),
        (["--embedded", "--compare", "x=missing"], "--compare x=missing: missing does not exist"),
        (
            ["--kubeconfig", "k", "--scheduler", "external", "--drain"],
            "--drain starts schedulers itself: omit --scheduler external",
        ),
    ],
)
def test_options_that_do_not_go_together(arguments, said, file, capsys):
    assert bench(*arguments, file) == 2
    assert f"podium: {said}" in capsys.readouterr().err
