"""The examples run as they stand, and say what they promise."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SAID = {
    "schedule_a_pod.py": (
        "default/web goes to big\n"
        "default/batch waits: 0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes"
        " are available: 2 Preemption is not helpful for scheduling.\n"
    ),
    "emptiest_rack.py": "3 pods on the left rack, 3 on the right\n",
    "why_pending.py": (
        "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 Insufficient cpu."
        " preemption: 0/4 nodes are available: 1 No preemption victims found for"
        " incoming pod, 3 Preemption is not helpful for scheduling.\n"
        "    3 x Insufficient cpu (NodeResourcesFit)\n"
        "    1 x node(s) had untolerated taint(s) (TaintToleration)\n"
    ),
    "extender_in_process.py": (
        "a right\nb right\nc left\nd right\ne 0/3 nodes are available: 3 no licence\n"
    ),
}


def test_every_example_is_here():
    assert {path.name for path in EXAMPLES.glob("*.py")} == SAID.keys()


@pytest.mark.parametrize("name", SAID)
def test_example(name, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", [name])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")

    assert capsys.readouterr().out == SAID[name]
