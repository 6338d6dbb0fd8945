"""The workloads in ``benchmarks/``: all are there, and each measures something."""

from pathlib import Path

import pytest

from podium.bench.load import load_file

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"

CASES = (
    "Basic",
    "Distinct",
    "HardSpread",
    "SoftSpread",
    "DefaultSpread",
    "RequiredAffinity",
    "RequiredAntiAffinity",
    "PreferredAffinity",
    "PreferredAntiAffinity",
    "NamespaceSelectorAntiAffinity",
    "Unschedulable",
    "Preemption",
    "NodeAffinity",
    "DaemonSet",
    "Secrets",
    "InTreePV",
    "CSIPV",
    "Gated",
    "Mixed",
    "Devices",
    "ExtendedDevices",
)


def test_our_benchmarks_cover_every_case_at_every_size():
    names = {w.name for path in BENCHMARKS.glob("*.yaml") for w in load_file(path)}

    sizes = ("500Nodes", "5000Nodes", "50000Nodes")
    assert names >= {f"{case}/{size}" for case in CASES for size in sizes}


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("*.yaml")), ids=lambda path: path.stem)
def test_our_benchmarks_measure_something(path):
    for workload in load_file(path):
        assert any(getattr(op, "collect_metrics", False) for op in workload.ops)
