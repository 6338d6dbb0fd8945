"""The command on a cluster, with its processes: what it prints, and what it leaves behind."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from podium.bench.result import LiveResult
from podium.cli import main
from tests.support.bench_cluster import embedded_side, standing
from tests.support.control_plane.plane import write_kubeconfig

WORKLOADS = """
- name: Case
  workloadTemplate:
  - {opcode: createNodes, countParam: $nodes}
  - {opcode: createPods, countParam: $pods, namespaceParam: $namespace, collectMetrics: true}
  workloads:
  - {name: Small, params: {nodes: 3, pods: 20, namespace: shop}}
  - {name: Taken, params: {nodes: 3, pods: 20, namespace: default}}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "case.yaml"
    path.write_text(WORKLOADS)
    return str(path)


@pytest.fixture
def side(tmp_path):
    with embedded_side(tmp_path) as side:
        yield side


@pytest.mark.slow
def test_embedded_tells_all_figures(file, capsys):
    status = main(["bench", "--embedded", file, "--workload", "*/Small", "-o", "json"])

    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (status, err) == (0, "")
    assert set(found) == set(LiveResult.__struct_fields__)
    assert (found["name"], found["nodes"], found["pods"]) == ("Case/Small", 3, 20)
    assert found["pods_per_second"] > 0
    assert found["bind_p99_ms"] >= found["bind_p50_ms"] > 0
    assert found["peak_memory_bytes"] > 1_000_000


@pytest.mark.slow
def test_a_cluster_is_left_as_it_was(file, side, capsys):
    before = standing(side)
    at = ["--kubeconfig", str(side.kubeconfig), file]

    status = main(["bench", *at])

    out, err = capsys.readouterr()
    assert status == 1
    assert [line.split()[0] for line in out.splitlines()] == ["workload", "Case/Small"]
    assert "podium: the cluster already has 1 nodes" in err
    assert "podium: Case/Taken: the cluster already has a Namespace default" in err
    assert standing(side) == before


@pytest.mark.slow
def test_ctrl_c_leaves_nothing_behind(file, side):
    before = standing(side)
    command = [sys.executable, "-m", "podium", "bench", "--kubeconfig", str(side.kubeconfig), file]

    with subprocess.Popen([*command, "--workload", "*/Small"], stdout=subprocess.PIPE) as process:
        try:
            side.wait_for("/api/v1/pods", is_in_shop)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        finally:
            process.kill()

    assert process.returncode == 130
    assert standing(side) == before


def is_in_shop(pod):
    return pod["metadata"]["namespace"] == "shop"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        pytest.param(
            ["--scheduler", "external"],
            2,
            "podium: --scheduler external needs the --kubeconfig of its cluster",
            id="external-without-cluster",
        ),
        pytest.param(
            ["--embedded", "--scheduler-pid", "7"],
            2,
            "podium: --scheduler-pid is for --scheduler external",
            id="pid-of-our-own",
        ),
        pytest.param(["--kubeconfig", "{missing}"], 1, "{missing}", id="no-kubeconfig"),
        pytest.param(
            ["--kubeconfig", "{unreachable}"],
            1,
            "is it running, and is the address right?",
            id="nobody",
        ),
    ],
)
def test_bad_input(arguments, status, said, file, capsys):
    folder = Path(file).parent
    unreachable = write_kubeconfig(folder / "unreachable", {"server": "http://127.0.0.1:1"}, {})
    paths = {"missing": str(folder / "missing"), "unreachable": str(unreachable)}
    arguments = [argument.format(**paths) for argument in arguments]

    assert main(["bench", file, "--workload", "*/Small", *arguments]) == status
    assert said.format(**paths) in capsys.readouterr().err


@pytest.mark.parametrize("timeout", ["0s", "-1s", "soon"])
def test_bad_timeouts(file, timeout, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["bench", "--embedded", file, f"--timeout={timeout}"])

    assert stopped.value.code == 2


def test_no_file_is_bad_input(capsys):
    assert main(["bench", "--embedded"]) == 2
    assert "name a file of workloads" in capsys.readouterr().err
