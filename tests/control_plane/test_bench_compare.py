"""`podium bench --compare` with a stock kube-scheduler, on a real control plane."""

import json

import pytest

from podium.cli import main
from tests.support.bench_cluster import standing

pytestmark = pytest.mark.cluster

WORKLOADS = """
- name: Case
  workloadTemplate:
  - {opcode: createNodes, count: 10}
  - {opcode: createPods, count: 20, namespace: before}
  - {opcode: createPods, count: 100, namespace: shop, collectMetrics: true}
  workloads: [{name: Small}]
"""


@pytest.mark.parametrize("flags", [["--drain"], ["--generators", "2"]], ids=["drain", "generators"])
def test_kube_scheduler_podium_and_a_loop_in_turns(binaries, theirs, flags, tmp_path, capsys):
    before = standing(theirs)
    file, plot = tmp_path / "case.yaml", tmp_path / "plot.svg"
    file.write_text(WORKLOADS)
    others = [f"--compare=kube-scheduler={binaries['kube-scheduler']}", "--compare=bind-loop"]
    at = ["bench", "--kubeconfig", str(theirs.kubeconfig), str(file)]

    status = main([*at, *others, *flags, "-o", "json", f"--plot={plot}"])

    out, err = capsys.readouterr()
    found = {one["scheduler"]: one for one in json.loads(out)["schedulers"]}
    assert (status, err) == (0, "")
    assert list(found) == ["podium", "kube-scheduler", "bind-loop"]
    assert all(one["median"]["pods"] == 100 for one in found.values())
    assert all(one["pods_per_second_ratio"] > 0 for one in found.values())
    assert "kube-scheduler" in plot.read_text()
    assert standing(theirs) == before
